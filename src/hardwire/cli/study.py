"""`hardwire study`: describe, plan, run, look, export, report."""

import sys
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    help="Studies: grids of runs with tables, figures and statistics.", no_args_is_help=True, add_completion=False
)
ASK_ABOVE = 1000  # runs; the whole paper is 810

File = Annotated[Path, typer.Argument(help="The study's TOML file.")]
StoreArgument = Annotated[Path, typer.Argument(help="The study's SQLite file.")]
Workers = Annotated[int | None, typer.Option(min=1, help="Runs at once; one for each core if not given.")]


@app.command()
def init(
    file: Annotated[Path, typer.Argument(help="The TOML file to write.")],
    preset: Annotated[str, typer.Option(help="smoke (a minute), small (an hour), paper (everything).")] = "smoke",
):
    """Write a commented TOML file to start from."""
    from hardwire.errors import HardwireError
    from hardwire.files import write_whole
    from hardwire.study.description import preset_text

    text = preset_text(preset)
    if file.exists():
        raise HardwireError(f"{file} is there already; choose another name")
    write_whole(file, text)
    typer.echo(f"wrote {file}; next: hardwire study plan {file}")


@app.command()
def plan(file: File, workers: Workers = None):
    """How many runs, how long and how much memory, from a short calibration on this machine."""
    from rich.console import Console

    from hardwire.study import calibration, describe

    calibration.show(calibration.calibrate(describe(file), workers), Console())


@app.command()
def run(
    file: File,
    store: Annotated[Path | None, typer.Option(help="SQLite file; FILE with .sqlite if not given.")] = None,
    engine: Annotated[str, typer.Option(help="local (processes) or ray (a cluster).")] = "local",
    address: Annotated[str | None, typer.Option(help="Of the Ray cluster, such as auto.")] = None,
    workers: Workers = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try failed runs again.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help=f"Do not ask about more than {ASK_ABOVE:,} runs.")] = False,
):
    """Run a study, or what is left of it. Stop it as you like: the same command goes on."""
    from hardwire import study
    from hardwire.study.overview import Overview

    description = study.describe(file)
    store = store or file.with_suffix(".sqlite")
    _confirm_size(len(description), yes)
    try:
        with Overview() as overview:
            standing = study.run(
                description,
                store,
                engine=engine,
                workers=workers,
                address=address,
                retry_failed=retry_failed,
                watcher=overview,
            )
    except KeyboardInterrupt:
        typer.echo(f"stopped; {store} has all finished runs, and the same command goes on", err=True)
        raise typer.Exit(130) from None
    typer.echo(f"{standing.done} of {standing.total} runs done, {standing.failed} failed; results in {store}")
    if standing.failed:
        typer.echo(f"why: hardwire study status {store}; again: the same command with --retry-failed")
        raise typer.Exit(1)


@app.command()
def status(store: StoreArgument):
    """What a store holds, and why runs failed."""
    from collections import Counter

    from hardwire.study import Store

    with Store(store) as opened:
        counts = Counter(state.status for state in opened.states().values())
        names = ", ".join(dict.fromkeys(name for name, _ in opened.descriptions()))
        typer.echo(f"{store}: {names or 'no study yet'}")
        for name in ("done", "running", "interrupted", "failed"):
            typer.echo(f"  {name}: {counts[name]}")
        for config, state in opened.failures():
            typer.echo(f"failed: {config} (attempt {state.attempts}): {state.error}")


@app.command()
def export(
    store: StoreArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to.")],
    form: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
):
    """Every table of a store as CSV or Parquet."""
    from hardwire.study import Store
    from hardwire.study.export import export_tables

    with Store(store) as opened:
        for path in export_tables(opened, output, form):
            typer.echo(f"wrote {path}")


@app.command()
def report(
    store: StoreArgument,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder to write to.")] = Path("report"),
    domains: Annotated[
        Path | None, typer.Option(help="A folder of hardwire domains run: choices beyond gates become a section.")
    ] = None,
):
    """Tables, figures, statistics and theory as HTML and Markdown, with CSV, SVG and PNG beside them."""
    from hardwire import study

    typer.echo(f"wrote {study.report(store, output, domains)}")


def _confirm_size(runs: int, yes: bool) -> None:
    from hardwire.errors import HardwireError

    if runs <= ASK_ABOVE or yes:
        return
    if not sys.stdin.isatty():
        raise HardwireError(f"this grid has {runs:,} runs; if that is meant, say --yes")
    if not typer.confirm(f"This grid has {runs:,} runs. Go on?"):
        raise typer.Exit(1)
