"""`hardwire domains`: the gap of choices other than gates: train them all, then read the verdicts."""

from pathlib import Path
from typing import Annotated

import typer

_WIDE = 150  # columns of a terminal that the whole table needs

app = typer.Typer(help="Selection beyond gates: architecture search, experts, codebooks.", no_args_is_help=True)


@app.command("run")
def run(
    out: Annotated[Path, typer.Option("--out", help="Folder of the results, one JSON file a run and seed.")],
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="How many seeds, counted from 0.")] = 3,
    only: Annotated[list[str] | None, typer.Option("--only", help="A run by name; may be repeated.")] = None,
    iterations: Annotated[int | None, typer.Option("--iterations", min=1, help="Instead of each system's own.")] = None,
    threads: Annotated[int, typer.Option("--threads", min=1, help="Of torch; small models are fastest with 1.")] = 1,
):
    """Train and measure every system with every method; what has a file already is not run again."""
    import torch
    from rich.console import Console

    from hardwire.systems.experiments import plan, run_all

    jobs = plan(out, range(seeds), only, iterations)
    torch.set_num_threads(threads)
    console = Console(stderr=True)
    with _progress(console, len(jobs)) as on_step:
        run_all(out, range(seeds), only, iterations, on_step)
    console.print(f"{len(jobs)} results in {out}; read them with: hardwire domains report {out}", soft_wrap=True)


@app.command("report")
def report(
    folder: Annotated[Path, typer.Argument(help="The folder that `run` wrote.")],
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the table as Markdown.")] = False,
):
    """Print the gap and the verdict of every row, and write domains.md, domains.png and domains.svg to the folder."""
    from rich.console import Console

    from hardwire.files import write_whole
    from hardwire.systems.experiments import read_results
    from hardwire.systems.report import RULE, judge, markdown_table, rich_table, write_figures

    verdicts = judge(read_results(folder))
    text = markdown_table(verdicts)
    written = [folder / "domains.md", *write_figures(verdicts, folder)]
    write_whole(written[0], f"{text}\n{RULE}\n")
    if markdown:
        typer.echo(text)
    else:
        console = Console()
        console.print(rich_table(verdicts, brief=console.width < _WIDE))
    typer.echo(f"{RULE}\nwritten: {', '.join(str(path) for path in written)}")


def _progress(console, total: int):
    """A context that gives `on_step`: a live bar on a terminal, else one line for each run that ends."""
    import contextlib

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    @contextlib.contextmanager
    def showing():
        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=console, disable=not console.is_terminal) as bars:
            everything, current = bars.add_task("all runs", total=total), bars.add_task("starting")

            def on_step(name, seed, iteration, iterations):
                bars.update(current, description=f"{name} seed {seed}", completed=iteration, total=iterations)
                if iteration == iterations:
                    bars.advance(everything)
                    if not console.is_terminal:
                        console.print(f"{name} seed {seed}: {iterations} iterations", soft_wrap=True)

            yield on_step

    return showing()
