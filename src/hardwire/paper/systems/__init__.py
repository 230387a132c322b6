"""The kind of run `systems`: choices other than gates, on the same selection core, trained and measured the same way.

The paper lists them in its table of domains and leaves the test as future work. `catalog` has the models and what is
expected of each row, `train` a run, `verdicts` what came out of it.
"""

from hardwire.paper.kind import PaperKind
from hardwire.study.config import Config
from hardwire.study.description import one_of, whole
from hardwire.study.kinds import Axis, Cost, Job, Outcome, Record


def _runs() -> dict[str, object]:
    from hardwire.paper.systems.catalog import RUNS

    return dict(RUNS)


class SystemsKind(PaperKind):
    """run: a name out of the catalog; iterations: instead of the system's own."""

    name = "systems"
    axes = (
        Axis("seed", "seeds", whole(0)),
        Axis("iterations", "iterations", whole(1), None, shown=False),
        Axis("run", "runs", one_of("run", _runs)),
    )
    rooms: tuple[str, ...] = ("data", "layers", "measure", "noise", "selection", "systems", "temperature", "training")
    rooms += ("paper.systems.catalog", "paper.systems.train", "paper.systems.two_levels", "paper.telling")

    def run(self, job: Job) -> Outcome:
        from hardwire.paper.systems.train import run

        return run(job)

    def estimate(self, config: Config, threads: int) -> Cost:
        from hardwire.paper.systems.train import estimate

        return estimate(config, threads)

    def summary(self, record: Record) -> str:
        return f"method {record['method']:.4f}, deployed {record['deploy']:.4f}"

    def label(self, config: Config) -> str:
        return f"{config['run']} seed {config['seed']}"
