"""`hardwire records`: the board of accuracy against gates, and the commands that make its rows."""

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(help="The board of records, and the recipes behind our rows.", invoke_without_command=True)

_Name = Annotated[str, typer.Argument(help="A recipe by name, or the path of a TOML file.")]
_Iterations = Annotated[int | None, typer.Option(help="Instead of the recipe's.")]
_Seed = Annotated[int | None, typer.Option(help="Instead of the recipe's.")]


@app.callback()
def records(
    context: typer.Context,
    data: Annotated[
        str | None, typer.Option("--data", help="Only this dataset: mnist, fashion-mnist, cifar10.")
    ] = None,
) -> None:
    """Print the board: our rows beside the literature's, fewest gates first; * marks what no other row beats."""
    if context.invoked_subcommand:
        return
    from rich.console import Console
    from rich.table import Table

    from hardwire.errors import unknown_name
    from hardwire.records.board import DATA, board, front

    if data is not None and data not in DATA:
        raise unknown_name("dataset", data, DATA)
    console = Console()
    for name in DATA if data is None else [data]:
        rows = board(name)
        best = front(rows)
        table = Table(box=None, header_style="bold", title=name, title_justify="left")
        for heading in ("network", "test %", "gates", "simplified/LUT6/whole", "min", "arXiv"):
            table.add_column(heading, justify="left" if heading in ("network", "arXiv") else "right")
        for row in rows:
            accuracy = f"{row.accuracy:.2f}{'*' if row in best else ' '}"
            numbers = (row.simplified, row.luts, row.luts_whole)
            counts = "/".join("-" if number is None else f"{number:,}" for number in numbers) if row.ours else ""
            minutes = f"{row.minutes:.0f}" if row.minutes else ""
            source = "ours" if row.ours else row.source.rpartition(":")[2]  # six columns less, so that 80 do
            style = "bold" if row.ours else None
            table.add_row(row.name, accuracy, f"{row.gates:,}", counts, minutes, source, style=style)
        console.print(table)
    console.print("* no other row is as accurate with as few gates. Ours: hardwire records run NAME", style="dim")


@app.command("try")
def try_(name: _Name, iterations: _Iterations = None, seed: _Seed = None) -> None:
    """Train a recipe without the validation rows and measure on them. The test set stays closed."""
    from hardwire.records import load_recipe, try_recipe

    history = try_recipe(load_recipe(name, **_changes(iterations, seed)), progress=True)
    final = history.final
    typer.echo(f"validation accuracy {100 * final.deploy:.2f}% after {final.iteration:,} iterations")


@app.command()
def run(
    name: _Name,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for model, circuit and result.")] = Path("records"),
    iterations: _Iterations = None,
    seed: _Seed = None,
) -> None:
    """Make a row: train on all of train, read the test set once, count the gates. Repeating the command resumes it."""
    from hardwire.records import load_recipe, run_recipe

    result = run_recipe(load_recipe(name, **_changes(iterations, seed)), out, progress=True, say=typer.echo)
    typer.echo(f"test accuracy {result['accuracy']:.2f}%, {result['minutes']} minutes; written to {out}")
    typer.echo(
        f"{result['gates']:,} gates, {result['simplified']:,} simplified, {result['luts']:,} LUT6, "
        f"{result['luts_whole']:,} LUT6 with sums, argmax and encoder"
    )


@app.command()
def figure(
    out: Annotated[Path, typer.Option("--out", "-o", help="The picture, by suffix: .svg, .png, .pdf.")] = Path(
        "records.svg"
    ),
) -> None:
    """Draw the board: accuracy against gates, one panel a dataset."""
    from hardwire.records import figure

    figure().savefig(out, dpi=160)
    typer.echo(f"wrote {out}")


def _changes(iterations: int | None, seed: int | None) -> dict[str, int]:
    given = {"iterations": iterations, "seed": seed}
    return {name: value for name, value in given.items() if value is not None}
