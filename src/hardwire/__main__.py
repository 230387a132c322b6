"""The program `hardwire`, also as `python -m hardwire`; where it is not installed, one line says how."""

import sys

from hardwire.errors import missing_package


def main() -> None:
    """Runs the command line; `--version` is answered by the base install too."""
    if sys.argv[1:] == ["--version"]:
        from hardwire.build import version_text

        print(version_text())
        return
    try:
        from hardwire.cli import main as run
    except ModuleNotFoundError as error:
        print(f"error: {missing_package(error, 'the command line')}", file=sys.stderr)
        sys.exit(2)
    run()


if __name__ == "__main__":
    main()
