"""`hardwire study`: starts, plans, runs, inspects, exports, reports and publishes studies."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwire.cli.output import Json, Output

if TYPE_CHECKING:
    from hardwire.study import Config, Description
    from hardwire.study.plan import Plan

app = typer.Typer(
    help="Grids of training runs, with tables, figures and statistics.",
    no_args_is_help=True,
    rich_markup_mode="markdown",
)
ASK_ABOVE = 24 * 3600  # seconds: days of work should not start by accident

File = Annotated[Path, typer.Argument(help="The study's TOML file.")]
StoreArgument = Annotated[Path, typer.Argument(help="The study's SQLite file, or a folder of published results.")]
Out = Annotated[Path, typer.Option("-o", "--out", help="Folder to write to.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Runs at once. [default: the study's, or as many as the cores allow]")
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads of each run. [default: the study's]")]


@app.command()
def init(
    file: Annotated[Path, typer.Argument(help="The TOML file to write.")],
    preset: Annotated[
        str | None,
        typer.Option(
            help="A study to start from; a wrong name lists them all. "
            "[default: the one that FILE is named after, else the first]"
        ),
    ] = None,
) -> None:
    """Write a commented TOML file to start from.

    Example:

    ```
    hardwire study init smoke.toml
    ```
    """
    from hardwire.errors import HardwireError
    from hardwire.files import write_whole
    from hardwire.study.kinds import preset_text, presets

    known = presets()
    text = preset_text(preset or (file.stem if file.stem in known else next(iter(known), "")))
    if file.exists():
        raise HardwireError(f"{file} already exists; choose another name")
    write_whole(file, text)
    typer.echo(f"wrote {file}; next: hardwire study plan {file}")


@app.command()
def plan(file: File, workers: Workers = None, threads: Threads = None, json: Json = False) -> None:
    """Estimate the number of runs, the time and the memory, from a short calibration on this machine.

    Example:

    ```
    hardwire study plan smoke.toml
    ```
    """
    from hardwire.study import describe
    from hardwire.study.plan import make_plan, show

    output, planned = Output(json), make_plan(describe(file), workers, threads)
    show(planned, output.console)
    output.document(_plan_numbers(planned))


@app.command()
def run(
    file: File,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="The SQLite file. [default: FILE with .sqlite]")
    ] = None,
    runner: Annotated[str, typer.Option(help="local (processes) or ray (a cluster).")] = "local",
    address: Annotated[str | None, typer.Option(help="Address of the Ray cluster, such as auto.")] = None,
    workers: Workers = None,
    threads: Threads = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Try failed runs again.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask, however long it will take.")] = False,
    json: Json = False,
) -> None:
    """Run a study, or what remains of it. Stop it at any time: the same command continues.

    Example:

    ```
    hardwire study run smoke.toml
    ```
    """
    from hardwire import study
    from hardwire.study.overview import Overview

    output, description = Output(json), study.describe(file)
    store = out or file.with_suffix(".sqlite")
    try:
        planned = _planned(description, workers, threads, store, output)
        _confirm(planned, yes)
        with Overview() as overview:
            progress = study.run(
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
        typer.echo(f"stopped; {store} has all finished runs, and the same command continues", err=True)
        raise typer.Exit(130) from None
    output.line(f"{progress.done} of {progress.total} runs done, {progress.failed} failed; results in {store}")
    output.document({"store": store, "done": progress.done, "total": progress.total, "failed": progress.failed})
    if progress.failed:
        output.line(f"why: hardwire study status {store}; to try again: the same command with --retry-failed")
        raise typer.Exit(1)
    output.line(f"next: hardwire study report {store}")


@app.command()
def status(store: StoreArgument, json: Json = False) -> None:
    """Show what a store holds, and why runs failed.

    Example:

    ```
    hardwire study status smoke.sqlite
    ```
    """
    from collections import Counter

    from hardwire.study import Store
    from hardwire.study.kinds import label

    output = Output(json)
    with Store(store) as opened:
        states = Counter(state.status for state in opened.states().values())
        counts = {name: states[name] for name in ("done", "running", "interrupted", "failed")}
        names = list(dict.fromkeys(name for name, _ in opened.descriptions()))
        failures = [
            {"run": label(config), "attempts": state.attempts, "error": state.error}
            for config, state in opened.failures()
        ]
    output.line(f"{store}: {', '.join(names) or 'no study yet'}")
    for name, count in counts.items():
        output.line(f"  {name}: {count}")
    for failure in failures:
        output.line(f"failed: {failure['run']} (attempt {failure['attempts']}): {failure['error']}")
    output.document({"store": store, "studies": names, **counts, "failures": failures})


@app.command()
def export(
    store: StoreArgument,
    out: Out,
    form: Annotated[str, typer.Option("--format", help="csv or parquet.")] = "csv",
) -> None:
    """Write every table of a store as CSV or Parquet.

    Example:

    ```
    hardwire study export smoke.sqlite -o tables --format parquet
    ```
    """
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
        typer.Option(help="A Markdown page whose parts between `report:` comments are rewritten; repeatable."),
    ] = None,
    png: Annotated[bool, typer.Option("--png", help="Write each figure as a PNG, too.")] = False,
) -> None:
    """Write a report: results first, then tables, figures and statistics, as HTML and Markdown with CSV and SVG.

    Example:

    ```
    hardwire study report smoke.sqlite -o report
    ```
    """
    from hardwire.console import make_console
    from hardwire.study import Store
    from hardwire.study.reporting import build, terminal, write_report
    from hardwire.study.reporting.pages import fill_pages

    with Store(store) as opened:
        built = build(opened)
    terminal.show(built, make_console())
    typer.echo(f"wrote {write_report(built, out, png)}")
    for path in fill_pages(built, into or []):
        typer.echo(f"wrote {path}")


@app.command()
def publish(
    store: Annotated[Path, typer.Argument(help="The SQLite file that studies were run into.")],
    folder: Annotated[Path, typer.Argument(help="The folder with their TOML files.")],
    plan: Annotated[
        bool, typer.Option("--plan", help="Plan studies whose store has no plan; this takes a while.")
    ] = False,
) -> None:
    """Copy the finished runs of the studies of a folder into it, FILE.sqlite for each FILE.toml, to keep and share.

    Example:

    ```
    hardwire study publish all.sqlite results
    ```
    """
    from hardwire.study import Store
    from hardwire.study.published import publish

    with Store(store) as opened:
        for piece in publish(opened, folder, plan):
            failed = f", {piece.failed} failed" if piece.failed else ""
            verb = "wrote" if piece.written else "nothing new in"
            typer.echo(f"{verb} {piece.path}: {piece.done} of {piece.total} runs{failed}")
    typer.echo(f"next: hardwire study report {folder}")


def _plan_numbers(plan: "Plan") -> dict[str, Any]:
    """A plan as JSON values."""
    runs = [vars(cost) for cost in plan.costs.values()]
    return {
        "runs": len(runs),
        "workers": plan.workers,
        "threads": plan.threads,
        "seconds": plan.seconds,
        "memory": plan.memory,
        "each": runs,
    }


def _planned(
    description: "Description", workers: int | None, threads: int | None, store: Path, output: Output
) -> "Plan":
    """Plans what remains and prints the plan; timing takes a while, so that is announced first."""
    from hardwire.study.plan import make_plan

    done = _done(description, store)
    if len(done) < len(description):
        output.line(f"{description.name}: {len(description):,} runs; timing a few steps of each shape of run first")
    planned = make_plan(description, workers, threads, done)
    already = len(description) - len(planned.costs)
    if planned.costs:
        output.line(
            (f"{already} of {len(description)} runs are done already; left: " if already else "") + str(planned)
        )
    return planned


def _done(description: "Description", store: Path) -> "list[Config]":
    """The runs that need not be done again."""
    from hardwire.study import Store
    from hardwire.study.coordinator import remaining

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
        raise HardwireError(f"this would take about {duration(plan.seconds)}; add --yes to run it anyway")
    if not typer.confirm(f"This will take about {duration(plan.seconds)}. Go on?"):
        raise typer.Exit(1)
