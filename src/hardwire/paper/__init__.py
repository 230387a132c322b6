"""The paper on top of `hardwire.study`: its experiments as kinds of runs, its tables, figures and claims with verdicts.

Youngsung Kim, "Align Forward, Adapt Backward: Closing the Discretization Gap in Logic Gate Networks". What it prints is
data here (`printed`), and nothing in this room changes how a network trains.
"""

from importlib import resources

from hardwire.errors import unknown_name

PRESETS = {
    "smoke": "a minute",
    "small": "an hour on two cores",
    "paper": "everything, at full size",
    "systems": "architecture search, experts and codebooks",
    "demo": "what `hardwire demo` runs",
}


def preset_text(name: str) -> str:
    """The commented TOML of a preset."""
    if name not in PRESETS:
        raise unknown_name("preset", name, PRESETS)
    return resources.files("hardwire.paper").joinpath("presets", f"{name}.toml").read_text()
