"""Between recipes, which are files, and `Settings`, which a run is made of."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from hardwire.errors import HardwireError
from hardwire.recipes import Recipe
from hardwire.training.settings import Settings

EVALUATIONS = 20  # of a run
_NETWORK = ("width", "depth", "widths", "arity", "method", "tau", "cage", "wiring", "candidates", "start")
_SIZES = ("width", "depth", "widths")
_NOT_NAMED = ("seed", "engine", "evaluate_every")  # the name of a model file has the seed, and does not need the others


def settings_of(recipe: Recipe, dataset: str | None = None, **given: Any) -> Settings:
    """The settings of a recipe.

    Args:
        recipe: The recipe.
        dataset: Train on this dataset instead of the recipe's.
        **given: Settings to replace, by the names of `Settings`; None counts as not given.

    Returns:
        The settings. Their `recipe` is the name of the recipe, with a digest of what was replaced.
    """
    given = {name: value for name, value in given.items() if value is not None}
    own = _own_settings(recipe)
    if any(name in given for name in _SIZES):
        own = {name: value for name, value in own.items() if name not in (*_SIZES, "layers", "choose")}
    if "epochs" in given:
        own.pop("iterations")
    if "tau" in given or given.get("cage") is False:
        own["method"] = str(own.get("method", "hard-st")).removesuffix("+cage")
    if given.get("wiring", own["wiring"]) != own["wiring"]:
        own = {name: value for name, value in own.items() if name not in ("candidates", "redraw", "options")}
    changed = {name: value for name, value in given.items() if name not in _NOT_NAMED}
    changed |= {} if dataset in (None, recipe.data) else {"dataset": dataset}
    name = recipe.name + (f"-{_digest(changed)}" if changed else "")
    return Settings(**{"dataset": dataset or recipe.data, **own, "recipe": name, **given})


def _own_settings(recipe: Recipe) -> dict[str, Any]:
    """The entries of a recipe by the names of `Settings`."""
    options = dict(recipe.network)
    own = {name: options.pop(name) for name in _NETWORK if name in options}
    return {
        "iterations": recipe.iterations,
        "batch_size": recipe.batch_size,
        "lr": recipe.rates["all"],
        "rates": {name: rate for name, rate in recipe.rates.items() if name != "all"},
        "schedule": "cooldown" if recipe.cooldown else "cosine" if recipe.decay else "constant",
        "layers": tuple(recipe.layers),
        "augment": recipe.augment,
        "redraw": recipe.redraw or None,
        "area": recipe.area or None,
        "choose": recipe.choose or None,
        "loop": recipe.loop or None,
        "evaluate_every": max(1, recipe.iterations // EVALUATIONS),
        "wiring": "random",
        "options": options,
        "seed": recipe.seed,
        **own,
    }


def recipe_of(settings: Settings, classes: int, name: str = "settings") -> Recipe:
    """Settings as a recipe for so many classes, so that they can be written to a file and trained with again."""
    if settings.iterations is None:
        raise HardwireError("a recipe counts iterations; give those instead of epochs")
    left_out = ("wiring", "start", "candidates", "arity") if settings.layers else ()
    values = {part: getattr(settings, part) for part in _NETWORK if part not in (*left_out, "cage")}
    sizes = {} if settings.layers or settings.widths or settings.width else {"widths": settings.sizes(classes)}
    network = {part: value for part, value in values.items() if value is not None} | sizes | dict(settings.options)
    return Recipe(
        name=name,
        title=f"settings for {settings.dataset}",
        data=settings.dataset,
        iterations=settings.iterations,
        batch_size=settings.batch_size,
        rates={"all": settings.lr, **settings.rates},
        network={part: list(value) if isinstance(value, tuple) else value for part, value in network.items()},
        layers=[dict(layer) for layer in settings.layers],
        decay=settings.schedule != "constant",
        cooldown=settings.schedule == "cooldown",
        augment=dict(settings.augment),
        redraw=_redraw(settings.redraw),
        area=dict(settings.area or {}),
        choose=dict(settings.choose or {}),
        loop=dict(settings.loop or {}),
        seed=settings.seed,
    )


def _redraw(redraw: Mapping[str, Any] | int | None) -> dict[str, Any]:
    return {"every": redraw} if isinstance(redraw, int) else dict(redraw or {})


def _digest(changed: Mapping[str, Any]) -> str:
    """Six digits that tell apart what was changed in a recipe."""
    return hashlib.blake2b(json.dumps(changed, sort_keys=True).encode(), digest_size=3).hexdigest()
