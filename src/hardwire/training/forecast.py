"""`Forecast`: how long a training will take, from some of its own steps on a copy of the network.

A run with layers chosen by use trains several networks one after another, so the speed of the one that trains now says
little about the time left. Surprising: a forecast makes real steps, with the optimizer and redrawn wires, since these
may take longer than the network itself; what they change is thrown away.
"""

import time

from hardwire.training.callbacks import Callback, TrainingRun
from hardwire.training.history import Record

_WARM_UP = 2  # steps that are not counted
_STEPS = 20  # with the last of which wires are redrawn, where that happens every 20 steps
_SECONDS = 10.0  # after which fewer steps have to do


class Forecast(Callback):
    """Stops a run after a few steps and says how long it would have taken; the last callback of the run.

    Args:
        evaluations: How often the run would have been evaluated.
    """

    def __init__(self, evaluations: int):
        self.evaluations, self.seconds = evaluations, 0.0
        self._times: list[float] = []

    def on_step(self, run: TrainingRun) -> None:
        self._times.append(time.monotonic())
        counted, passed = len(self._times) - _WARM_UP, self._times[-1] - self._times[0]
        run.stop = counted >= _STEPS or (counted > 0 and passed > _SECONDS)

    def on_evaluation(self, run: TrainingRun, record: Record) -> None:
        now, counted = time.monotonic(), self._times[_WARM_UP - 1 :]
        if len(counted) > 1:
            step = (counted[-1] - counted[0]) / (len(counted) - 1)
            self.seconds = step * run.iterations + (now - counted[-1]) * self.evaluations
