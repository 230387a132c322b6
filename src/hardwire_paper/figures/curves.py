"""Figures of lines: gap over training, accuracy against tau, convergence, commitment by layer, CAGE's dynamics.

Each function takes a group of one depth and gives a Figure; the numbers are gathered first, then drawn and listed.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from hardwire.study.reporting.figure import Figure, draw, legend_below, panels
from hardwire_paper import convergence, printed
from hardwire_paper.figures.style import figure_of
from hardwire_paper.groups import RunGroup
from hardwire_paper.names import line_style, method_name, tau_name


def gap_over_training(group: RunGroup) -> Figure:
    """A panel for each tau, a line for each method."""
    cells = {(tau, method): group.get(method, group.main_depth, tau) for tau in group.taus for method in group.methods}
    curves = {
        key: {iteration: 100 * gap for iteration, gap in zip(cell.iterations(), cell.curve("selection"), strict=True)}
        for key, cell in cells.items()
        if cell
    }
    iterations = sorted({iteration for gaps in curves.values() for iteration in gaps})

    def paint(drawing: Any) -> None:
        axes = dict(zip(group.taus, panels(drawing, len(group.taus), sharex=True), strict=True))
        for (tau, method), gaps in curves.items():
            axes[tau].plot(list(gaps), list(gaps.values()), **line_style(method) | {"marker": None})
        for tau, axis in axes.items():
            axis.set(title=tau_name(tau), ylabel="selection gap (points)", xlabel="iteration")
        legend_below(drawing)

    return figure_of(
        group,
        "gap-over-training",
        f"Selection gap over training, L={group.main_depth}",
        where="The paper's figure 2a.",
        caption="Mean over seeds. The paper has τ=1 on MNIST-Binary, L=6: Hard-ST at 0, Soft-Gumbel peaking near 17.",
        drawn=draw(paint, 7.2, 2.6 * math.ceil(len(group.taus) / 2) + 0.8),
        columns=["Iteration", *(f"{method_name(method)} {tau_name(tau)}" for tau, method in curves)],
        rows=[
            [iteration, *(f"{gaps[iteration]:.2f}" if iteration in gaps else "" for gaps in curves.values())]
            for iteration in iterations
        ],
    )


def accuracy_against_tau(group: RunGroup) -> Figure:
    finals = {
        method: {tau: cell.finals("deploy") for tau, cell in group.over_taus(method, group.main_depth).items()}
        for method in group.methods
    }

    def paint(drawing: Any) -> None:
        (axis,) = panels(drawing, 1)
        for method, by_tau in finals.items():
            means, spreads = zip(*map(_mean_and_spread, by_tau.values()), strict=True)
            axis.errorbar(list(by_tau), means, yerr=spreads, capsize=3, **line_style(method))
        _tau_axis(axis, group)
        axis.set(ylabel="deployed accuracy (%)")
        legend_below(drawing)

    return figure_of(
        group,
        "accuracy-tau",
        f"Accuracy against τ, L={group.main_depth}",
        where="The paper's figure 2b.",
        caption="Final deployed accuracy, mean and standard deviation over seeds. CAGE does not use τ: its points are "
        "repeats. In the paper Gumbel-ST falls from 98 to 51 at τ=0.05, the others stay above 97 (Soft-Gumbel: 86).",
        drawn=draw(paint, 7.2, 4.2),
        columns=["Method", "τ", "Accuracy (%)", "Standard deviation", "Seeds"],
        rows=[
            [method_name(method), f"{tau:g}", *(f"{number:.2f}" for number in _mean_and_spread(values)), len(values)]
            for method, by_tau in finals.items()
            for tau, values in by_tau.items()
        ],
    )


def iterations_to_convergence(group: RunGroup) -> Figure:
    """A panel for each definition."""
    iterations = {
        (definition, method): {
            tau: convergence.converged(cell, definition)
            for tau, cell in group.over_taus(method, group.main_depth).items()
        }
        for definition in convergence.DEFINITIONS
        for method in group.methods
    }

    def paint(drawing: Any) -> None:
        axes = dict(zip(convergence.DEFINITIONS, panels(drawing, 2), strict=True))
        for (definition, method), by_tau in iterations.items():
            values = [math.nan if value is None else value for value in by_tau.values()]
            axes[definition].plot(list(by_tau), values, **line_style(method))
        for definition, axis in axes.items():
            _tau_axis(axis, group)
            axis.set(title=f"by {definition}", ylabel="iterations", ylim=(0, None))
        legend_below(drawing)

    definitions = "; ".join(f"by {name}: {rule}" for name, rule in convergence.DEFINITIONS.items())
    stated = ", ".join(f"{method_name(method)} needs {count}" for method, count in printed.CONVERGENCE.items())
    return figure_of(
        group,
        "convergence",
        f"Iterations to convergence, L={group.main_depth}",
        where="The paper's figure 2c.",
        caption=f"{definitions}. No point: not converged at the end. In the paper {stated}.",
        drawn=draw(paint, 7.2, 3.6),
        columns=["Definition", "Method", "τ", "Iterations"],
        rows=[
            [definition, method_name(method), f"{tau:g}", "never" if value is None else f"{value:.0f}"]
            for (definition, method), by_tau in iterations.items()
            for tau, value in by_tau.items()
        ],
    )


def commitment_by_layer(group: RunGroup) -> Figure:
    lines = {}
    for method in group.methods:
        if cell := group.get(method, group.main_depth, group.main_tau):
            layers = zip(*(run.history.final.commitment for run in cell.runs), strict=True)
            lines[method] = [100 * statistics.fmean(layer) for layer in layers]
    numbers = range(1, group.main_depth + 1)

    def paint(drawing: Any) -> None:
        (axis,) = panels(drawing, 1)
        for method, values in lines.items():
            axis.plot(numbers, values, **line_style(method))
        axis.set(xlabel="layer", ylabel="commitment (%)", ylim=(0, 100), xticks=numbers)
        legend_below(drawing)

    stated = ", ".join(f"{method_name(method)} {text}" for method, text in printed.COMMITMENT.items())
    return figure_of(
        group,
        "commitment",
        f"Gate commitment by layer, L={group.main_depth}, {tau_name(group.main_tau)}",
        where="The paper's figure 2d.",
        caption="Mean over neurons and seeds of max softmax(logits) at the end. "
        f"The paper, over its 6 layers at τ=1: {stated}.",
        drawn=draw(paint, 7.2, 4.0),
        columns=["Method", "Layer", "Commitment (%)"],
        rows=[
            [method_name(method), layer, f"{value:.2f}"]
            for method, values in lines.items()
            for layer, value in zip(numbers, values, strict=True)
        ],
    )


_STATISTICS: tuple[Callable[[Sequence[float]], float], ...] = (statistics.fmean, min, max)


def cage_dynamics(group: RunGroup) -> Figure | None:
    """Draws CAGE's temperature and its own average of the confidence over training, if there are such runs."""
    curves: dict[tuple[str, str], dict[int, tuple[float, ...]]] = {}
    for method in (method for method in group.methods if method.endswith("+cage")):
        runs = [run for cell in group.over_taus(method, group.main_depth).values() for run in cell.runs]
        iterations = min((run.history.column("iteration") for run in runs), key=len)
        averaged = all(hasattr(record, "ema") for run in runs for record in run.history)
        for name, column in (("tau", "tau"), ("confidence", "ema" if averaged else "confidence")):
            values = zip(*(run.history.column(column) for run in runs), strict=False)
            curves[name, method] = dict(zip(iterations, values, strict=True))
    if not curves:
        return None

    def paint(drawing: Any) -> None:
        axes = dict(zip(("tau", "confidence"), panels(drawing, 2), strict=True))
        for (name, method), values in curves.items():
            style = line_style(method) | {"marker": None}
            axes[name].plot(list(values), list(map(statistics.fmean, values.values())), **style)
            low, high = list(map(min, values.values())), list(map(max, values.values()))
            axes[name].fill_between(list(values), low, high, color=style["color"], alpha=0.2)
        axes["tau"].set(xlabel="iteration", ylabel="backward temperature")
        axes["confidence"].set(xlabel="iteration", ylabel="confidence")
        legend_below(drawing)

    ends = "; ".join(f"{method_name(m)} to τ {tau}, confidence {c}" for m, (tau, c) in printed.CAGE_END.items())
    return figure_of(
        group,
        "cage",
        f"CAGE over training, L={group.main_depth}",
        where="The paper's figure 3.",
        caption="Mean over all runs with CAGE at this depth (every τ stream and seed), with their range. Confidence is "
        f"the moving average that sets τ, if the runs recorded it. The paper: from τ {printed.CAGE_START_TAU}, "
        f"confidence {printed.CAGE_START_CONFIDENCE}; {ends}.",
        drawn=draw(paint, 7.2, 3.4),
        columns=["Method", "Quantity", "Iteration", "Mean", "Lowest", "Highest", "Runs"],
        rows=[
            [method_name(method), name, iteration, *(f"{f(values):.4f}" for f in _STATISTICS), len(values)]
            for (name, method), lines in curves.items()
            for iteration, values in lines.items()
        ],
    )


def _mean_and_spread(values: list[float]) -> tuple[float, float]:
    return statistics.fmean(values), statistics.stdev(values) if len(values) > 1 else 0.0


def _tau_axis(axis: Any, group: RunGroup) -> None:
    axis.set_xscale("log")
    axis.set_xticks(group.taus, [f"{tau:g}" for tau in group.taus])
    axis.minorticks_off()
    axis.set_xlabel("τ")
