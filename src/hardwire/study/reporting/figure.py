"""How figures look, and `Figure`: the drawing as SVG and PNG with the numbers behind it.

Text and axes are drawn in one ink colour, which the HTML page replaces by the colour of its text, so that the same
drawing is right on light and dark. Surprising: nothing is drawn before it is asked for, since a report has many
figures and a page needs few of them. Nor is pyplot used; its figures are global state.
"""

import functools
import html
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
    """A figure of a report.

    Attributes:
        slug: Its file name.
        title: Its title.
        caption: What it shows.
        where: What it repeats, in a sentence.
        svg, png: Draw it.
        data: The numbers behind it.
    """

    slug: str
    title: str
    caption: str
    where: str
    svg: Callable[[], str]
    png: Callable[[], bytes]
    data: Table

    def inline(self) -> str:
        """Returns the SVG for an HTML page: names made unique, ink in the colour of the page's text."""
        body = self.svg()
        body = body[body.index("<svg") :]
        body = re.sub(r'id="([^"]+)"', rf'id="{self.slug}-\1"', body)
        body = re.sub(r'(href="#|url\(#)', rf"\g<1>{self.slug}-", body)
        label = f'role="img" aria-label="{html.escape(self.title)}"'
        body = re.sub(r'width="[\d.]+pt" height="[\d.]+pt"', lambda _: label, body, count=1)
        return body.replace(INK, "currentColor")


@dataclass(frozen=True)
class Margins:
    """Room around axes in inches, for tick labels, axis labels and titles.

    Measuring every text to find out how much room it takes is most of matplotlib's work, and a report has a hundred
    figures. So the room is given.

    Attributes:
        left, right, bottom, top: At the edges of the figure, and `left` and `bottom` also between panels.
        legend_row: Height of a row of the legend below.
    """

    left: float = 0.85
    right: float = 0.25
    bottom: float = 0.6
    top: float = 0.32
    legend_row: float = 0.26

    def arrange(self, drawing: Any) -> None:
        """Places the axes that `panels` made, their labels and their titles."""
        placed = [axes for axes in drawing.axes if axes.get_subplotspec() is not None]
        rows, columns = placed[0].get_gridspec().get_geometry()
        width, height = drawing.get_size_inches()
        legend = self.legend_row * sum(math.ceil(len(box.get_texts()) / _LEGEND_COLUMNS) for box in drawing.legends)
        across = (width - columns * self.left - self.right) / columns  # of one panel
        up = (height - legend - rows * (self.bottom + self.top)) / rows
        drawing.subplots_adjust(
            left=self.left / width,
            right=1 - self.right / width,
            bottom=(legend + self.bottom) / height,
            top=1 - self.top / height,
            wspace=self.left / across,
            hspace=(self.bottom + self.top) / up,
        )
        for axes in placed:
            axes.set_title(axes.get_title(), y=1.0)  # given, so not looked for
            axes.xaxis.set_label_coords(0.5, -0.3 / up)
            axes.yaxis.set_label_coords((0.24 - self.left) / across, 0.5)


_LEGEND_COLUMNS = 3
_MARGINS = Margins()


def draw(
    paint: Callable[[Any], None], width: float, height: float, dpi: int = 120, margins: Margins | None = _MARGINS
) -> tuple[Callable[[], str], Callable[[], bytes]]:
    """Returns functions that draw.

    Args:
        paint: Draws on a matplotlib figure, on the axes of `panels`.
        width, height: Its size in inches.
        dpi: Of the PNG.
        margins: Room around the axes. None measures all texts instead, which takes twice as long.

    Returns:
        Two functions: one returns the SVG, the other the PNG. Each draws once.
    """

    kept: list[Drawing] = []  # from the SVG to the PNG, and no longer: a report has many

    def drawn() -> tuple[Drawing, str]:
        drawing = Drawing(figsize=(width, height), layout="constrained" if margins is None else None)
        paint(drawing)
        if margins is not None:
            margins.arrange(drawing)
        vector = io.StringIO()
        FigureCanvasSVG(drawing).print_svg(vector, metadata={"Date": None})  # type: ignore[no-untyped-call]
        drawing.set_layout_engine("none")  # measured once is enough
        return drawing, vector.getvalue()

    @functools.cache
    def svg() -> str:
        with matplotlib.rc_context(_SETTINGS):
            drawing, vector = drawn()
        kept.append(drawing)
        return vector

    def png() -> bytes:
        pixels = io.BytesIO()
        with matplotlib.rc_context(_SETTINGS):
            drawing = kept.pop() if kept else drawn()[0]
            canvas = FigureCanvasAgg(drawing)
            drawing.set_dpi(dpi)
            drawing.set_facecolor("white")
            canvas.print_png(pixels)  # type: ignore[no-untyped-call]
        return pixels.getvalue()

    return svg, png


def panels(drawing: Any, count: int, columns: int = 2, **arguments: Any) -> list[Any]:
    """Returns `count` axes in rows of `columns`; the rest of the last row stays empty."""
    rows = math.ceil(count / columns)
    axes = list(drawing.subplots(rows, min(columns, count), squeeze=False, **arguments).flat)
    for empty in axes[count:]:
        empty.remove()
    for lowest in axes[max(0, count - columns) : count]:  # of its column, if not of the grid
        lowest.tick_params(labelbottom=True)
    return axes[:count]


def legend_below(drawing: Any) -> None:
    """Draws one legend for all axes, each label once: no single one of them need have every line."""
    handles: dict[str, Any] = {}
    for axes in drawing.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if handles:
        drawing.legend(handles.values(), handles.keys(), loc="lower center", ncols=_LEGEND_COLUMNS, borderaxespad=0.2)


def colour_bar(drawing: Any, colours: Any, label: str, room: float) -> None:
    """Draws what colours mean at the right edge, in a margin of `room` inches."""
    width = drawing.get_figwidth()
    axes = drawing.add_axes((1 - (room - 0.15) / width, 0.2, 0.15 / width, 0.6))
    drawing.colorbar(colours, cax=axes, label=label)
    axes.grid(False)
