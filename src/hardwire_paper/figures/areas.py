"""Figures of areas: the gap heatmap over depth and tau, and gate usage."""

import math
import statistics
from typing import Any

from hardwire.gates import GATE_NAMES
from hardwire.study.reporting.figure import Figure, Margins, colour_bar, draw, legend_below, panels
from hardwire_paper import printed
from hardwire_paper.figures.style import figure_of
from hardwire_paper.groups import RunGroup
from hardwire_paper.names import COLOURS, method_name, tau_name


def gap_heatmap(group: RunGroup) -> Figure:
    """Final gap by depth and tau, a panel for each method."""
    cells = {key: cell.final("total") for key, cell in group.cells.items()}
    reach = max(1.0, *(abs(value) for value in cells.values()))

    def paint(drawing: Any) -> None:
        axes = panels(drawing, len(group.methods), columns=2)
        for axis, method in zip(axes, group.methods, strict=True):
            grid = [[cells.get((method, depth, tau), float("nan")) for tau in group.taus] for depth in group.depths]
            mesh = axis.pcolormesh(grid, cmap="RdBu_r", vmin=-reach, vmax=reach, edgecolors="none")
            for y, row in enumerate(grid):
                for x, value in ((x, value) for x, value in enumerate(row) if value == value):  # NaN: no run
                    colour = "white" if abs(value) > 0.6 * reach else "black"
                    axis.text(x + 0.5, y + 0.5, f"{value:+.1f}", ha="center", va="center", color=colour, fontsize=8)
            axis.set(title=method_name(method), xlabel="τ", ylabel="layers")
            axis.set_xticks([x + 0.5 for x in range(len(group.taus))], [f"{tau:g}" for tau in group.taus])
            axis.set_yticks([y + 0.5 for y in range(len(group.depths))], group.depths)
            axis.grid(False)
        colour_bar(drawing, mesh, "final gap (points)", room=1.2)

    keys = sorted(cells, key=lambda key: (group.methods.index(key[0]), *key[1:]))
    height = math.ceil(len(group.methods) / 2) * (1.1 + 0.35 * len(group.depths)) + 0.3
    return figure_of(
        group,
        "heatmap",
        "Gap over depth and τ",
        where='The paper\'s figure "Gap heatmaps on MNIST".',
        caption="A^M - A^hard at the end, mean over seeds. Blue: deployment outperforms training (training failure). "
        "In the paper Hard-ST and CAGE are uniformly near zero and Gumbel-ST is at -40 to -60 for τ ≤ 0.1.",
        drawn=draw(paint, 7.2, height, margins=Margins(right=1.35, left=0.65)),
        columns=["Method", "Layers", "τ", "Final gap (points)"],
        rows=[[method_name(key[0]), key[1], f"{key[2]:g}", f"{cells[key]:.2f}"] for key in keys],
    )


_FIGURE_1 = (("soft-mix", "soft-gumbel"), ("hard-st", "gumbel-st"))  # its rows


def factorial(group: RunGroup) -> Figure | None:
    """The paper's first figure: peaks of the 2 x 2 at the highest temperature, ours over the paper's."""
    depth, tau = group.main_depth, group.taus[-1]
    cells = {method: cell for row in _FIGURE_1 for method in row if (cell := group.get(method, depth, tau))}
    if len(cells) < 2:
        return None
    peaks = {method: statistics.fmean(cell.late_peaks("selection")) for method, cell in cells.items()}
    reach = max(40.0, *(abs(value) for value in peaks.values()))
    known = group.dataset == "mnist-binary" and tau == 2.0 and depth == printed.MAIN_DEPTH

    def paint(drawing: Any) -> None:
        (axis,) = panels(drawing, 1)
        grid = [[peaks.get(method, float("nan")) for method in row] for row in _FIGURE_1]
        axis.pcolormesh(grid, cmap="RdBu_r", vmin=-reach, vmax=reach, edgecolors="white", linewidth=2)
        for y, row in enumerate(_FIGURE_1):
            for x, method in enumerate(row):
                colour = "white" if abs(peaks.get(method, 0.0)) > 0.6 * reach else "black"
                ours = f"{peaks[method] + 0.0:.1f}" if method in peaks else "not run"
                theirs = f"\n(the paper: {printed.FACTORIAL[method]})" if known else ""
                text = f"{method_name(method)}\n{ours}{theirs}"
                axis.text(x + 0.5, y + 0.5, text, ha="center", va="center", color=colour, fontsize=10)
        axis.set_xticks([0.5, 1.5], ["no Gumbel", "Gumbel"])
        axis.set_yticks([0.5, 1.5], ["mixture", "hard"])
        axis.invert_yaxis()
        axis.grid(False)

    return figure_of(
        group,
        "factorial",
        f"Peak selection gap of the 2 x 2, L={depth}, {tau_name(tau)}",
        where="The paper's figure 1, bottom right: peak, at τ=2, L=6.",
        caption="The largest gap in points over the last 80% of training, mean over seeds.",
        drawn=draw(paint, 4.6, 3.2, margins=Margins(bottom=0.35, top=0.15)),
        columns=["Method", "Late peak (points)"],
        rows=[[method_name(method), f"{value:.2f}"] for method, value in peaks.items()],
    )


def gate_usage(group: RunGroup) -> Figure | None:
    """Shares of the 16 gates over all neurons of the trained networks; None of look-up tables."""
    if group.scale.of_tables:
        return None
    depth, tau = group.main_depth, group.main_tau
    shares = {}
    for method in group.methods:
        if cell := group.get(method, depth, tau):
            layers = [layer for run in cell.runs for layer in run.history.final.gate_usage]
            shares[method] = [100 * statistics.fmean(values) for values in zip(*layers, strict=True)]

    def paint(drawing: Any) -> None:
        (axis,) = panels(drawing, 1)
        width = 0.85 / len(shares)
        for place, (method, values) in enumerate(shares.items()):
            spots = [gate + (place + 0.5) * width - 0.425 for gate in range(len(values))]
            axis.bar(spots, values, width, color=COLOURS[method], label=method_name(method))
        axis.set_xticks(range(len(GATE_NAMES)), GATE_NAMES, rotation=60, ha="right")
        axis.set(ylabel="share of neurons (%)")
        axis.axhline(100 / len(GATE_NAMES), color="#888888", linewidth=1, linestyle=":")
        legend_below(drawing)

    return figure_of(
        group,
        "gate-usage",
        f"Gate usage, L={depth}, {tau_name(tau)}",
        where='The paper\'s figure "Gate usage distribution".',
        caption="Deployed gates over all layers and seeds; dotted: 1/16. In the paper Hard-ST uses XOR and XNOR for "
        "~11% of its neurons each, the other methods for 6 to 8%.",
        drawn=draw(paint, 7.2, 4.4, margins=Margins(bottom=1.0, top=0.15)),
        columns=["Method", "Gate", "Share (%)"],
        rows=[
            [method_name(method), gate, f"{value:.2f}"]
            for method, values in shares.items()
            for gate, value in zip(GATE_NAMES, values, strict=True)
        ],
    )
