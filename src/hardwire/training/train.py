"""`train`: from a dataset to a trained network in one call, with the same defaults as `hardwire train`."""

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

from hardwire import models, recipes
from hardwire.data.dataset import Dataset
from hardwire.errors import HardwireError
from hardwire.network import LogicNetwork
from hardwire.training.callbacks import Callback
from hardwire.training.history import History
from hardwire.training.recipe_settings import settings_of
from hardwire.training.run_settings import train_network
from hardwire.training.settings import Settings


@dataclass(frozen=True)
class TrainedNetwork:
    """What `train` returns.

    Attributes:
        net: The trained network, ready for `hw.measure_gap`, `hw.save` and `hw.Circuit.from_network`.
        history: Every evaluation of the run.
        data: The dataset.
        settings: The settings, defaults included.

    Example:
        >>> trained = hw.train("digits", iterations=500)  # doctest: +SKIP
        >>> trained.history.final.deploy  # doctest: +SKIP
        0.9644
    """

    net: LogicNetwork
    history: History
    data: Dataset
    settings: Settings


def train(
    data: str | PathLike[str] | Dataset | None = None,
    *,
    recipe: str | None = None,
    out: str | PathLike[str] | None = None,
    callbacks: Sequence[Callback] = (),
    progress: bool | None = None,
    **settings: Any,
) -> TrainedNetwork:
    """Trains a network with the default settings for its data, or with those of a recipe.

    `hardwire train` has the same defaults, and checkpoints besides.

    Args:
        data: Name of a dataset, path of a file ("flowers.csv#species"), or a dataset. None: the recipe's.
        recipe: Name of a recipe (`hw.recipes.names()`), or path of a TOML file. None: the defaults for such
            data.
        out: Save the network to this file.
        callbacks: Callbacks of `hw.fit`.
        progress: Whether to show the progress; None: on a terminal only.
        **settings: Settings to replace, by the names of `hw.training.Settings`, such as `width=4000`.

    Returns:
        The network, its history, the data and the settings.

    Raises:
        HardwireError: If a name is unknown, or the settings contradict each other.

    Example:
        >>> import hardwire as hw
        >>> trained = hw.train("digits", width=200, iterations=50, seed=0)
        >>> trained.net.widths, len(trained.history) > 0
        ([200, 200], True)
        >>> circuit = hw.Circuit.from_network(trained.net).simplify()
    """
    given = data if isinstance(data, Dataset) or data is None else str(data)
    chosen = choose_settings(given, recipe, **settings)
    dataset = data if isinstance(data, Dataset) else chosen.load()
    chosen = chosen.completed(dataset)
    net = chosen.network(dataset)
    history = train_network(chosen, net, dataset, callbacks=callbacks, progress=progress)
    if out is not None:
        models.save(net, out, dataset=chosen.dataset)
    return TrainedNetwork(net, history, dataset, chosen)


def choose_settings(data: str | Dataset | None, recipe: str | None = None, **given: Any) -> Settings:
    """The settings of a run: those of a recipe, or else the defaults for its data, with some replaced."""
    if recipe is None:
        if data is None:
            raise HardwireError("name a dataset to train on, or a recipe")
        return Settings.for_dataset(data, **given)
    return settings_of(recipes.load(recipe), data.name if isinstance(data, Dataset) else data, **given)
