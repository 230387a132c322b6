"""How a run that trains by `fit` tells its study how it gets on."""

from typing import Any

from hardwire.study.kinds import Job
from hardwire.training import Callback, Record, Run


class Teller(Callback):
    """Tells after each evaluation, and at the start of a run that goes on."""

    def __init__(self, job: Job):
        self.tell = job.tell

    def on_start(self, run: Run) -> None:
        if run.iteration:
            self.tell(run.iteration, run.iterations, {})

    def on_evaluation(self, run: Run, record: Record) -> None:
        self.tell(run.iteration, run.iterations, plain(record))


def plain(record: Record) -> dict[str, Any]:
    """A record as JSON knows it."""
    return dict(vars(record))
