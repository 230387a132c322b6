"""`hardwire records`: the board of accuracy against gates, and the commands that make its rows."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwire.cli import completion
from hardwire.cli.output import Json, Output

if TYPE_CHECKING:
    from rich.table import Table

    from hardwire.records import BoardRow

app = typer.Typer(invoke_without_command=True, rich_markup_mode="markdown")

_Name = Annotated[
    str, typer.Argument(help="A recipe by name, or the path of a TOML file.", autocompletion=completion.recipes)
]
_Iterations = Annotated[int | None, typer.Option(min=1, help="Training steps. [default: the recipe's]")]
_Seed = Annotated[int | None, typer.Option(min=0, help="Seed. [default: the recipe's]")]


@app.callback()
def records(
    context: typer.Context,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", help="Show only this dataset: mnist, fashion-mnist or cifar10.", autocompletion=completion.boards
        ),
    ] = None,
    all_in: Annotated[
        bool,
        typer.Option(
            "--all-in", help="Compare look-up tables of everything, encoder, sums and argmax included, where known."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Print the board: our networks next to the literature's, cheapest first.

    An asterisk marks what no other network beats, the Pareto front. Gates are those as built; what else is known comes
    beside them: gates after simplification, look-up tables of six inputs of the gates, and of everything.

    Example:

    ```
    hardwire records --data mnist
    hardwire records --data mnist --all-in
    ```
    """
    if context.invoked_subcommand:
        return
    from hardwire.errors import unknown_name
    from hardwire.records.board import DATA, board, front

    output = Output(json)
    if data is not None and data not in DATA:
        raise unknown_name("dataset", data, DATA)
    by, unit = ("luts_whole", "LUT6 of everything") if all_in else ("gates", "gates")
    for name in DATA if data is None else [data]:
        output.console.print(_table(name, board(name, by), by))
    output.console.print(f"* no other network is as accurate with as few {unit} (ours: records run NAME)", style="dim")
    rows = board(data, by)
    best = [row for name in DATA for row in front([row for row in rows if row.data == name], by)]
    output.document([vars(row) | {"front": row in best} for row in rows])


def _table(name: str, rows: "list[BoardRow]", by: str = "gates") -> "Table":
    from rich.table import Table

    from hardwire.records.board import front

    best = front(rows, by)
    table = Table(box=None, header_style="bold", title=name, title_justify="left")
    for heading in ("network", "test %", "gates", "simplified/LUT6/all-in", "min", "arXiv"):
        table.add_column(heading, justify="left" if heading in ("network", "arXiv") else "right")
    for row in rows:
        accuracy = f"{row.accuracy:.2f}{'*' if row in best else ' '}"
        numbers = (row.simplified, row.luts, row.luts_whole)
        counts = "/".join("-" if number is None else f"{number:,}" for number in numbers)
        counts = counts if set(counts) != set("-/") else ""
        minutes = f"{row.minutes:.0f}" if row.minutes else ""
        source = "ours" if row.ours else row.source.rpartition(":")[2]  # the number alone, so that 80 characters do
        style = "bold" if row.ours else None
        table.add_row(row.name, accuracy, f"{row.gates:,}", counts, minutes, source, style=style)
    return table


@app.command("list")
def list_recipes(json: Json = False) -> None:
    """List the recipes, for `records run` and for `train --recipe`.

    Example:

    ```
    hardwire records list
    ```
    """
    from rich.table import Table

    from hardwire import recipes

    output, loaded = Output(json), [recipes.load(name) for name in recipes.names()]
    table = Table(box=None, header_style="bold")
    for heading in ("recipe", "data", "network"):
        table.add_column(heading, no_wrap=heading != "network")
    for recipe in loaded:
        table.add_row(recipe.name, recipe.data, recipe.title)
    output.console.print(table)
    output.document(loaded)


@app.command("try")
def try_(name: _Name, iterations: _Iterations = None, seed: _Seed = None, json: Json = False) -> None:
    """Train a recipe without the validation rows and measure it on them; the test set is not read.

    Example:

    ```
    hardwire records try mnist-8k --iterations 1000
    ```
    """
    from hardwire import recipes
    from hardwire.records import try_recipe

    output = Output(json)
    history = try_recipe(recipes.load(name, **_changes(iterations, seed)), progress=True)
    final = history.final
    output.line(f"validation accuracy {100 * final.deploy:.2f}% after {final.iteration:,} iterations")
    output.document({"recipe": name, "split": history.split, **vars(final)})


@app.command()
def run(
    name: _Name,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the circuit and the result.")] = Path("records"),
    iterations: _Iterations = None,
    seed: _Seed = None,
    luts: Annotated[bool, typer.Option(help="Count look-up tables, which takes minutes for a large circuit.")] = True,
    json: Json = False,
) -> None:
    """Make a row: train on all training rows, read the test set once, count the gates. Repeat it to resume it.

    Example:

    ```
    hardwire records run mnist-8k
    ```
    """
    from hardwire import recipes
    from hardwire.records import run_recipe

    output = Output(json)
    recipe = recipes.load(name, **_changes(iterations, seed))
    result = run_recipe(recipe, out, luts=luts, progress=True, report=output.line)
    output.line(f"test accuracy {result['accuracy']:.2f}%, {result['minutes']} minutes; written to {out}")
    output.line(f"{result['gates']:,} gates, {result['simplified']:,} simplified{_counted(result)}")
    output.document(result)


@app.command()
def figure(
    out: Annotated[Path, typer.Option("--out", "-o", help="The figure to write: .svg, .png or .pdf.")] = Path(
        "records.svg"
    ),
) -> None:
    """Draw the board: accuracy against gates, one panel per dataset.

    Example:

    ```
    hardwire records figure -o records.png
    ```
    """
    from hardwire.files.figure import save_figure
    from hardwire.records import figure

    save_figure(figure(), out)
    typer.echo(f"wrote {out}")


def _counted(result: dict[str, Any]) -> str:
    """The look-up tables of a result, by part."""
    if result["luts_by_part"] is None:
        return ""
    parts = ", ".join(f"{part} {count:,}" for part, count in result["luts_by_part"].items())
    return f", {result['luts_whole']:,} LUT6 ({parts})"


def _changes(iterations: int | None, seed: int | None) -> dict[str, int]:
    """The entries of a recipe that options replace."""
    given = {"iterations": iterations, "seed": seed}
    return {name: value for name, value in given.items() if value is not None}
