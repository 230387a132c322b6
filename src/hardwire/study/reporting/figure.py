"""How figures look, and `Figure`: the drawing as SVG and PNG with the numbers behind it.

Text and axes are drawn in one ink colour, which the HTML page replaces by the colour of its text: so the same drawing
is right on light and dark. Surprising: nothing is drawn before it is asked for, since a report has many figures and a
page needs few of them. Nor is pyplot used; its figures are global state.
"""

import functools
import io
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure as Drawing

from hardwire.study.reporting.table import Table

INK = "#1b1f24"
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",  # text stays text: it can be searched, and the file is small
    "svg.hashsalt": "hardwire",
    "font.family": "sans-serif",
    "font.size": 11,
    "figure.facecolor": "none",  # the page shines through
    "axes.facecolor": "none",
    "text.color": INK,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlesize": 10,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.grid": True,
    "grid.color": INK,
    "grid.alpha": 0.15,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


@dataclass(frozen=True)
class Figure:
    """data: the numbers behind it; where: what it repeats, a sentence. svg, png: draw it."""

    slug: str
    title: str
    caption: str
    where: str
    svg: Callable[[], str]
    png: Callable[[], bytes]
    data: Table

    def inline(self) -> str:
        """The SVG for an HTML page: names made unique, ink in the colour of the page's text."""
        body = self.svg()
        body = body[body.index("<svg") :]
        body = re.sub(r'id="([^"]+)"', rf'id="{self.slug}-\1"', body)
        body = re.sub(r'(href="#|url\(#)', rf"\g<1>{self.slug}-", body)
        body = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', f'role="img" aria-label="{self.title}"', body, count=1)
        return body.replace(INK, "currentColor")


def draw(
    paint: Callable[[Any], None], width: float, height: float, dpi: int = 120
) -> tuple[Callable[[], str], Callable[[], bytes]]:
    """(SVG, PNG) of what `paint` puts on a drawing of this size in inches, each drawn once, when it is called for."""

    def drawn() -> Drawing:
        drawing = Drawing(figsize=(width, height), layout="constrained")
        paint(drawing)
        return drawing

    @functools.cache
    def svg() -> str:
        vector = io.StringIO()
        with matplotlib.rc_context(_SETTINGS):
            FigureCanvasSVG(drawn()).print_svg(vector, metadata={"Date": None})  # type: ignore[no-untyped-call]
        return vector.getvalue()

    @functools.cache
    def png() -> bytes:
        pixels = io.BytesIO()
        with matplotlib.rc_context(_SETTINGS):
            drawing = drawn()
            FigureCanvasAgg(drawing)
            drawing.savefig(pixels, format="png", dpi=dpi, facecolor="white")
        return pixels.getvalue()

    return svg, png


def panels(drawing: Any, count: int, columns: int = 2, **arguments: Any) -> list[Any]:
    """`count` axes in rows of `columns`; the rest of the last row stays empty."""
    rows = math.ceil(count / columns)
    axes = list(drawing.subplots(rows, min(columns, count), squeeze=False, **arguments).flat)
    for empty in axes[count:]:
        empty.remove()
    for lowest in axes[max(0, count - columns) : count]:  # of its column, if not of the grid
        lowest.tick_params(labelbottom=True)
    return axes[:count]


def legend_below(drawing: Any) -> None:
    """One for all axes, each label once: no single one of them need have every line."""
    found: dict[str, Any] = {}
    for axes in drawing.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    if found:
        drawing.legend(found.values(), found.keys(), loc="outside lower center", ncols=3)
