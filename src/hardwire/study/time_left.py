"""`TimeLeft`: how long a running study will still take.

The plan says how many seconds each run should take, and the runs so far say by what factor the plan was wrong.
Surprising: at the beginning the plan counts for more than the runs. Until the first runs have trained for a while,
most of the clock went into starting processes, and a study of two minutes looked like one of four hours.
"""

import time
from collections.abc import Callable

from hardwire.study.config import Config
from hardwire.study.coordinator import StudyProgress
from hardwire.study.plan import START, duration

_TRUST, _SHARE = 5.0, 0.02  # the plan counts as much as so many seconds of observed work, or that share of all
_LEAST = 5.0  # seconds of work to observe before anything is said without a plan


class TimeLeft:
    """Watches a study and extrapolates. clock: returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self.clock = clock
        self.started: dict[Config, float] = {}
        self.busy = 0.0  # seconds that runs took which are over, added up
        self.widest = 0  # the most runs at once so far

    def changed(self, study: StudyProgress) -> None:
        """To be called when runs may have started."""
        self.widest = max(self.widest, len(study.running))
        for config, _ in study.running.values():
            self.started.setdefault(config, self.clock())

    def ended(self, config: Config) -> None:
        """To be called when a run is over."""
        self.busy += self.clock() - self.started.pop(config, self.clock())

    def seconds(self, study: StudyProgress) -> float | None:
        """Returns the seconds left, or None if too little is known."""
        partly = sum(
            study.weight(config) * min(1.0, progress.iteration / progress.iterations)
            for config, progress in study.running.values()
            if progress is not None
        )
        expected = study.work_done + partly
        now = self.clock()
        running = {config for config, _ in study.running.values()}
        spent = self.busy + sum(now - begin for config, begin in self.started.items() if config in running)
        spent = max(0.0, spent - START * self.widest)  # of the processes' start, which comes once
        if study.weights:
            trust = max(_TRUST, _SHARE * (study.work_done + study.work_left))
            factor = (spent + trust) / (expected + trust)
        elif expected and spent >= _LEAST:
            factor = spent / expected
        else:
            return None
        at_once = max(1, min(self.widest, len(running) + study.waiting))
        return factor * (study.work_left - partly) / at_once

    def text(self, study: StudyProgress) -> str:
        """Returns the time left in words."""
        seconds = self.seconds(study)
        return "time left not known yet" if seconds is None else f"about {duration(seconds)} left"
