"""The time that a study says is left, against a clock of its own."""

import small_studies

from hardwire import study
from hardwire.study.time_left import TimeLeft
from hardwire.study.worker import RunProgress


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def watched(weight=2.0, **scale):
    """A study of twelve runs, two at once, with this plan for each; a clock and the watcher of it."""
    description = small_studies.small(seeds=[0, 1], **scale)
    weights = dict.fromkeys(description, weight) if weight else {}
    progress = study.StudyProgress(description.kind, len(description), weights)
    progress.work_left = sum(progress.weight(config) for config in description)
    clock = Clock()
    return description.configs, progress, clock, TimeLeft(clock)


def evaluated(progress, config, iteration, iterations=100):
    progress.running[str(config)] = (config, RunProgress(str(config), iteration, iterations, {"loss": 1.0}))


def start(progress, config):
    progress.running[str(config)] = (config, None)


def finish(progress, left, config):
    del progress.running[str(config)]
    progress.done += 1
    progress.work_done += progress.weight(config)
    progress.work_left -= progress.weight(config)
    left.ended(config)


def test_the_start_of_processes_does_not_make_a_study_of_seconds_one_of_hours():
    configs, progress, clock, left = watched()
    for config in configs[:2]:
        start(progress, config)
    left.changed(progress)
    clock.now = 8.0  # importing torch on a busy machine, and one percent of a run
    evaluated(progress, configs[0], 1)
    assert 6 <= left.seconds(progress) <= 60 and left.text(progress).endswith(" s left")


def test_runs_that_take_five_times_as_long_as_planned_are_believed_after_a_while():
    configs, progress, clock, left = watched()
    for first, second in zip(configs[::2], configs[1::2], strict=True):
        for config in (first, second):
            start(progress, config)
        left.changed(progress)
        clock.now += 10.0
        for config in (first, second):
            finish(progress, left, config)
        if progress.done == 8:
            assert 14 <= left.seconds(progress) <= 30  # 20 is right; the plan says 4
    assert left.seconds(progress) == 0.0


def test_without_a_plan_nothing_is_said_before_something_was_seen():
    configs, progress, clock, left = watched(weight=None)
    start(progress, configs[0])
    left.changed(progress)
    evaluated(progress, configs[0], 50)
    clock.now = 1.0
    assert left.text(progress) == "time left not known yet"
    clock.now = 23.0  # 3 of them for the start
    assert left.seconds(progress) == 40.0 * 11.5


def test_the_last_run_takes_as_long_as_those_before_it():
    configs, progress, clock, left = watched(weight=100.0)
    for config in configs[:11]:
        start(progress, config)
        left.changed(progress)
        clock.now += 100.0
        finish(progress, left, config)
    start(progress, configs[11])
    left.changed(progress)
    assert 90 <= left.seconds(progress) <= 110
