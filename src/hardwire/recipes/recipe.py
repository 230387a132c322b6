"""Recipes: the settings of a training run in a TOML file, by name or from a file of your own.

Each row of the board of records has one, and `hardwire train --recipe NAME` trains with it. A recipe may come from a
stranger: every entry is checked before anything is built. Surprising: nothing in a recipe can name the test set.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from importlib.resources import files
from pathlib import Path
from typing import Any

from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.files.toml import parse_toml, read_toml

_FOLDER = files("hardwire.recipes") / "toml"
_NAME = re.compile(r"\w[\w .+-]{0,99}")  # the name of the files that a recipe writes, so it holds no path
MOST = 10**9  # of any whole number in a recipe


@dataclass(frozen=True)
class Recipe:
    """The settings of a training run, as a TOML file writes them.

    Args:
        name: The name of the recipe and of the files it writes.
        title: One line that describes it.
        data: Name of the dataset, with its thresholds, such as "mnist@3".
        iterations: Training steps.
        batch_size: Rows per step.
        rates: Learning rates by part of a parameter's name; "all" for the rest.
        network: Arguments of `LogicNetwork`.
        layers: Layers instead of widths, each with its `kind` and arguments.
        decay: Whether the learning rates fall to zero, along half a cosine.
        cooldown: Whether they are constant for 60% of the steps and then fall, instead of the cosine.
        augment: Arguments of `hw.data.augment`.
        redraw: Arguments of `hw.RedrawWires`.
        area: Arguments of `hw.AreaPrice`.
        choose: Arguments of `hw.choose_by_use`: layers whose kernels or neurons are chosen before the training.
        loop: A loop over the steps of each row, such as {"state": 64}, whose cell the layers or widths are.
        seed: Seed of everything random.

    Raises:
        HardwireError: If an entry has the wrong type or is out of range.

    Example:
        >>> import hardwire as hw
        >>> recipe = hw.recipes.load("mnist-8k", iterations=100)
        >>> recipe.data, recipe.iterations
        ('mnist@3', 100)
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
    cooldown: bool = False
    augment: dict[str, Any] = field(default_factory=dict)
    redraw: dict[str, Any] = field(default_factory=dict)
    area: dict[str, Any] = field(default_factory=dict)
    choose: dict[str, Any] = field(default_factory=dict)
    loop: dict[str, Any] = field(default_factory=dict)
    seed: int = 0

    def text(self) -> str:
        """The recipe as TOML, which `load` reads back from a file."""
        entries = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        given = {name: value for name, value in entries.items() if value not in ({}, []) and name != "name"}
        tables = {name: given.pop(name, None) for name in ("network", "choose", "layers")}
        lines = [f"{name} = {_toml(value)}" for name, value in given.items()]
        plain = [(f"[{name}]", tables[name]) for name in ("network", "choose")]
        for name, table in [*plain, *(("[[layers]]", layer) for layer in self.layers)]:
            if table:
                lines += ["", name, *(f"{_key(key)} = {_toml(value)}" for key, value in table.items())]
        return "\n".join(lines) + "\n"

    def __post_init__(self) -> None:
        for name, kind in _TYPES.items():
            if not isinstance(getattr(self, name), kind):
                raise HardwireError(f"{name} is {_short(getattr(self, name))}; it must be {_WORDS[kind]}")
        if not _NAME.fullmatch(self.name):
            raise HardwireError(f"the name {_short(self.name)} cannot name files; use letters, digits, '-' and '.'")
        for name, least in (("iterations", 1), ("batch_size", 1), ("seed", 0)):
            if whole_number(name, getattr(self, name), least) > MOST:
                raise HardwireError(f"{name} is above {MOST:,}; use a smaller number")
        if not all(isinstance(layer, dict) for layer in self.layers):
            raise HardwireError("layers must be tables, each with a kind: [[layers]]")
        self._check_rates()

    def _check_rates(self) -> None:
        if "all" not in self.rates:
            raise HardwireError('rates need an entry "all" for the parameters that no other entry names')
        for name, rate in self.rates.items():
            if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 <= rate < 1e6:
                raise HardwireError(f"the learning rate of {_short(name)} is {_short(rate)}; use a number such as 0.01")


_TYPES: dict[str, type] = {
    **dict.fromkeys(("name", "title", "data"), str),
    **dict.fromkeys(("rates", "network", "augment", "redraw", "area", "choose", "loop"), dict),
    "layers": list,
    **dict.fromkeys(("decay", "cooldown"), bool),
}
_WORDS = {str: "text", dict: "a table", list: "a list of tables", bool: "true or false"}


def names() -> list[str]:
    """Lists the recipes that come with the package.

    Returns:
        Their names, sorted.

    Example:
        >>> import hardwire as hw
        >>> "mnist-8k" in hw.recipes.names()
        True
    """
    return sorted(entry.name.removesuffix(".toml") for entry in _FOLDER.iterdir() if entry.name.endswith(".toml"))


def load(name: str, **changes: Any) -> Recipe:
    """Loads a recipe.

    Args:
        name: One of `names()`, or the path of a TOML file.
        changes: Entries to replace, such as `iterations=1000`.

    Returns:
        The recipe.

    Raises:
        HardwireError: If there is no such recipe, or its file has a mistake.

    Example:
        >>> import hardwire as hw
        >>> hw.recipes.load("mnist-8k").data
        'mnist@3'
    """
    path = Path(name).expanduser()
    if path.suffix == ".toml":
        entries, name = read_toml(path), path.stem
    elif name in names():
        entries = parse_toml((_FOLDER / f"{name}.toml").read_bytes(), f"the recipe {name}")
    else:
        raise unknown_name("recipe", name, (*names(), "a path to a .toml file"))
    try:
        return _checked({"name": name, **entries, **changes})
    except HardwireError as error:
        raise HardwireError(f"the recipe {path if path.suffix else name}: {error}") from None


def _checked(entries: dict[str, Any]) -> Recipe:
    """The recipe of these entries, all of which must be known and all of which it needs must be there."""
    known = {entry.name: entry for entry in fields(Recipe)}
    for entry in entries:
        if entry not in known:
            raise unknown_name("entry of a recipe", entry[:80], known)
    needed = [entry for entry, about in known.items() if about.default is MISSING and about.default_factory is MISSING]
    if missing := [entry for entry in needed if entry not in entries]:
        raise HardwireError(f"it lacks {', '.join(missing)}; it needs {', '.join(needed[1:])}")
    return Recipe(**entries)


def _short(value: object) -> str:
    text = repr(value) if not isinstance(value, int) or abs(value) < 10**20 else "a very large number"
    return text if len(text) <= 80 else f"{text[:80]}..."


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name)


def _toml(value: Any) -> str:
    """A value as TOML writes it."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_toml(entry)}" for name, entry in value.items()) + " }"
    if isinstance(value, list | tuple):
        return f"[{', '.join(_toml(entry) for entry in value)}]"
    return json.dumps(value, ensure_ascii=False)  # text, numbers, true and false are written alike
