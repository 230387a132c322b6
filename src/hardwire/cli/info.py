"""`hardwire info`: what is installed and what it runs on; the first thing to paste into a bug report."""


def info():
    """Versions, engines, cores and the data folder."""
    import importlib.util
    import os
    import platform
    from importlib.metadata import version

    import torch
    from rich.console import Console
    from rich.table import Table

    import hardwire
    from hardwire import engine
    from hardwire.data.store import data_folder

    native = importlib.util.find_spec("hardwire._native")
    rows = {
        "hardwire": hardwire.__version__,
        "python": f"{platform.python_version()} on {platform.system()} {platform.machine()}",
        "torch": torch.__version__,
        "numpy": version("numpy"),
        "engines": f"{', '.join(engine.ENGINES)} (auto prefers {engine.ENGINES[0]})",
        "native module": "yes" if native else "no: reinstall with a C++ compiler for speed",
        "cores": f"{os.cpu_count()}, of which torch uses {torch.get_num_threads()}",
        "data folder": f"{data_folder()} (HARDWIRE_DATA sets another)",
    }
    table = Table(show_header=False, box=None)
    for name, value in rows.items():
        table.add_row(f"[bold]{name}", value)
    Console().print(table)
