"""Recipes: all that makes a row of the board, as data; how one is tried on validation rows, and how it is run for good.

Trying holds the validation rows out of training and never looks at the test set. Running trains on all of train with
the settings as they stand and reads the test set once, at the end. Surprising: nothing in a recipe can name the test
set.
"""

import inspect
import json
import tomllib
from collections.abc import Callable
from dataclasses import MISSING, asdict, dataclass, field, fields
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LRScheduler

from hardwire import data as datasets
from hardwire.circuit import Circuit
from hardwire.data.dataset import Dataset
from hardwire.errors import HardwireError, unknown_name
from hardwire.files import write_whole
from hardwire.layers import LAYERS, GateLayer
from hardwire.measure import measure_gap
from hardwire.network import LogicNetwork
from hardwire.training import History, RedrawWires, fit

Made = TypeVar("Made")
_FOLDER = files("hardwire.records") / "recipes"


@dataclass(frozen=True)
class Recipe:
    """How a row is made.

    data: a dataset's name, with its thresholds. network: arguments of LogicNetwork, or `layers`, each with a kind and
    arguments. rates: learning rates, of all parameters ("all"), or by the beginning of their names. decay: whether the
    rates fall along half a cosine to zero. augment: arguments of `hw.data.augment`. redraw: of `hw.RedrawWires`.
    """

    name: str
    title: str
    data: str
    iterations: int
    batch_size: int
    rates: dict[str, float]
    network: dict[str, Any] = field(default_factory=dict)
    layers: list[dict[str, Any]] = field(default_factory=list)
    decay: bool = True
    augment: dict[str, Any] = field(default_factory=dict)
    redraw: dict[str, Any] = field(default_factory=dict)
    seed: int = 0


def recipe_names() -> list[str]:
    """The recipes that come with the package."""
    return sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))


def load_recipe(name: str, **changes: Any) -> Recipe:
    """A recipe by name or by the path of a TOML file, with some of its entries changed."""
    path = Path(name)
    if path.suffix == ".toml":
        if not path.exists():
            raise HardwireError(f"there is no file {path}")
        text, name = path.read_text(), path.stem
    elif name in recipe_names():
        text = (_FOLDER / f"{name}.toml").read_text()
    else:
        raise unknown_name("recipe", name, (*recipe_names(), "a path to a .toml file"))
    try:
        entries = {"name": name, **tomllib.loads(text), **changes}
    except tomllib.TOMLDecodeError as error:
        raise HardwireError(f"the recipe {name} cannot be read: {error}") from None
    known = {entry.name: entry for entry in fields(Recipe)}
    for entry in entries:
        if entry not in known:
            raise unknown_name("entry of a recipe", entry, known)
    needed = [entry for entry, about in known.items() if about.default is MISSING and about.default_factory is MISSING]
    if missing := [entry for entry in needed if entry not in entries]:
        raise HardwireError(f"the recipe {name} lacks {', '.join(missing)}; it needs {', '.join(needed[1:])}")
    return Recipe(**entries)


def build(recipe: Recipe, dataset: Dataset) -> LogicNetwork:
    """The network of a recipe for its data."""
    common: dict[str, Any] = {"classes": dataset.classes, "encoder": dataset.encoder, "seed": recipe.seed}
    layers = [_layer(number, entry, recipe.seed) for number, entry in enumerate(recipe.layers)]
    body = {"layers": layers} if layers else {"inputs": dataset.inputs}
    return _made("network", LogicNetwork, common | body | recipe.network)


def _made(entry: str, make: Callable[..., Made], arguments: dict[str, Any]) -> Made:
    """What the arguments of an entry make; names that do not fit are a mistake in the recipe."""
    try:
        inspect.signature(make).bind(**arguments)
    except TypeError as error:
        raise HardwireError(f"the recipe's {entry} cannot be: {error}") from None
    return make(**arguments)


def _layer(number: int, entry: dict[str, Any], seed: int) -> GateLayer:
    arguments = dict(entry)
    kind = arguments.pop("kind", None)
    if kind not in LAYERS:
        raise unknown_name("kind of layer", kind, LAYERS)
    if LAYERS[kind].learns:
        arguments.setdefault("seed", seed * 1009 + number)
    return _made(f"layer {number}, {kind}", LAYERS[kind], arguments)


