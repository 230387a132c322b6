"""`hardwire info`: what is installed and the machine it runs on."""

from typing import Any

from hardwire.cli.output import Json, Output


def info(json: Json = False) -> None:
    """Show versions, engines, cores and the data folder; paste it into a bug report.

    Example:

    ```
    hardwire info
    ```
    """
    from rich.table import Table

    output, facts = Output(json), installed()
    if not json:
        table = Table(show_header=False, box=None)
        for name, value in _described(facts).items():
            table.add_row(f"[bold]{name}", value)
        output.console.print(table)
    output.document(facts)


def installed() -> dict[str, Any]:
    """What is installed, as plain values; None for what is not."""
    import os
    import platform

    import hardwire

    return {
        "hardwire": hardwire.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "torch": _version("torch"),
        "numpy": _version("numpy"),
        "native": _instruction_set(),
        "cores": os.cpu_count(),
        **(_training() if _version("torch") else {"engines": [], "threads": None, "data_folder": None}),
    }


def _training() -> dict[str, Any]:
    """What only an installation for training has."""
    import torch

    from hardwire.data.store import data_folder
    from hardwire.engine import ENGINES

    return {"engines": list(ENGINES), "threads": torch.get_num_threads(), "data_folder": str(data_folder())}


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _instruction_set() -> str | None:
    from hardwire.build import native

    return None if native is None else str(native.instruction_set())


def _described(facts: dict[str, Any]) -> dict[str, str]:
    """The same in words."""
    from hardwire.build import why_no_native

    native, missing = (
        facts["native"],
        "not installed; only training needs it: pip install 'hardwire[train]'",
    )
    lines = {
        "hardwire": facts["hardwire"],
        "torch": facts["torch"] or missing,
        "numpy": facts["numpy"],
        "python": f"{facts['python']} on {facts['system']}",
        "native module": f"yes, {native}" if native else f"no: {why_no_native()}",
        "cores": str(facts["cores"]),
    }
    if facts["torch"]:
        lines["engines"] = f"{', '.join(facts['engines'])}; auto chooses {'native' if native else 'reference'}"
        lines["cores"] += f"; {facts['threads']} used by torch"
        lines["data folder"] = f"{facts['data_folder']} (set HARDWIRE_DATA to use another)"
    return lines
