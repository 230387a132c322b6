"""The board as a figure: accuracy against gates, one panel per dataset, with labels that do not cover each other.

The panels stand below each other and the type is large, so that the figure can be read on a phone. Labels are placed
one by one, each on the side of its point where it covers least.
"""

from typing import TYPE_CHECKING, Any

from hardwire.records.board import DATA, BoardRow, board, front

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE: dict[Any, Any] = {
    "font.size": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial"],
}
_TITLES = {"mnist": "MNIST", "fashion-mnist": "Fashion-MNIST", "cifar10": "CIFAR-10"}
_OURS, _THEIRS = "#d55e00", "#444444"
_SIDES = [  # (horizontal, vertical) in points from a marker to its label, and how the text is aligned
    (distance * x, distance * y, {1: "left", -1: "right", 0: "center"}[x], {1: "bottom", -1: "top", 0: "center"}[y])
    for distance in (8, 16)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1))
]


def figure(rows: list[BoardRow] | None = None) -> "Figure":
    """Draw accuracy against gates, one panel per dataset; the line is the Pareto front.

    Args:
        rows: The rows to draw. None: the whole board.

    Returns:
        A matplotlib figure.

    Example:
        >>> import hardwire as hw
        >>> hw.records.figure().savefig("records.svg")
    """
    import matplotlib
    from matplotlib.figure import Figure

    rows = board() if rows is None else rows
    panels = [[row for row in rows if row.data == data] for data in DATA if any(row.data == data for row in rows)]
    heights = [1 + len(panel) / 4 for panel in panels]
    with matplotlib.rc_context(_STYLE):
        picture = Figure(figsize=(7, 1.1 * sum(heights) + 0.6), layout="constrained")
        grid = picture.subplots(len(panels), 1, height_ratios=heights, squeeze=False)
        for axes, panel in zip(grid[:, 0], panels, strict=True):
            _draw_points(axes, panel)
        picture.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
        grid[-1, 0].set_xlabel("gates or look-up tables, before simplification")
        picture.draw_without_rendering()  # settles the layout: labels are placed in pixels
        for axes, panel in zip(grid[:, 0], panels, strict=True):
            _place_labels(axes, panel)
    return picture


def _draw_points(axes: Any, rows: list[BoardRow]) -> None:
    line = sorted(front(rows), key=lambda row: row.gates)
    axes.plot([row.gates for row in line], [row.accuracy for row in line], color="0.8", linewidth=1, zorder=1)
    for ours, colour, marker, size, name in (
        (False, _THEIRS, "o", 28, "literature"),
        (True, _OURS, "*", 110, "hardwire"),
    ):
        part = [row for row in rows if row.ours == ours]
        gates, accuracies = [row.gates for row in part], [row.accuracy for row in part]
        axes.scatter(gates, accuracies, s=size, c=colour, marker=marker, label=name, zorder=2)
    axes.set(xscale="log", title=_TITLES[rows[0].data], ylabel="test accuracy (%)")
    axes.margins(x=0.22, y=0.25)
    axes.grid(alpha=0.25)


def _place_labels(axes: Any, rows: list[BoardRow]) -> None:
    """Label our points first, then the others; each label goes where it covers least of points and earlier labels."""
    from matplotlib.transforms import Bbox

    corners = [axes.transData.transform((row.gates, row.accuracy)) for row in rows]
    taken = [Bbox.from_bounds(x - 6, y - 6, 12, 12) for x, y in corners]
    for row in sorted(rows, key=lambda row: not row.ours):
        colour, weight = (_OURS, "bold") if row.ours else (_THEIRS, "normal")
        tried: list[tuple[float, int, Any, Any]] = []
        for x, y, horizontal, vertical in _SIDES:
            label = axes.annotate(
                row.name,
                (row.gates, row.accuracy),
                (x, y),
                textcoords="offset points",
                ha=horizontal,
                va=vertical,
                fontsize=11,
                color=colour,
                weight=weight,
            )
            box = label.get_window_extent()
            inside = axes.bbox.x0 + 4 <= box.x0 and box.x1 <= axes.bbox.x1 - 4  # with a little room to the axis
            outside = 0.0 if inside else box.width * box.height
            tried.append((outside + sum(_overlap(box, other) for other in taken), len(tried), label, box))
        best = min(tried, key=lambda candidate: candidate[:2])
        for candidate in tried:
            if candidate is not best:
                candidate[2].remove()
        taken.append(best[3].padded(5))  # browsers may set type a little wider


def _overlap(a: Any, b: Any) -> float:
    """The area that two boxes share."""
    return float(max(0, min(a.x1, b.x1) - max(a.x0, b.x0)) * max(0, min(a.y1, b.y1) - max(a.y0, b.y0)))
