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
    """What there is, as plain values; None for what is not installed."""
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
    """What only training has."""
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
    try:
        from hardwire import _native
    except ImportError:
        return None
    return str(_native.instruction_set())


def _told(there: dict[str, Any]) -> dict[str, str]:
    """The same as a person reads it."""
    native, missing = there["native"], "not installed: circuits run, training needs pip install 'hardwire[train]'"
    told = {
        "hardwire": there["hardwire"],
        "torch": there["torch"] or missing,
        "numpy": there["numpy"],
        "python": f"{there['python']} on {there['system']}",
        "native module": f"yes, {native}" if native else "no: reinstall with a C++ compiler for speed",
        "cores": str(there["cores"]),
    }
    if there["torch"]:
        told["engines"] = f"{', '.join(there['engines'])}; auto takes {'native' if native else 'reference'}"
        told["cores"] += f", of which {there['threads']} are used"
        told["data folder"] = f"{there['data_folder']} (HARDWIRE_DATA sets another)"
    return told
