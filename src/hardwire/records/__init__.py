"""The board of records: accuracy against gates, our rows beside the literature's, each of ours made by one command.

A row of ours is a recipe (`recipes/NAME.toml`, settings chosen on validation rows) and its result (`results/NAME.json`,
written by `run_recipe`, which reads the test set once, at the end).
"""

from hardwire.records.board import Row, board, figure, literature, ours
from hardwire.records.recipe import Recipe, load_recipe, recipe_names, run_recipe, try_recipe

__all__ = [
    "Recipe",
    "Row",
    "board",
    "figure",
    "literature",
    "load_recipe",
    "ours",
    "recipe_names",
    "run_recipe",
    "try_recipe",
]
