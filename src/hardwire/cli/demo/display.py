"""What the demo shows: an introduction, a live table while it trains, and the conclusion."""

from pathlib import Path

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from hardwire.cli.demo import findings
from hardwire.cli.demo.trials import TAUS, TRIALS, Result, Settings, Trial
from hardwire.cli.report import percent, points, program


def introduce(console: Console, settings: Settings) -> None:
    console.print(
        "[bold]Six ways to learn which gate a neuron should be, at two temperatures τ[/]\n"
        f"Handwritten digits as 320 bits, {settings.depth} layers of {settings.width:,} gates, "
        f"{settings.iterations:,} iterations, seed {settings.seed}.\n"
        "A^M is the accuracy of the pass that trains, A^hard that of the circuit that ships (% of the test set).\n"
        "The selection gap, A^M − A^soft in points, is what is lost when each neuron becomes its one best gate.\n"
    )


class Watch:
    """The live table: call it with every evaluation as it comes."""

    def __init__(self, console: Console, settings: Settings):
        self.settings = settings
        self.records = {trial: [] for trial in TRIALS}
        self.live = Live(console=console, transient=True, auto_refresh=False)

    def __enter__(self) -> "Watch":
        self.live.start()
        self._refresh()
        return self

    def __exit__(self, *_) -> None:
        self.live.stop()

    def __call__(self, trial: Trial, record) -> None:
        self.records[trial].append(record)
        self._refresh()

    def _refresh(self) -> None:
        self.live.update(results_table(self.records, self.settings.iterations), refresh=True)


def conclude(console: Console, results: list[Result], circuit: str, files: dict[str, Path]) -> None:
    """The table, what was seen in it, what the best circuit is, and where the files are."""
    console.print(results_table({result.trial: result.history.records for result in results}))
    console.print(
        "\n[bold]What this run shows[/]   [green]✓[/] as in the paper   [yellow]≠[/] not so at this small size"
    )
    grid = Table.grid(padding=(0, 1))
    for finding in findings.all_findings(results):
        grid.add_row("[green]✓" if finding.as_in_paper else "[yellow]≠", finding.text)
    console.print(grid)
    best = findings.winner(results)
    console.print(
        f"\nThe best circuit: [bold]{best.trial.label}[/], {percent(best.history.final.deploy)} % of the test digits.\n"
        f"{circuit}\n"
    )
    for what, path in files.items():
        console.print(f"{what:9} {path}", soft_wrap=True)
    console.print(f"next      [bold]{program()} gap {files['model']}[/]", soft_wrap=True)
    console.print(f"          [bold]{program()} circuit verify {files['model']} {files['C code']}[/]", soft_wrap=True)


def results_table(records: dict[Trial, list], iterations: int | None = None) -> Table:
    """A row for each trial from its evaluations so far; with a progress bar if `iterations` says what is the whole."""
    table = Table(title="selection gap in points, accuracies in %", title_justify="left")
    table.add_column("method", no_wrap=True)
    for header in ("τ", "A^M", "A^soft", "A^hard", "selection gap", "peak gap"):
        table.add_column(header, justify="right")
    if iterations is not None:
        table.add_column("progress", width=16)
    for trial, evaluations in records.items():
        bar = [] if iterations is None else [_bar(evaluations, iterations)]
        table.add_row(
            trial.label if trial.tau == TAUS[0] else "",
            f"{trial.tau:g}",
            *(_cells(evaluations) if evaluations else [""] * 5),
            *bar,
            end_section=trial.tau == TAUS[-1],
        )
    return table


def _cells(evaluations: list) -> list[str]:
    last = evaluations[-1]
    gap, peak = last.selection, max(record.selection for record in evaluations)
    accuracies = [percent(accuracy) for accuracy in (last.method, last.argmax, last.deploy)]
    return [*accuracies, _coloured(gap), _coloured(peak)]


def _coloured(gap: float) -> str:
    """Green for none at all, red from a point on."""
    return f"[{'green' if gap == 0 else 'red' if abs(gap) >= findings.A_GAP else 'default'}]{points(gap)}[/]"


def _bar(evaluations: list, iterations: int) -> ProgressBar:
    return ProgressBar(iterations, evaluations[-1].iteration if evaluations else 0, width=16)
