"""`hardwire data`: lists the datasets, and downloads them ahead of time."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwire.cli.completion import datasets
from hardwire.cli.output import Json, Output

if TYPE_CHECKING:
    from hardwire.data.catalog import CatalogEntry
    from hardwire.data.store import Collection

app = typer.Typer(help="List datasets, and download their files.", no_args_is_help=True, rich_markup_mode="markdown")


@app.command("list")
def list_datasets(json: Json = False) -> None:
    """List the datasets, and whether their files are in the data folder.

    Example:

    ```
    hardwire data list
    ```
    """
    from rich.table import Table

    from hardwire.data.catalog import ENTRIES
    from hardwire.data.store import data_folder

    # two tables, because one with all columns does not fit 80 characters
    table = Table(box=None, header_style="bold")
    table.add_column("name", no_wrap=True)
    for header in ("inputs", "classes", "train", "test"):
        table.add_column(header, justify="right", no_wrap=True)
    table.add_column("downloaded", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    descriptions = Table(box=None, show_header=False)
    for name, entry in ENTRIES.items():
        numbers = (entry.inputs, entry.classes, entry.rows.get("train"), entry.rows.get("test"))
        shown = ("?" if number is None else f"{number:,}" for number in numbers)
        table.add_row(name, *shown, *_files(entry.collection))
        descriptions.add_row(name, entry.description)
    output = Output(json)
    output.console.print(table, "", descriptions, sep="\n")
    output.line(f"\ndata folder: {data_folder()} (set HARDWIRE_DATA to use another)")
    output.document([_entry(name, entry) for name, entry in ENTRIES.items()])


@app.command()
def fetch(
    name: Annotated[str, typer.Argument(help="The name of a dataset, or all.", autocompletion=datasets)],
    repair: Annotated[bool, typer.Option("--repair", help="Download files with a wrong checksum again.")] = False,
) -> None:
    """Download the files of a dataset if they are missing, and verify their checksums.

    Other commands do so when they need a dataset; this one prepares a machine that will be offline.

    Example:

    ```
    hardwire data fetch mnist
    ```
    """
    from hardwire import data
    from hardwire.errors import HardwireError

    failures = []
    for dataset in data.names() if name == "all" else [name]:
        try:
            folder = data.fetch(dataset, repair=repair)
        except HardwireError as error:
            failures.append(str(error))
        else:
            typer.echo(f"{dataset}: {'needs no download' if folder is None else f'verified in {folder}'}")
    if failures:
        raise HardwireError("\n".join(dict.fromkeys(failures)))  # datasets that share files fail alike: reported once


def _entry(name: str, entry: "CatalogEntry") -> dict[str, Any]:
    """An entry of the list as JSON values."""
    from hardwire.data.store import present

    files = entry.collection
    facts = {key: getattr(entry, key) for key in ("description", "inputs", "classes", "rows")}
    complete = files is None or len(present(files)) == len(files.files)
    return {"name": name, **facts, "bytes": 0 if files is None else files.size, "downloaded": complete}


def _files(collection: "Collection | None") -> tuple[str, str]:
    """Two cells of the table: whether the files are there, and their size."""
    from hardwire.data.store import present

    if collection is None:
        return "not needed", ""
    there, all_files = len(present(collection)), len(collection.files)
    state = "yes" if there == all_files else f"{there} of {all_files} files" if there else "no"
    return state, f"{collection.size / 1e6:.0f} MB"