def try_recipe(recipe: Recipe, **options: Any) -> History:
    """Trains without the validation rows and measures on them; the test set stays closed."""
    dataset = _dataset(recipe).with_validation()
    return _train(build(recipe, dataset), dataset, recipe, validation=True, **options)


def run_recipe(
    recipe: Recipe, out: str | Path, *, say: Callable[[str], object] = lambda line: None, **options: Any
) -> dict[str, Any]:
    """Trains on all of train, reads the test set once, counts the gates, and writes model, circuit and result to
    `out`. say: told the accuracy before the counting, which takes minutes for a large circuit.
    """
    folder = Path(out).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    dataset = _dataset(recipe)
    net = build(recipe, dataset)
    # measured on training rows on the way: the test set is read once, below
    history = _train(
        net, dataset, recipe, validation=dataset.validation, checkpoint=folder / f"{recipe.name}.checkpoint", **options
    )
    accuracy = 100 * measure_gap(net, dataset.test).deploy
    say(f"test accuracy {accuracy:.2f}%; counting look-up tables")
    circuit = Circuit.from_network(net).simplify()
    circuit.save(folder / f"{recipe.name}.hwc")
    result = {
        "recipe": asdict(recipe),
        "accuracy": accuracy,
        "minutes": round(history.final.seconds / 60, 1),
        "threads": torch.get_num_threads(),
        "command": f"hardwire records run {recipe.name}",
        "gates": sum(part.level.neurons for part in net.parts()),
        "simplified": len(circuit.netlist.gate),
        "luts": None,
        "luts_whole": None,
    }
    path = folder / f"{recipe.name}.json"
    _write(path, result)  # before the tables are counted, which may take an hour
    result |= lookup_tables(circuit)
    _write(path, result)
    return result


def _write(path: Path, result: dict[str, Any]) -> None:
    write_whole(path, json.dumps(result, indent=1) + "\n")


def lookup_tables(circuit: Circuit) -> dict[str, int]:
    """6-input look-up tables of the gates, and of the whole with class sums, argmax and encoder."""
    from hardwire.circuit.estimate import estimate

    lines = estimate(circuit)
    return {"luts": lines[0].luts, "luts_whole": lines[-1].luts}


def _dataset(recipe: Recipe) -> Dataset:
    dataset = datasets.load(recipe.data)
    return _made("augment", partial(datasets.augment, dataset), recipe.augment) if recipe.augment else dataset


def _train(net: LogicNetwork, dataset: Dataset, recipe: Recipe, **options: Any) -> History:
    optimizer = torch.optim.Adam(parameter_groups(net, recipe.rates), fused=True)

    def scheduler(optimizer: torch.optim.Optimizer) -> LRScheduler:
        return CosineAnnealingLR(optimizer, recipe.iterations)

    every = options.pop("evaluate_every", max(1, recipe.iterations // 20))
    redraw = [_made("redraw", RedrawWires, {"seed": recipe.seed, **recipe.redraw})] if recipe.redraw else []
    return fit(
        net,
        dataset,
        recipe.iterations,
        recipe.batch_size,
        optimizer=optimizer,
        scheduler=scheduler if recipe.decay else None,
        evaluate_every=every,
        seed=recipe.seed,
        callbacks=[*redraw, *options.pop("callbacks", ())],
        **options,
    )


def parameter_groups(net: LogicNetwork, rates: dict[str, float]) -> list[dict[str, Any]]:
    """The parameters by learning rate: each takes the rate of the longest name that its own contains, else "all"."""
    if "all" not in rates:
        raise HardwireError('rates need an entry "all" for the parameters that no other entry names')
    groups: dict[float, list[torch.nn.Parameter]] = {}
    for name, parameter in net.named_parameters():
        named = max((key for key in rates if key in name), key=len, default="all")
        groups.setdefault(rates[named], []).append(parameter)
    return [{"params": parameters, "lr": rate} for rate, parameters in groups.items()]
