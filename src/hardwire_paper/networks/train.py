"""A run of the kind `network`: build, train with a checkpoint, and measure what the theory speaks about.

Surprising: a run that is limited by time counts the time of all its attempts, since its checkpoint holds it.
"""

import functools
import time

import numpy as np

import hardwire as hw
from hardwire.data import Dataset
from hardwire.data.dataset import SPLITS
from hardwire.study.config import Config
from hardwire.study.kinds import Outcome, StudyJob
from hardwire.training import Callback, TrainingRun
from hardwire_paper.measured import Measures, measure_initial, measure_trained
from hardwire_paper.networks import arguments, stream
from hardwire_paper.progress import ProgressCallback, record_dict

_ENDLESS = 1 << 40  # iterations of a run that time alone ends


def run(job: StudyJob) -> Outcome:
    """Does a run, or what its checkpoint leaves of it."""
    config = job.config
    data = load_data(config.text("dataset"))
    if config["validation"]:
        data = data.with_validation()
    net = build(config, data.inputs, data.classes)
    measurements = measure_initial(net, data)
    limit = 60 * config.number("minutes") if config["minutes"] else None
    history = hw.fit(
        net,
        data,
        config.whole("iterations") if config["iterations"] else _ENDLESS,
        config.whole("batch_size"),
        config.number("learning_rate"),
        config.whole("evaluate_every"),
        measures=Measures(data.train, data.held_out if config["validation"] else None),
        seed=stream(config),
        checkpoint=job.checkpoint,
        callbacks=[ProgressCallback(job, limit)] + ([TimeLimit(limit)] if limit else []),
        progress=False,
    )
    if job.keep:
        hw.save(net, job.keep, dataset=config.text("dataset"))
    records = [record_dict(record) for record in history.records]
    return Outcome(records, measurements | measure_trained(net, data), history.final.seconds)


def build(config: Config, inputs: int, classes: int) -> hw.LogicNetwork:
    return hw.LogicNetwork(
        inputs, classes, config.whole("width"), config.whole("depth"), seed=stream(config), **arguments(config)
    )


class TimeLimit(Callback):
    """Ends a run after so many seconds, those before a resumption included."""

    def __init__(self, seconds: float):
        self.seconds = seconds

    def on_start(self, run: TrainingRun) -> None:
        self.end = time.monotonic() + self.seconds - run.seconds
        self.on_step(run)

    def on_step(self, run: TrainingRun) -> None:
        run.stop = time.monotonic() >= self.end


@functools.lru_cache(maxsize=2)
def load_data(name: str) -> Dataset:
    """A dataset; the latest two stay in memory, since neighbours in a grid share them."""
    return hw.data.load(name)


def pixel_counts(name: str) -> list[list[float]]:
    """[value, how often it occurs] of the raw values of both splits, scaled to [0, 1]; empty where they are unknown."""
    from hardwire.data.catalog import ENTRIES, Images

    entry = ENTRIES.get(name)
    if not isinstance(entry, Images):
        return []
    raw = np.concatenate([load_data(name).raw(split) for split in SPLITS])
    values, counts = np.unique(raw, return_counts=True)
    return [[value / entry.maximum, count] for value, count in zip(values.tolist(), counts.tolist(), strict=True)]
