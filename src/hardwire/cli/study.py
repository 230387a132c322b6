"""`hardwire study`: describe, plan, run, look, export, report, publish."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from hardwire.study import Config, Description
    from hardwire.study.plan import Plan

app = typer.Typer(
    help="Studies: grids of runs with tables, figures and statistics.", no_args_is_help=True, add_completion=False
)
ASK_ABOVE = 24 * 3600  # seconds: whoever starts days of work should have meant it

File = Annotated[Path, typer.Argument(help="The study's TOML file.")]
StoreArgument = Annotated[Path, typer.Argument(help="The study's SQLite file, or a folder of published results.")]
Out = Annotated[Path, typer.Option("-o", "--out", help="Folder to write to.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Runs at once; the study's if not given, or as many as the cores allow.")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads of each run; the study's if not given.")]


@app.command()
def init(
    file: Annotated[Path, typer.Argument(help="The TOML file to write.")],
    preset: Annotated[
        str | None,
        typer.Option(
            help="smoke (a minute), small (an hour), paper (everything), systems (beyond gates), demo. "
            "[default: the one that FILE is named after, else smoke]"
        ),
    ] = None,
) -> None:
    """Write a commented TOML file to start from."""
    from hardwire.errors import HardwireError
    from hardwire.files import write_whole
    from hardwire.paper import PRESETS, preset_text

    text = preset_text(preset or (file.stem if file.stem in PRESETS else "smoke"))
    if file.exists():
        raise HardwireError(f"{file} is there already; choose another name")
    write_whole(file, text)
    typer.echo(f"wrote {file}; next: hardwire study plan {file}")


@app.command()
def plan(file: File, workers: Workers = None, threads: Threads = None) -> None:
    """How many runs, how long and how much memory, from a short calibration on this machine."""
    from rich.console import Console

    from hardwire.study import describe
    from hardwire.study.plan import make_plan, show

    show(make_plan(describe(file), workers, threads), Console())


@app.command()
def run(
    file: File,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="SQLite file; FILE with .sqlite if not given.")
    ] = None,
    runner: Annotated[str, typer.Option(help="local (processes) or ray (a cluster).")] = "local",
    address: Annotated[str | None, typer.Option(help="Of the Ray cluster, such as auto.")] = None,
    workers: Workers = None,
    threads: Threads = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try failed runs again.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, however long it will take.")] = False,
) -> None:
    """Run a study, or what is left of it. Stop it as you like: the same command goes on."""
    from hardwire import study
    from hardwire.study.overview import Overview

    description = study.describe(file)
    store = out or file.with_suffix(".sqlite")
    try:
        planned = _planned(description, workers, threads, store)
        _confirm(planned, yes)
        with Overview() as overview:
            standing = study.run(
                description,
                store,
                runner=runner,
                workers=workers,
                threads=threads,
                address=address,
                retry_failed=retry_failed,
                weights=planned.weights,
                watcher=overview,
            )
    except KeyboardInterrupt:
        typer.echo(f"stopped; {store} has all finished runs, and the same command goes on", err=True)
        raise typer.Exit(130) from None
    typer.echo(f"{standing.done} of {standing.total} runs done, {standing.failed} failed; results in {store}")
    if standing.failed:
        typer.echo(f"why: hardwire study status {store}; again: the same command with --retry-failed")
        raise typer.Exit(1)
    typer.echo(f"next: hardwire study report {store}")


@app.command()
def status(store: StoreArgument) -> None:
    """What a store holds, and why runs failed."""
    from collections import Counter

    from hardwire.study import Store
    from hardwire.study.kinds import label

    with Store(store) as opened:
        counts = Counter(state.status for state in opened.states().values())
        names = ", ".join(dict.fromkeys(name for name, _ in opened.descriptions()))
        typer.echo(f"{store}: {names or 'no study yet'}")
        for name in ("done", "running", "interrupted", "failed"):
            typer.echo(f"  {name}: {counts[name]}")
        for config, state in opened.failures():
            typer.echo(f"failed: {label(config)} (attempt {state.attempts}): {state.error}")


@app.command()
def export(
    store: StoreArgument,
    out: Out,
    form: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
) -> None:
    """Every table of a store as CSV or Parquet."""
    from hardwire.study import Store
    from hardwire.study.export import export_tables

    with Store(store) as opened:
        for path in export_tables(opened, out, form):
            typer.echo(f"wrote {path}")


@app.command()
def report(
    store: StoreArgument,
    out: Out = Path("report"),
    into: Annotated[
        list[Path] | None,
        typer.Option(
            help="A Markdown page whose parts between <!-- report: ... --> are to be written anew; repeatable."
        ),
    ] = None,
) -> None:
    """What came out first, then tables, figures and statistics as HTML and Markdown, with CSV, SVG and PNG beside."""
    from rich.console import Console

    from hardwire.study import Store
    from hardwire.study.reporting import build, terminal, write_report
    from hardwire.study.reporting.pages import fill_pages

    with Store(store) as opened:
        built = build(opened)
    terminal.show(built, Console())
    typer.echo(f"wrote {write_report(built, out)}")
    for path in fill_pages(built, into or []):
        typer.echo(f"wrote {path}")


@app.command()
def publish(
    store: Annotated[Path, typer.Argument(help="The SQLite file that studies were run into.")],
    folder: Annotated[Path, typer.Argument(help="The folder with their TOML files.")],
    plan: Annotated[
        bool, typer.Option("--plan", help="Plan those studies now whose store has no plan; that takes a while.")
    ] = False,
) -> None:
    """Put what is done of the studies of a folder beside them, FILE.sqlite for FILE.toml, to be kept and shared."""
    from hardwire.study import Store
    from hardwire.study.published import publish

    with Store(store) as opened:
        for piece in publish(opened, folder, plan):
            failed = f", {piece.failed} failed" if piece.failed else ""
            verb = "wrote" if piece.written else "nothing new for"
            typer.echo(f"{verb} {piece.path}: {piece.done} of {piece.total} runs{failed}")
    typer.echo(f"next: hardwire study report {folder}")


def _planned(description: "Description", workers: int | None, threads: int | None, store: Path) -> "Plan":
    """The plan for what is left, said; timing a step of each shape of run takes a while, and that is said first."""
    from hardwire.study.plan import make_plan

    done = _done(description, store)
    if len(done) < len(description):
        typer.echo(f"{description.name}: {len(description):,} runs; timing a few steps of each shape of run first")
    planned = make_plan(description, workers, threads, done)
    already = len(description) - len(planned.costs)
    if planned.costs:
        typer.echo((f"{already} of {len(description)} runs are done already; left: " if already else "") + str(planned))
    return planned


def _done(description: "Description", store: Path) -> "list[Config]":
    """What need not be done again."""
    from hardwire.study import Store
    from hardwire.study.conductor import remaining

    if not store.exists():
        return []
    with Store(store) as opened:
        return [config for config, _, status in remaining(description, opened, False) if status in ("done", "failed")]


def _confirm(plan: "Plan", yes: bool) -> None:
    from hardwire.errors import HardwireError
    from hardwire.study.plan import duration

    if plan.seconds < ASK_ABOVE or yes:
        return
    if not sys.stdin.isatty():
        raise HardwireError(f"this would take about {duration(plan.seconds)}; if that is meant, say --yes")
    if not typer.confirm(f"This will take about {duration(plan.seconds)}. Go on?"):
        raise typer.Exit(1)
