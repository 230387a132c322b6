"""Training a network as some settings say: learning rates, schedule, augmentation and redrawn wires around `fit`."""

import copy
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from hardwire import data as datasets
from hardwire.data.dataset import Dataset
from hardwire.errors import HardwireError
from hardwire.network import LogicNetwork
from hardwire.training.adam import Adam
from hardwire.training.area import AreaPrice
from hardwire.training.arguments import whole_steps
from hardwire.training.build import build
from hardwire.training.callbacks import Callback
from hardwire.training.choosing import SavedTrials, check_choose, choose_layers, freeze_layer, trial_checkpoint
from hardwire.training.curriculum import curriculum
from hardwire.training.fit import fit
from hardwire.training.forecast import EVALUATE_EVERY, Forecast
from hardwire.training.history import History
from hardwire.training.loops import Loop, check_loop, rates_for, shortened
from hardwire.training.progress import is_shown
from hardwire.training.redraw import RedrawWires
from hardwire.training.schedules import make_schedule

if TYPE_CHECKING:
    from hardwire.training.settings import Settings


def train_network(
    settings: "Settings", net: LogicNetwork, data: Dataset, *, callbacks: Sequence[Callback] = (), **options: Any
) -> History:
    """Trains a network; options: further arguments of `fit`, which go before what the settings say."""
    given: dict[str, Any] = {
        "evaluate_every": settings.evaluate_every,
        "epochs": settings.epochs,
        "accumulate": settings.accumulate,
        "seed": settings.seed,
        "validation": settings.validation,
        "stop_early": settings.stop_early,
        "keep_best": settings.keep_best,
        "scheduler": _schedule(settings, data),
    }
    training = augmented(settings, data)
    if settings.choose is not None:
        choose_by_settings(settings, net, training, given | options)
    history = _fit(settings, net, training, callbacks, given | options)
    remove_trials(settings, net, options.get("checkpoint"))
    return history


def _fit(
    settings: "Settings", net: LogicNetwork, data: Dataset, callbacks: Sequence[Callback], options: Mapping[str, Any]
) -> History:
    """The training itself, once layers are chosen; options: further arguments of `fit`."""
    if settings.redraw:
        redraw = build("redraw", RedrawWires, {"seed": settings.seed, **_mapping(settings.redraw)})
        callbacks = [redraw, *callbacks]
    if settings.area:
        callbacks = [build("area", AreaPrice, settings.area), *callbacks]
    loop = None if settings.loop is None else check_loop(settings.loop)
    if loop is not None and loop.curriculum:
        return _by_length(settings, loop, net, data, callbacks=callbacks, **options)
    optimizer = Adam(parameter_groups(net, settings.lr, settings.rates)) if settings.rates else None
    sizes = (settings.iterations, settings.batch_size, settings.lr)
    return fit(net, data, *sizes, callbacks=callbacks, **{"optimizer": optimizer, **options})


def forecast_seconds(settings: "Settings", net: LogicNetwork, data: Dataset, options: Mapping[str, Any]) -> float:
    """How long the training of a network will take, without the choice of its layers."""
    every = options.get("evaluate_every")
    forecast = Forecast(evaluations=(settings.iterations or 0) // every if every else 0)
    own = {"evaluate_every": EVALUATE_EVERY, "progress": False}
    without = {"checkpoint": None, "stop_early": None, "keep_best": False}
    _fit(settings, copy.deepcopy(net), data, [forecast], {**options, **own, **without})
    return forecast.seconds


def _by_length(settings: "Settings", loop: Loop, net: LogicNetwork, data: Dataset, **options: Any) -> History:
    """Trains a loop on shorter sequences first; the history is that of the whole length."""
    del options["epochs"]
    steps = loop.steps_in(data)
    lengths = loop.lengths(steps)
    trained = curriculum(
        net,
        partial(shortened, data, steps),
        lengths,
        settings.iterations or 1,
        lr=rates_for(settings.lr, lengths),
        batch_size=settings.batch_size,
        **options,
    )
    return trained.histories[steps]


def augmented(settings: "Settings", data: Dataset) -> Dataset:
    """The dataset as training reads it."""
    return build("augment", partial(datasets.augment, data), settings.augment) if settings.augment else data


def choose_by_settings(settings: "Settings", net: LogicNetwork, data: Dataset, options: Mapping[str, Any]) -> None:
    """Chooses layers by use before the training, and freezes them.

    A run that is resumed finds the chosen layers in its checkpoint; while it was still choosing there was none, and
    trials have checkpoints of their own.
    """
    choose = check_choose(settings.choose)
    numbers, saved = (
        choose.numbers(list(net.layers)),
        SavedTrials(options.get("checkpoint"), options.get("resume", True)),
    )
    for number in numbers:
        freeze_layer(net.layers[number])
    if saved.checkpoint is not None and saved.resume and Path(saved.checkpoint).expanduser().exists():
        return
    progress = options.get("progress")
    chosen = choose_layers(
        list(net.layers), data, choose, saved, batch_size=settings.batch_size, lr=settings.lr, seed=settings.seed,
        validation=options.get("validation"), engine=settings.engine, progress=progress,
        after=forecast_seconds(settings, net, data, options) if is_shown(progress) else 0.0,
    )  # fmt: skip
    for number in numbers:
        state = chosen.layers[number].state_dict()
        layer = net.layers[number]
        layer.load_state_dict({name: state[name] for name in layer.state_dict()})


def remove_trials(settings: "Settings", net: LogicNetwork, checkpoint: Any) -> None:
    """Deletes the checkpoints of finished trials."""
    if settings.choose is None or checkpoint is None:
        return
    for number in check_choose(settings.choose).numbers(list(net.layers)):
        trial_checkpoint(checkpoint, number).unlink(missing_ok=True)


def parameter_groups(net: LogicNetwork, lr: float, rates: Any) -> list[dict[str, Any]]:
    """Groups parameters by learning rate: each gets the rate of the longest entry that its name contains, or `lr`.

    Parameters with a rate of 0 are frozen, so that no time goes into their gradients.
    """
    groups: dict[float, list[torch.nn.Parameter]] = {}
    for name, parameter in net.named_parameters():
        entry = max((key for key in rates if key in name), key=len, default=None)
        rate = lr if entry is None else rates[entry]
        if rate == 0:
            parameter.requires_grad_(False)
        elif parameter.requires_grad:
            groups.setdefault(rate, []).append(parameter)
    if not groups:
        raise HardwireError(
            "all learning rates are 0, so nothing would be trained; give a layer that learns a rate above 0"
        )
    return [{"params": parameters, "lr": rate} for rate, parameters in groups.items()]


def _schedule(settings: "Settings", data: Dataset) -> Any:
    """A function that makes the scheduler, or None for constant learning rates."""
    steps = settings.iterations
    if steps is None:
        rows = len(data.with_validation().train if settings.validation else data.train)
        steps = whole_steps((settings.epochs or 1) * rows / settings.batch_size / settings.accumulate)
    return make_schedule(settings.schedule, steps)


def _mapping(redraw: Any) -> dict[str, Any]:
    return {"every": redraw} if isinstance(redraw, int) else dict(redraw)
