"""How figures look, and `Figure`: the drawing as SVG and PNG with the numbers behind it.

Text and axes are drawn in one ink colour, which the HTML page replaces by the colour of its text: so the same drawing
is right on light and dark. Surprising: nothing is drawn before it is looked at, since a report has many figures and a
page of them needs few. Nor is pyplot used; its figures are global state.
"""

import io
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
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
class Picture:
    """What `paint` puts on a drawing of this size in inches."""

    paint: Callable[[Any], None]
    width: float
    height: float
    dpi: int = 120

    @cached_property
    def svg(self) -> str:
        vector = io.StringIO()
        with matplotlib.rc_context(_SETTINGS):
            FigureCanvasSVG(self._drawn()).print_svg(vector, metadata={"Date": None})  # type: ignore[no-untyped-call]
        return vector.getvalue()

    @cached_property
    def png(self) -> bytes:
        pixels = io.BytesIO()
        with matplotlib.rc_context(_SETTINGS):
            drawing = self._drawn()
            FigureCanvasAgg(drawing)
            drawing.savefig(pixels, format="png", dpi=self.dpi, facecolor="white")
        return pixels.getvalue()

    def _drawn(self) -> Drawing:
        drawing = Drawing(figsize=(self.width, self.height), layout="constrained")
        self.paint(drawing)
        return drawing


@dataclass(frozen=True)
class Figure:
    """data: the numbers behind it; where: what it repeats, a sentence."""

    slug: str
    title: str
    caption: str
    where: str
    picture: Picture
    data: Table

    def inline(self) -> str:
        """The SVG for an HTML page: names made unique, ink in the colour of the page's text."""
        body = self.picture.svg[self.picture.svg.index("<svg") :]
        body = re.sub(r'id="([^"]+)"', rf'id="{self.slug}-\1"', body)
        body = re.sub(r'(href="#|url\(#)', rf"\g<1>{self.slug}-", body)
        body = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', f'role="img" aria-label="{self.title}"', body, count=1)
        return body.replace(INK, "currentColor")


def panels(drawing: Any, count: int, columns: int = 2, **arguments: Any) -> list[Any]:
    """`count` axes in rows of `columns`; the rest of the last row stays empty."""
    rows = math.ceil(count / columns)
    axes = list(drawing.subplots(rows, min(columns, count), squeeze=False, **arguments).flat)
    for empty in axes[count:]:
        empty.remove()
    return axes[:count]


def legend_below(drawing: Any, axes: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        drawing.legend(handles, labels, loc="outside lower center", ncols=3)
