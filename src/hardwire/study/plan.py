"""`make_plan`: how many runs, how long and how much memory, from a few real steps of each shape of run on this machine.

Surprising: the quickest of several timed steps counts, so that a machine which happens to be busy does not look slow.
The plan is for a machine that does nothing else.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from hardwire.study.config import Config
from hardwire.study.description import Description
from hardwire.study.kinds import Cost
from hardwire.study.runners import default_workers

START = 3.0  # seconds until a worker process has imported what it needs


@dataclass(frozen=True)
class Plan:
    """What the remaining runs of a study will cost."""

    costs: dict[Config, Cost]
    workers: int
    threads: int

    @property
    def seconds(self) -> float:
        """Until the last run is done, and no less than the longest run takes."""
        each = [cost.seconds for cost in self.costs.values()]
        return max([sum(each) / self.workers, *each]) + START if each else 0.0

    @property
    def memory(self) -> float:
        return min(self.workers, len(self.costs)) * max((cost.memory for cost in self.costs.values()), default=0.0)

    @property
    def weights(self) -> dict[Config, float]:
        return {config: cost.seconds for config, cost in self.costs.items()}

    @property
    def estimates(self) -> dict[str, float]:
        """Seconds by the identity of a run, as a store keeps them."""
        return {config.identity: round(cost.seconds, 1) for config, cost in self.costs.items()}

    def __str__(self) -> str:
        threads = f", {self.threads} threads each" if self.threads > 1 else ""
        return (
            f"{len(self.costs):,} runs; about {duration(self.seconds)} with {self.workers} at once{threads} on this "
            f"machine, with up to {self.memory / 1e9:.1f} GB of memory"
        )


def make_plan(
    description: Description,
    workers: int | None = None,
    threads: int | None = None,
    done: Iterable[Config] = (),
) -> Plan:
    """Estimates what a study will take on this machine.

    Args:
        description: The study.
        workers: Runs at once; by default the description's number, or as many as there are cores for.
        threads: Threads of each run; by default the description's number.
        done: Runs to leave out.

    Returns:
        The plan, from a few timed steps of each shape of run.
    """
    import torch

    threads = threads or description.threads
    before, done = torch.get_num_threads(), set(done)
    torch.set_num_threads(threads)
    try:
        costs = {c: description.kind.estimate(c, threads) for c in description if c not in done}
    finally:
        torch.set_num_threads(before)
    return Plan(costs, workers or description.workers or default_workers(threads), threads)


def show(plan: Plan, console: Console) -> None:
    """Prints a plan, a line for each shape of run."""
    shapes: dict[str, list[Cost]] = {}
    for cost in plan.costs.values():
        shapes.setdefault(cost.shape, []).append(cost)
    table = Table("runs of", "runs", "a step", "in all", "memory of a run")
    for shape, costs in shapes.items():
        steps = sorted(cost.step for cost in costs)
        table.add_row(
            shape,
            f"{len(costs):,}",
            " to ".join(dict.fromkeys(f"{1000 * step:.1f} ms" for step in (steps[0], steps[-1]))),
            duration(sum(cost.seconds for cost in costs)),
            f"{max(cost.memory for cost in costs) / 1e9:.1f} GB",
        )
    console.print(table)
    console.print(
        f"{plan}. Runs side by side share caches and memory, and other work takes its share.", highlight=False
    )


def duration(seconds: float) -> str:
    """Returns a time in words, such as 45 s, 12 min, 3 h 20 min, 12 days."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if hours < 48 else f"{hours / 24:.0f} days"
