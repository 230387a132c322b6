"""A kind of run that waits to be told to go on, so that a test can catch it in the middle."""

import os
import time
from pathlib import Path

from hardwire import study
from hardwire.study.checks import whole


def _path(key: str, value: object) -> str:
    return str(value)


class Waiting(study.Kind):
    """Leaves a file started-SEED-PROCESS in its folder and ends when there is a file `go`."""

    name = "waiting"
    axes = (study.Axis("seed", "seeds", whole(0)), study.Axis("folder", "folder", _path))

    def run(self, job: study.StudyJob) -> study.Outcome:
        folder = Path(job.config.text("folder"))
        (folder / f"started-{job.config['seed']}-{os.getpid()}").touch()
        while not (folder / "go").exists():
            time.sleep(0.05)
        return study.Outcome([{"iteration": 1, "seed": job.config["seed"]}], {}, 0.0)

    def estimate(self, config: study.Config, threads: int) -> study.Cost:
        return study.Cost(1.0, 1e6, 1.0)
