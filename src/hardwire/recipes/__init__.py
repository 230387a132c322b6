"""The settings of training runs as data: the defaults for images, tables and other bits, and recipes by name.

`hardwire train`, `hw.train`, the estimators and the records read them here; there is no other list of such numbers.
Nothing here imports torch.
"""

from hardwire.recipes.defaults import BITS, DEFAULTS, IMAGES, TABLES, Defaults
from hardwire.recipes.recipe import Recipe, load, names

__all__ = ["BITS", "DEFAULTS", "IMAGES", "TABLES", "Defaults", "Recipe", "load", "names"]
