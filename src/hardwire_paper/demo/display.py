"""What the demo shows: an introduction, a live table while it trains, and the conclusion."""

import re
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table

from hardwire.cli.report import percent, points, program
from hardwire.selection import METHOD_VARIANTS
from hardwire.study import Config, Description, Store, StudyProgress, Watcher
from hardwire.study.description import parse
from hardwire.study.kinds import Evaluation
from hardwire.study.worker import RunProgress
from hardwire.training.history import History
from hardwire.training.history import Record as TrainingRecord
from hardwire_paper import preset_text
from hardwire_paper.demo import findings
from hardwire_paper.demo.findings import TAUS, Trial
from hardwire_paper.names import method_name
from hardwire_paper.runs import LAST

_EVALUATIONS = 30


def describe(seed: int, iterations: int) -> Description:
    """The preset with another seed and length."""
    text = preset_text("demo")
    changes = {"seeds": [seed], "iterations": [iterations], "evaluate_every": max(1, iterations // _EVALUATIONS)}
    for key, value in changes.items():
        text = re.sub(rf"^{key} = .*$", f"{key} = {value}", text, flags=re.MULTILINE)
    return parse(text)


def introduce(console: Console, description: Description) -> None:
    config = description.configs[0]
    console.print(
        "[bold]Six ways to learn which gate a neuron should be, at two temperatures τ[/]\n"
        f"Handwritten digits as 320 bits, {config['depth']} layers of {config.whole('width'):,} gates, "
        f"{config.whole('iterations'):,} iterations, seed {config['seed']}.\n"
        "A^M is the accuracy of the pass that trains, A^hard that of the circuit that ships (% of the test set).\n"
        "The selection gap, A^M − A^soft in points, is what is lost when each neuron becomes its one best gate;\n"
        "its peak is the largest in training, the late peak the largest over the last 80% of it.\n"
    )


class Watch(Watcher):
    """The live table, a row for each run; elsewhere than on a terminal a line for each run that is done."""

    def __init__(self, console: Console, description: Description, store: Path):
        self.console, self.store = console, store
        self.iterations = description.configs[0].whole("iterations")
        self.records: dict[Config, list[Evaluation]] = {config: [] for config in description}
        self.live = Live(console=console, transient=True, auto_refresh=False)

    def __enter__(self) -> "Watch":
        self._go_on()
        if self.console.is_terminal:
            self.live.start()
            self._refresh()
        return self

    def __exit__(self, *exception: object) -> None:
        self.live.stop()

    def progressed(self, study: StudyProgress, config: Config, progress: RunProgress) -> None:
        if progress.record:
            self.records[config].append(progress.record)
            self._refresh()

    def ended(self, study: StudyProgress, config: Config, result: Evaluation | str) -> None:
        if not self.console.is_terminal and not isinstance(result, str):
            text = f"{study.done} of {study.total}: {study.kind.label(config)}: {study.kind.summary(result)}"
            self.console.print(text, soft_wrap=True)

    def _go_on(self) -> None:
        """What an earlier demo in this folder has done already."""
        if self.store.exists():
            with Store(self.store) as store:
                done = {result.config: result.records for result in store.finished("network")}
            for config in self.records:
                self.records[config] = done.get(config, [])
            count = sum(1 for records in self.records.values() if records)
            if count:
                self.console.print(
                    f"{count} of {len(self.records)} runs are in {self.store} already.\n", soft_wrap=True
                )

    def _refresh(self) -> None:
        if self.console.is_terminal:
            self.live.update(results_table(self.records, self.iterations), refresh=True)


def conclude(console: Console, trials: list[Trial], circuit: str, files: dict[str, Path]) -> None:
    """The table, what was seen in it, what the best circuit is, and where the files are."""
    console.print(results_table({trial.run.config: [vars(r) for r in trial.history.records] for trial in trials}))
    console.print("\n[bold]What this run shows[/]   [green]✓[/] as in the paper   [yellow]≠[/] not so here")
    grid = Table.grid(padding=(0, 1))
    for finding in findings.all_findings(trials):
        grid.add_row("[green]✓" if finding.as_in_paper else "[yellow]≠", finding.text)
    console.print(grid)
    best = findings.winner(trials)
    console.print(
        f"\nThe best circuit by digits held out for this choice ({percent(best.validation)} % of them): "
        f"[bold]{best.label}, τ={best.run.tau:g}[/].\n"
        f"It reads {percent(best.history.final.deploy)} % of the test digits. {circuit}\n"
    )
    for what, path in files.items():
        console.print(f"{what:9} {path}", soft_wrap=True)
    console.print(f"next      [bold]{program()} gap {files['model']}[/]", soft_wrap=True)
    console.print(f"          [bold]{program()} circuit verify {files['model']} {files['C code']}[/]", soft_wrap=True)
    console.print(f"          [bold]{program()} study report {files['numbers']}[/]", soft_wrap=True)


def results_table(records: dict[Config, list[Evaluation]], iterations: int | None = None) -> Table:
    """A row for each run from its evaluations so far; with a progress bar if `iterations` says what is the whole."""
    table = Table(title="selection gap in points, accuracies in %", title_justify="left")
    table.add_column("method", no_wrap=True)
    for header in ("τ", "A^M", "A^soft", "A^hard", "selection gap", "late peak", "peak"):
        table.add_column(header, justify="right")
    if iterations is not None:
        table.add_column("progress", width=16)
    for config in sorted(records, key=_place):
        evaluations, tau = records[config], config.number("tau")
        cells: list[Any] = _cells(evaluations) if evaluations else [""] * 6
        if iterations is not None:
            cells.append(ProgressBar(iterations, evaluations[-1]["iteration"] if evaluations else 0, width=16))
        name = method_name(config.text("method")) if tau == TAUS[0] else ""
        table.add_row(name, f"{tau:g}", *cells, end_section=tau == TAUS[-1])
    return table


def _place(config: Config) -> tuple[int, float]:
    return list(METHOD_VARIANTS).index(config.text("method")), -config.number("tau")


def _cells(evaluations: list[Evaluation]) -> list[str]:
    last = evaluations[-1]
    accuracies = [percent(last[name]) for name in ("method", "argmax", "deploy")]
    history = History(TrainingRecord(**record) for record in evaluations)
    late, peak = history.range("selection", LAST)[1], history.peak("selection")
    return [*accuracies, *map(_coloured, (last["selection"], late, peak))]


def _coloured(gap: float) -> str:
    """Green for none at all, red from a point on."""
    return f"[{'green' if gap == 0 else 'red' if abs(gap) >= findings.A_GAP else 'default'}]{points(gap)}[/]"
