"""How a run that trains with `fit` reports its progress to its study."""

from typing import Any

from hardwire.study.kinds import StudyJob
from hardwire.training import Callback, Record, TrainingRun


class ProgressCallback(Callback):
    """Reports after each evaluation, and at the start of a run that is continued.

    Args:
        job: The run.
        limit: Seconds of a run that ends by time. Its number of iterations is then extrapolated from its speed.
    """

    def __init__(self, job: StudyJob, limit: float | None = None):
        self.report, self.limit = job.report_progress, limit

    def on_start(self, run: TrainingRun) -> None:
        if run.iteration:
            self.report(run.iteration, self._iterations(run), {})

    def on_evaluation(self, run: TrainingRun, record: Record) -> None:
        self.report(run.iteration, self._iterations(run), record_dict(record))

    def _iterations(self, run: TrainingRun) -> int:
        if self.limit is None or not run.seconds:
            return run.iterations
        expected = round(run.iteration * self.limit / run.seconds)
        return min(run.iterations, max(run.iteration, expected))  # the last evaluation is a little late


def record_dict(record: Record) -> dict[str, Any]:
    """Returns a record as a dictionary for JSON."""
    return dict(vars(record))
