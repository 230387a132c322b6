"""`hardwire info`: what is installed and what it runs on; the first thing to paste into a bug report."""

from typing import Annotated, Any

import typer


def info(json: Annotated[bool, typer.Option("--json", help="As JSON, for other programs.")] = False) -> None:
    """Versions, engines, cores and the data folder."""
    if json:
        from json import dumps

        typer.echo(dumps(installed(), indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False, box=None)
    for name, value in _told(installed()).items():
        table.add_row(f"[bold]{name}", value)
    Console(highlight=False).print(table)


def installed() -> dict[str, Any]:
    """What there is, as plain values."""
    import os
    import platform
    from importlib.metadata import version

    import torch

    import hardwire
    from hardwire.data.store import data_folder
    from hardwire.engine import ENGINES, native

    built = native.available()
    return {
        "hardwire": hardwire.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "torch": torch.__version__,
        "numpy": version("numpy"),
        "engines": list(ENGINES),
        "native": native.instruction_set() if built else None,
        "cores": os.cpu_count(),
        "threads": torch.get_num_threads(),
        "data_folder": str(data_folder()),
    }


def _told(there: dict[str, Any]) -> dict[str, str]:
    """The same as a person reads it."""
    native = there["native"]
    return {
        **{name: there[name] for name in ("hardwire", "torch", "numpy")},
        "python": f"{there['python']} on {there['system']}",
        "engines": f"{', '.join(there['engines'])}; auto takes {'native' if native else 'reference'}",
        "native module": f"yes, {native}" if native else "no: reinstall with a C++ compiler for speed",
        "cores": f"{there['cores']}, of which {there['threads']} are used",
        "data folder": f"{there['data_folder']} (HARDWIRE_DATA sets another)",
    }
