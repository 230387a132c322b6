"""How a run that trains by `fit` tells its study how it gets on."""

from typing import Any

from hardwire.study.kinds import Job
from hardwire.training import Callback, Record, Run


class Teller(Callback):
    """Tells after each evaluation, and at the start of a run that goes on.

    limit: of a run that time ends, its seconds; it is told of how many iterations it will have at its speed so far.
    """

    def __init__(self, job: Job, limit: float | None = None):
        self.tell, self.limit = job.tell, limit

    def on_start(self, run: Run) -> None:
        if run.iteration:
            self.tell(run.iteration, self._iterations(run), {})

    def on_evaluation(self, run: Run, record: Record) -> None:
        self.tell(run.iteration, self._iterations(run), plain(record))

    def _iterations(self, run: Run) -> int:
        if self.limit is None or not run.seconds:
            return run.iterations
        expected = round(run.iteration * self.limit / run.seconds)
        return min(run.iterations, max(run.iteration, expected))  # the last evaluation is a little late


def plain(record: Record) -> dict[str, Any]:
    """A record as JSON knows it."""
    return dict(vars(record))
