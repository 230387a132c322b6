"""Figures over training that have a line for each layer: commitment, and how large gradients are.

The paper has commitment at the end and says of gradients in words what is drawn here.
"""

import math
import statistics
from typing import Any

from matplotlib.ticker import LogFormatter

from hardwire.study.reporting.figure import Figure, draw, legend_below, panels
from hardwire.study.reporting.table import Cells
from hardwire_paper.figures.style import figure_of
from hardwire_paper.groups import RunGroup
from hardwire_paper.names import method_name, tau_name
from hardwire_paper.runs import SeedRuns

_SHADES = ("#440154", "#3b528b", "#21918c", "#5ec962", "#b5a000")  # from dark to light, as tau rises


def _by_layer(cell: SeedRuns, name: str) -> list[list[float]]:
    """[layer][evaluation]: the mean over seeds of a measurement that has a value for each layer."""
    histories = [run.history.column(name) for run in cell.runs]
    evaluations = [
        list(zip(*(history[place] for history in histories), strict=True)) for place in range(len(cell.iterations()))
    ]
    return [[statistics.fmean(layer) for layer in layers] for layers in zip(*evaluations, strict=True)]


def commitment_over_training(group: RunGroup) -> Figure:
    """A panel for each method at the main temperature, a line for each layer."""
    depth, tau = group.main_depth, group.main_tau
    cells = {method: cell for method in group.methods if (cell := group.side(method, tau))}
    lines = {method: _by_layer(cell, "commitment") for method, cell in cells.items()}

    def paint(drawing: Any) -> None:
        axes = panels(drawing, len(lines), sharex=True, sharey=True)
        for axis, (method, layers) in zip(axes, lines.items(), strict=True):
            for number, values in enumerate(layers, start=1):
                shade = _SHADES[(number - 1) * (len(_SHADES) - 1) // max(1, depth - 1)]
                axis.plot(cells[method].iterations(), [100 * v for v in values], color=shade, label=f"layer {number}")
            axis.set(title=method_name(method), ylabel="commitment (%)", xlabel="iteration", ylim=(0, 100))
        legend_below(drawing)

    rows: list[Cells] = [
        [method_name(method), iteration, *(f"{100 * layer[place]:.2f}" for layer in layers)]
        for method, layers in lines.items()
        for place, iteration in enumerate(cells[method].iterations())
    ]
    return figure_of(
        group,
        "commitment-over-training",
        f"Commitment over training, L={depth}, {tau_name(tau)}",
        where="The paper says that competition drives weight concentration over training.",
        caption="Mean over neurons and seeds of max softmax(logits), by layer; 6.25% is no preference at all.",
        drawn=draw(paint, 7.2, 2.5 * math.ceil(len(lines) / 2) + 0.6),
        columns=["Method", "Iteration", *(f"Layer {number} (%)" for number in range(1, depth + 1))],
        rows=rows,
    )


def gradients(group: RunGroup) -> Figure | None:
    """A panel for each method, a colour for each temperature, the first layer drawn out and the last dashed."""
    depth = group.main_depth
    lines = {
        (method, tau): (cell.iterations(), _by_layer(cell, "gradient"))
        for method in group.methods
        for tau, cell in group.over_taus(method, depth).items()
        if cell.has("gradient")
    }
    if not lines:
        return None
    methods, taus = list(dict.fromkeys(method for method, _ in lines)), sorted({tau for _, tau in lines})
    shades = {tau: _SHADES[place * (len(_SHADES) - 1) // max(1, len(taus) - 1)] for place, tau in enumerate(taus)}

    def paint(drawing: Any) -> None:
        axes = dict(zip(methods, panels(drawing, len(methods), sharex=True), strict=True))
        for (method, tau), (iterations, layers) in lines.items():
            axes[method].semilogy(iterations, layers[0], color=shades[tau], label=f"{tau_name(tau)}, first layer")
            if depth > 1:
                axes[method].semilogy(
                    iterations, layers[-1], color=shades[tau], linestyle="--", label=f"{tau_name(tau)}, last"
                )
        for method, axis in axes.items():
            axis.set(title=method_name(method), ylabel="gradient", xlabel="iteration")
            axis.yaxis.set_major_formatter(lambda value, _: f"{value:g}")  # 0.001: powers as formulas are slow to draw
            axis.yaxis.set_minor_formatter(LogFormatter(minor_thresholds=(1.0, 0.4)))
        legend_below(drawing)

    rows: list[Cells] = [
        [method_name(method), f"{tau:g}", iteration, *(f"{layer[place]:.3g}" for layer in layers)]
        for (method, tau), (iterations, layers) in lines.items()
        for place, iteration in enumerate(iterations)
    ]
    return figure_of(
        group,
        "gradients",
        f"Gradient size over training, L={depth}",
        where='The paper\'s "Gradient Analysis" and "Extended Gradient Analysis", which have no figure.',
        caption="Root mean square of the logits' gradient on 512 training rows, mean over seeds. The paper: at low τ "
        "the gradients of mixtures vanish, and Gumbel noise maintains gradient flow.",
        drawn=draw(paint, 7.2, 2.5 * math.ceil(len(methods) / 2) + 0.9),
        columns=["Method", "τ", "Iteration", *(f"Layer {number}" for number in range(1, depth + 1))],
        rows=rows,
    )
