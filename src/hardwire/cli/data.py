"""`hardwire data`: what datasets there are, and fetching them ahead of time."""

from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from hardwire.data.store import Collection

app = typer.Typer(help="Datasets: list them, fetch their files.", no_args_is_help=True)


@app.command("list")
def list_datasets() -> None:
    """The datasets by name, and whether their files are in the data folder."""
    from rich.console import Console
    from rich.table import Table

    from hardwire.data.catalog import ENTRIES
    from hardwire.data.store import data_folder

    # two tables, because one of all columns does not fit a terminal of 80
    table = Table(box=None, header_style="bold")
    table.add_column("name", no_wrap=True)
    for header in ("inputs", "classes", "train", "test"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("in the folder", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    descriptions = Table(box=None, show_header=False)
    for name, entry in ENTRIES.items():
        numbers = (entry.inputs, entry.classes, entry.rows.get("train"), entry.rows.get("test"))
        shown = ("?" if number is None else f"{number:,}" for number in numbers)
        table.add_row(name, *shown, *_files(entry.collection))
        descriptions.add_row(name, entry.description)
    console = Console(highlight=False)
    console.print(table, "", descriptions, sep="\n")
    console.print(f"\ndata folder: {data_folder()} (HARDWIRE_DATA sets another)", soft_wrap=True)


@app.command("get")
def get(
    name: str = typer.Argument(help="A dataset by name, or all."),
    repair: bool = typer.Option(False, "--repair", help="Fetch again the files whose checksum is wrong."),
) -> None:
    """Fetch the files of a dataset where they are missing, and compare their checksums."""
    from hardwire import data
    from hardwire.errors import HardwireError

    failures = []
    for wanted in data.names() if name == "all" else [name]:
        try:
            folder = data.fetch(wanted, repair=repair)
        except HardwireError as error:
            failures.append(str(error))
        else:
            typer.echo(f"{wanted}: {'nothing to fetch' if folder is None else f'verified in {folder}'}")
    if failures:
        raise HardwireError("\n".join(dict.fromkeys(failures)))  # names that share files fail alike: said once


def _files(collection: "Collection | None") -> tuple[str, str]:
    """The two cells that speak of files: how many are there, and their size."""
    from hardwire.data.store import present

    if collection is None:
        return "needs none", ""
    there, all_files = len(present(collection)), len(collection.files)
    state = "yes" if there == all_files else f"{there} of {all_files} files" if there else "no"
    return state, f"{collection.size / 1e6:.0f} MB"
