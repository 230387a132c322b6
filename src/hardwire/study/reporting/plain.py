"""What a report says about runs whose kind has nothing to say itself: the last record by configuration, over seeds."""

import statistics

from hardwire.study.config import Config
from hardwire.study.kinds import Kind
from hardwire.study.reporting.content import Section
from hardwire.study.reporting.table import Cells, table
from hardwire.study.store import Result, Store


def plain_sections(kind: Kind, store: Store) -> list[Section]:
    """Returns one table: a row for each configuration, averaged over seeds, with the axes that differ between runs."""
    runs = store.finished(kind.name)
    axes = [axis.name for axis in kind.axes if axis.name != "seed"]
    differing = [axis for axis in axes if len({run.config[axis] for run in runs}) > 1]
    groups: dict[Config, list[Result]] = {}
    for run in runs:
        rest = {axis: run.config[axis] for axis in axes}
        groups.setdefault(Config.of(kind.name, rest), []).append(run)
    numbers = [name for name, value in runs[0].final.items() if isinstance(value, int | float)]
    rows: list[Cells] = [
        [*(str(config[axis]) for axis in differing), len(group), *(_spread(group, name) for name in numbers)]
        for config, group in groups.items()
    ]
    notes = ["The last evaluation: mean and standard deviation over runs that differ in nothing but the seed."]
    slug, columns = f"results-{kind.name}", [*differing, "runs", *numbers]
    results = table(slug, f"Results: {kind.name}", columns, rows, notes=notes)
    return [Section(slug, f"Runs of the kind {kind.name}", [results])]


def _spread(runs: list[Result], name: str) -> str:
    values = [float(run.final[name]) for run in runs if isinstance(run.final.get(name), int | float)]
    if not values:
        return ""
    deviation = f" ± {statistics.stdev(values):.2g}" if len(values) > 1 else ""
    return f"{statistics.fmean(values):.4g}{deviation}"
