"""The board of records: accuracy against gates, our rows next to the literature's, each of ours made by one command.

A row of ours is a recipe (see `hardwire.recipes`; settings chosen on validation rows) and its result
(`results/NAME.json`, written by `run_recipe`, which reads the test set once, at the end). The board needs no torch.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hardwire.records.board import BoardRow, board, literature, ours
from hardwire.records.drawing import figure

if TYPE_CHECKING:
    from hardwire.records.running import run_recipe as run_recipe
    from hardwire.records.running import try_recipe as try_recipe

__all__ = [
    "BoardRow",
    "board",
    "figure",
    "literature",
    "ours",
    "run_recipe",
    "try_recipe",
]


def __getattr__(name: str) -> Any:
    if name in ("run_recipe", "try_recipe"):
        return getattr(import_module(f"{__name__}.running"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
