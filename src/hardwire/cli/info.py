"""`hardwire info`: what is installed and what it runs on; the first thing to paste into a bug report."""


def info() -> None:
    """Versions, engines, cores and the data folder."""
    import os
    import platform
    from importlib.metadata import version

    import torch
    from rich.console import Console
    from rich.table import Table

    import hardwire
    from hardwire.data.store import data_folder
    from hardwire.engine import ENGINES, native

    built = native.available()
    rows = {
        "hardwire": hardwire.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "torch": torch.__version__,
        "numpy": version("numpy"),
        "engines": f"{', '.join(ENGINES)}; auto takes {'native' if built else 'reference'}",
        "native module": f"yes, {native.instruction_set()}" if built else "no: reinstall with a C++ compiler for speed",
        "cores": f"{os.cpu_count()}, of which {torch.get_num_threads()} are used",
        "data folder": f"{data_folder()} (HARDWIRE_DATA sets another)",
    }
    table = Table(show_header=False, box=None)
    for name, value in rows.items():
        table.add_row(f"[bold]{name}", value)
    Console(highlight=False).print(table)
