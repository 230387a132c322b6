"""What came out for every row of the systems' table: its gap, and whether the row holds by a printed rule.

A gap is method against deployed, in points of accuracy, or in percent of the method's loss where there are no classes.
Surprising: a negative gap is possible and counts by its size, since noise can make training look worse than deployment.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean

from hardwire.errors import HardwireError, unknown_name
from hardwire.study.checks import MOST, whole
from hardwire.study.store import Result
from hardwire_paper.networks.stored import check_number
from hardwire_paper.systems.catalog import ROWS, RUNS, SYSTEMS, SystemRow

NOTABLE = 1.0  # points of accuracy, or percent of the loss
AT_CHANCE = 0.15  # accuracy: 5 points above a guess among ten classes
BEHIND = 0.10  # accuracy: a sampled row that is farther below the soft row it stands against has hardly learned

RULE = (
    f"A row holds if: expected none - every seed's gap is exactly 0; expected gap - the mean is at least {NOTABLE:g} "
    "and every seed's is above 0; expected small - the mean's size is less than half of the mean of the soft row "
    f"it stands against, or than {NOTABLE:g}. Not judged: a row below 15% accuracy, which is at chance; a row expected "
    f"small whose accuracy is over {100 * BEHIND:g} points below that of the soft row, which has hardly learned; a row "
    "expected none with one expert or code left, where there is nothing to choose. Gaps are points of accuracy, or "
    "percent of the method's loss (codebooks)."
)


@dataclass(frozen=True)
class SystemVerdict:
    """A row with its measurements, one of each a seed.

    gaps: at the end of training; peaks: the largest in it, none where the row is not deployed hard.
    """

    row: SystemRow
    method: list[float]
    deployed: list[float]
    gaps: list[float]
    peaks: list[float]
    confidence: list[float]
    dead: list[int]
    choices: int
    holds: bool
    behind: bool = False

    @property
    def judged(self) -> bool:
        """Whether its gap says anything: it has learned, is not far behind its soft row, and has a choice left."""
        return self.learned and not self.behind and not self.trivial

    @property
    def trivial(self) -> bool:
        """Whether one expert or code is left in some seed, so that there is nothing to choose."""
        return self.row.expected == "none" and any(dead >= self.choices - 1 for dead in self.dead)

    @property
    def unjudged(self) -> str:
        """Why it is not judged, in two or three words; nothing if it is."""
        if not self.learned:
            return "at chance"
        return "hardly learned" if self.behind else "one expert left" if self.trivial else ""

    @property
    def system(self) -> str:
        return RUNS[self.row.run].system

    @property
    def metric(self) -> str:
        return SYSTEMS[self.system].metric

    @property
    def learned(self) -> bool:
        """Whether one of the two passes is better than chance by AT_CHANCE; a gap between two guesses says nothing."""
        return self.metric != "accuracy" or max(mean(self.method), mean(self.deployed)) >= AT_CHANCE


def check_result(result: Result) -> None:
    """Raises HardwireError if a stored result is not one that a run of the catalog can have."""
    config, values = result.config, result.measurements
    whole(0)("seed", config["seed"])
    if config["run"] not in RUNS:
        raise unknown_name("run", config["run"], RUNS)
    for record in result.records:
        for name in ("method", "deploy"):
            check_number(name, record.get(name))
    needed = {_deployed_name(row) for row in ROWS if row.run == config["run"]}
    for name in ("gap.method", "confidence", *needed):
        check_number(name, values.get(name))
    for name in ("dead", "choices"):
        check_number(name, values.get(name), 0, MOST)


def judge(results: Iterable[Result]) -> list[SystemVerdict]:
    """A verdict for every row whose run has results; a small row without the row it stands against is an error."""
    by_run: dict[str, list[Result]] = {}
    for result in sorted(results, key=lambda result: result.config.whole("seed")):
        by_run.setdefault(result.config.text("run"), []).append(result)
    gaps = {row: [_gap(result, row) for result in by_run[row.run]] for row in ROWS if row.run in by_run}
    return [_verdict(row, by_run, gaps) for row in gaps]


def _gap(result: Result, row: SystemRow) -> float:
    return _difference(row, result.measurements["gap.method"], _deployed(result, row))


def _peak(result: Result, row: SystemRow) -> float:
    """The largest gap by size, deployed hard, at any point of training."""
    return max((_difference(row, point["method"], point["deploy"]) for point in result.records), key=abs)


def _difference(row: SystemRow, method: float, deployed: float) -> float:
    accuracy = SYSTEMS[RUNS[row.run].system].metric == "accuracy"
    return 100 * (method - deployed) if accuracy else 100 * (deployed - method) / method


def _deployed(result: Result, row: SystemRow) -> float:
    return result.measurements[_deployed_name(row)]


def _deployed_name(row: SystemRow) -> str:
    return "deployed" if row.deployed == "hard" else f"deployed_{row.deployed}"


def _verdict(row: SystemRow, by_run: dict[str, list[Result]], gaps: dict[SystemRow, list[float]]) -> SystemVerdict:
    results = by_run[row.run]
    measured = [result.measurements for result in results]
    return SystemVerdict(
        row,
        [values["gap.method"] for values in measured],
        [_deployed(result, row) for result in results],
        gaps[row],
        [_peak(result, row) for result in results] if row.deployed == "hard" else [],
        [values["confidence"] for values in measured],
        [int(values["dead"]) for values in measured],
        int(measured[0]["choices"]),
        _holds(row, gaps),
        _behind(row, by_run),
    )


def _behind(row: SystemRow, by_run: dict[str, list[Result]]) -> bool:
    """Whether the better pass of a sampled row is far below that of the soft row it stands against."""
    if row.expected != "small" or SYSTEMS[RUNS[row.run].system].metric != "accuracy" or row.against not in by_run:
        return False
    own, soft = (
        max(mean(result.measurements[name] for result in by_run[run]) for name in ("gap.method", "deployed"))
        for run in (row.run, row.against)
    )
    return own < soft - BEHIND


def _holds(row: SystemRow, gaps: dict[SystemRow, list[float]]) -> bool:
    own = gaps[row]
    if row.expected == "none":
        return all(gap == 0 for gap in own)
    if row.expected == "gap":
        return mean(own) >= NOTABLE and min(own) > 0
    soft = [values for other, values in gaps.items() if other.run == row.against]
    if not soft:
        raise HardwireError(f"{row.run} is judged against {row.against}, which has no results; run it as well")
    return abs(mean(own)) < max(mean(soft[0]) / 2, NOTABLE)
