"""The kind of run `systems`: choices other than gates, on the same selection core, trained and measured the same way.

The paper lists such systems in its table of domains and leaves the test as future work. `catalog` has the models and
what is expected of each row, `train` a run, `verdicts` the results.
"""

from typing import TYPE_CHECKING, ClassVar

from hardwire.study.checks import one_of, whole
from hardwire.study.config import Config
from hardwire.study.kinds import Axis, Cost, Evaluation, Outcome, StudyJob
from hardwire_paper.kind import PaperKind

if TYPE_CHECKING:
    from hardwire.study.store import Result


def _runs() -> dict[str, object]:
    from hardwire_paper.systems.catalog import RUNS

    return dict(RUNS)


class SystemsKind(PaperKind):
    """Choices beyond gates. `run` is a name in the catalog; `iterations` replaces the system's own number."""

    name = "systems"
    axes = (
        Axis("seed", "seeds", whole(0)),
        Axis("iterations", "iterations", whole(1), None, shown=False),
        Axis("run", "runs", one_of("run", _runs)),
    )
    presets: ClassVar[dict[str, str]] = {"systems": "architecture search, experts and codebooks"}
    sources: tuple[str, ...] = (
        "hardwire.data",
        "hardwire.layers",
        "hardwire.measure",
        "hardwire.methods",
        "hardwire.noise",
        "hardwire.randomness",
        "hardwire.selection",
        "hardwire.systems",
        "hardwire.temperature",
        "hardwire.training",
        "hardwire_paper.progress",
        "hardwire_paper.systems.catalog",
        "hardwire_paper.systems.train",
        "hardwire_paper.systems.two_levels",
    )

    def check_result(self, result: "Result") -> None:
        from hardwire_paper.systems.verdicts import check_result

        check_result(result)

    def run(self, job: StudyJob) -> Outcome:
        from hardwire_paper.systems.train import run

        return run(job)

    def estimate(self, config: Config, threads: int) -> Cost:
        from hardwire_paper.systems.train import estimate

        return estimate(config, threads)

    def summary(self, record: Evaluation) -> str:
        return f"method {record['method']:.4f}, deployed {record['deploy']:.4f}"

    def label(self, config: Config) -> str:
        return f"{config['run']} seed {config['seed']}"
