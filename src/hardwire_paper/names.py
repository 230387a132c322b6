"""How the paper writes things, and what each of its methods looks like wherever it is drawn.

The colours are Okabe and Ito's, which survive colour blindness; CAGE is dashed. There is no other list of them.
"""

from typing import Any

from hardwire.selection import METHOD_VARIANTS
from hardwire.selection import method_name as method_name

COLOURS = dict(zip(METHOD_VARIANTS, ("#e69f00", "#d55e00", "#0072b2", "#cc79a7", "#56b4e9", "#009e73"), strict=True))
_MARKERS = dict(zip(METHOD_VARIANTS, "os^DvP", strict=True))
_DATASETS = {"mnist": "MNIST", "mnist-binary": "MNIST-Binary", "cifar10-binary": "CIFAR-10-Binary"}


def dataset_name(dataset: str) -> str:
    return _DATASETS.get(dataset, dataset)


def tau_name(tau: float) -> str:
    return f"τ={tau:g}"


def line_style(method: str) -> dict[str, Any]:
    """Colour, marker and dash of a method."""
    return {
        "color": COLOURS[method],
        "marker": _MARKERS[method],
        "markersize": 4,
        "linestyle": "--" if METHOD_VARIANTS[method][1] else "-",
        "label": method_name(method),
    }
