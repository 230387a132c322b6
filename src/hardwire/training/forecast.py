"""`Forecast`: how long a training will take, from some of its own steps on a copy of the network.

A run with layers chosen by use trains several networks one after another, so the speed of the one that trains now says
little about the time left. Surprising: a forecast makes real steps, with the optimizer and redrawn wires, since these
may take longer than the network itself; what they change is thrown away.
"""

import time

from hardwire.training.callbacks import Callback, TrainingRun
from hardwire.training.history import Record

WARM_UP = 2  # steps that are not counted
STEPS = 20  # with the last of which wires are redrawn, where that happens every 20 steps
EVALUATE_EVERY = (WARM_UP + STEPS) // 2  # the second evaluation counts: the first reads rows that later ones find ready
_SECONDS = 10.0  # after which fewer steps have to do


class Forecast(Callback):
    """Stops a run after a few steps and says how long it would have taken; the last callback of the run.

    Args:
        evaluations: How often the run would have been evaluated.
    """

    def __init__(self, evaluations: int):
        self.evaluations, self.seconds = evaluations, 0.0
        self._steps: list[float] = []

    def on_start(self, run: TrainingRun) -> None:
        self._started = self._last = time.monotonic()

    def on_step(self, run: TrainingRun) -> None:
        self._steps.append(self._since_last())
        counted = len(self._steps) - WARM_UP
        run.stop = counted >= STEPS or (counted > 0 and self._last - self._started > _SECONDS)

    def on_evaluation(self, run: TrainingRun, record: Record) -> None:
        evaluation, counted = self._since_last(), self._steps[WARM_UP:]
        self.seconds = sum(counted) / max(1, len(counted)) * run.iterations + evaluation * self.evaluations

    def _since_last(self) -> float:
        before, self._last = self._last, time.monotonic()
        return self._last - before
