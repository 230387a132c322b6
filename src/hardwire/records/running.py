"""Running recipes: `try_recipe` on validation rows while settings are chosen, `run_recipe` for a row of the board.

Trying takes the validation rows out of training and never reads the test set. Running trains on all training rows with
the settings as they are, and reads the test set once, at the end.
"""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from hardwire.circuit import Circuit
from hardwire.engine.functions import Fixed
from hardwire.files import write_whole
from hardwire.gates import algebra
from hardwire.measure import measure_gap
from hardwire.network import LogicNetwork
from hardwire.recipes import Recipe
from hardwire.training import History
from hardwire.training.recipe_settings import settings_of
from hardwire.training.run_settings import train_network

_COPY = Fixed.of_gate(algebra.A)


def try_recipe(recipe: Recipe, **options: Any) -> History:
    """Trains a recipe without the validation rows and measures it on them; the test set is not read.

    Args:
        recipe: The recipe.
        options: Further arguments of `hw.fit`, such as `progress=True`.

    Returns:
        The history, measured on the validation rows.

    Example:
        >>> import hardwire as hw
        >>> recipe = hw.recipes.load("mnist-8k", data="digits", iterations=20)
        >>> hw.records.try_recipe(recipe).split
        'validation'
    """
    settings = settings_of(recipe)
    dataset = settings.load()
    return train_network(settings, settings.network(dataset), dataset, **{"validation": True} | options)


def run_recipe(
    recipe: Recipe,
    out: str | Path,
    *,
    luts: bool = True,
    report: Callable[[str], object] = lambda line: None,
    **options: Any,
) -> dict[str, Any]:
    """Makes a row of the board: trains on all training rows, reads the test set once, and counts the gates.

    Args:
        recipe: The recipe.
        out: Folder for the circuit, the result and, while it runs, the checkpoint that a repeated call resumes.
        luts: Whether look-up tables are counted, which takes minutes for a large circuit; else they are null.
        report: Called with the accuracy before look-up tables are counted.
        options: Further arguments of `hw.fit`.

    Returns:
        The result as JSON values: recipe, accuracy in percent, minutes, gates, look-up tables in all and by part.

    Example:
        >>> import hardwire as hw
        >>> recipe = hw.recipes.load("mnist-8k")
        >>> hw.records.run_recipe(recipe, "records")  # doctest: +SKIP
    """
    folder = Path(out).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    settings = settings_of(recipe)
    dataset = settings.load()
    net = settings.network(dataset)
    # measured on training rows during the run: the test set is read once, below
    own: dict[str, Any] = {"validation": dataset.validation, "checkpoint": folder / f"{recipe.name}.checkpoint"}
    history = train_network(settings, net, dataset, **own | options)
    accuracy = 100 * measure_gap(net, dataset.test).deploy
    report(f"test accuracy {accuracy:.2f}%" + ("; counting look-up tables" if luts else ""))
    circuit = Circuit.from_network(net).simplify()
    circuit.save(folder / f"{recipe.name}.circuit")
    result = {
        "recipe": asdict(recipe),
        "accuracy": accuracy,
        "minutes": round(history.final.seconds / 60, 1),
        "threads": torch.get_num_threads(),
        "command": f"hardwire records run {recipe.name}",
        "gates": count_gates(net),
        "simplified": circuit.netlist.size,
        "luts": None,
        "luts_whole": None,
        "luts_by_part": None,
    }
    path = folder / f"{recipe.name}.json"
    _write(path, result)  # before the look-up tables are counted, which may take an hour
    if luts:
        result |= count_luts(circuit)
        _write(path, result)
    return result


def count_gates(net: LogicNetwork) -> int:
    """Neurons before simplification, without copies of what a level before has computed, which are wires."""
    levels = [part.level for part in net.parts()]
    return sum(level.neurons for level in levels if level.function != _COPY)


def count_luts(circuit: Circuit) -> dict[str, Any]:
    """6-input look-up tables of the gates, of the whole circuit, and of each part: encoder, gates, sums and argmax."""
    from hardwire.circuit.estimate import estimate

    parts = {row.part: row.luts for row in estimate(circuit)}
    whole = parts.pop("all")
    return {"luts": parts[circuit.netlist.made_of], "luts_whole": whole, "luts_by_part": parts}


def _write(path: Path, result: dict[str, Any]) -> None:
    write_whole(path, json.dumps(result, indent=1) + "\n")
