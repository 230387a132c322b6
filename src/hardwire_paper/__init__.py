"""One paper on top of hardwire: its experiments as kinds of runs, its tables, figures, and claims with verdicts.

Youngsung Kim, "Align Forward, Adapt Backward: Closing the Discretization Gap in Logic Gate Networks". The numbers it
prints are data here (`printed`), and nothing in this package changes how a network trains. hardwire never imports this
package; it finds the kinds of runs and the command `demo` through the entry points in `pyproject.toml`.
"""

from importlib import resources


def preset_text(name: str) -> str:
    """Returns the commented TOML of a study in the folder `presets`."""
    return resources.files("hardwire_paper").joinpath("presets", f"{name}.toml").read_text()
