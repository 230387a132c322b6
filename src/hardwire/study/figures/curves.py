"""Figures of lines: gap over training, accuracy against tau, convergence, commitment by layer, CAGE's dynamics.

Each function takes a group and gives a Figure, or None where the store has no runs for it.
"""

import math
import statistics

from hardwire.study import paper
from hardwire.study.analysis import convergence
from hardwire.study.analysis.groups import Group
from hardwire.study.analysis.table import table
from hardwire.study.analysis.tables import dataset_name, method_name, scales, tau_name
from hardwire.study.figures.style import Figure, draw, legend_below, line_style, panels


def gap_over_training(group: Group) -> Figure | None:
    depth = group.main_depth
    columns, series, iterations = ["Iteration"], [], []
    for tau in group.taus:
        for method in group.methods:
            if cell := group.get(method, depth, tau):
                columns.append(f"{method_name(method)} {tau_name(tau)}")
                series.append([100 * value for value in cell.curve("selection")])
                iterations = cell.iterations()

    def paint(drawing):
        axes = panels(drawing, len(group.taus), sharex=True)
        for axis, tau in zip(axes, group.taus, strict=True):
            for method in group.methods:
                if cell := group.get(method, depth, tau):
                    values = [100 * value for value in cell.curve("selection")]
                    axis.plot(cell.iterations(), values, **line_style(method) | {"marker": None})
            axis.set(title=tau_name(tau), ylabel="selection gap (points)", xlabel="iteration")
        legend_below(drawing, axes[0])

    height = 2.6 * math.ceil(len(group.taus) / 2) + 0.8
    caption = (
        "Mean over seeds. The paper's panel is τ=1 on MNIST-Binary, L=6: Hard-ST at 0, Soft-Gumbel peaking near 17."
    )
    rows = [[iteration, *(f"{line[place]:.2f}" for line in series)] for place, iteration in enumerate(iterations)]
    return figure_of(
        group, "gap-over-training", f"Selection gap over training, L={depth}", caption, "figure 2a",
        draw(paint, 7.2, height), columns, rows,
    )  # fmt: skip


def accuracy_against_tau(group: Group) -> Figure | None:
    depth = group.main_depth
    rows = []

    def paint(drawing):
        axis = drawing.subplots()
        for method in group.methods:
            cells = group.over_taus(method, depth)
            finals = {tau: cell.finals("deploy") for tau, cell in cells.items()}
            means = [statistics.fmean(values) for values in finals.values()]
            spreads = [statistics.stdev(values) if len(values) > 1 else 0.0 for values in finals.values()]
            axis.errorbar(list(finals), means, yerr=spreads, capsize=3, **line_style(method))
            rows.extend(
                [method_name(method), f"{tau:g}", f"{mean:.2f}", f"{spread:.2f}", len(finals[tau])]
                for tau, mean, spread in zip(finals, means, spreads, strict=True)
            )
        _tau_axis(axis, group)
        axis.set(ylabel="deployed accuracy (%)")
        legend_below(drawing, axis)

    caption = (
        "Final deployed accuracy, mean and standard deviation over seeds. CAGE does not use τ: its points are repeats. "
        "In the paper Gumbel-ST falls from 98 to 51 at τ=0.05, the others stay above 97 (Soft-Gumbel: 86)."
    )
    drawn = draw(paint, 7.2, 4.2)
    columns = ["Method", "τ", "Accuracy (%)", "Standard deviation", "Seeds"]
    return figure_of(
        group, "accuracy-tau", f"Accuracy against τ, L={depth}", caption, "figure 2b", drawn, columns, rows
    )


def iterations_to_convergence(group: Group) -> Figure | None:
    depth = group.main_depth
    rows = []

    def paint(drawing):
        axes = panels(drawing, 2)
        for axis, definition in zip(axes, convergence.DEFINITIONS, strict=True):
            for method in group.methods:
                cells = group.over_taus(method, depth)
                found = {tau: convergence.converged(cell, definition) for tau, cell in cells.items()}
                values = [math.nan if value is None else value for value in found.values()]
                axis.plot(list(found), values, **line_style(method))
                rows.extend(
                    [definition, method_name(method), f"{tau:g}", "never" if value is None else f"{value:.0f}"]
                    for tau, value in found.items()
                )
            _tau_axis(axis, group)
            axis.set(title=f"by {definition}", ylabel="iterations", ylim=(0, None))
        legend_below(drawing, axes[0])

    caption = "; ".join(f"by {name}: {rule}" for name, rule in convergence.DEFINITIONS.items())
    caption += ". No point: not converged at the end. In the paper Hard-ST needs ~500, Soft-Gumbel 15,000 to 38,000."
    drawn = draw(paint, 7.2, 3.6)
    columns = ["Definition", "Method", "τ", "Iterations"]
    title = f"Iterations to convergence, L={depth}"
    return figure_of(group, "convergence", title, caption, "figure 2c", drawn, columns, rows)


def commitment_by_layer(group: Group) -> Figure | None:
    depth, tau = group.main_depth, group.main_tau
    lines = {}
    for method in group.methods:
        if cell := group.get(method, depth, tau):
            layers = zip(*(run.history.final.commitment for run in cell.runs), strict=True)
            lines[method] = [100 * statistics.fmean(layer) for layer in layers]

    def paint(drawing):
        axis = drawing.subplots()
        for method, values in lines.items():
            axis.plot(range(1, depth + 1), values, **line_style(method))
        axis.set(xlabel="layer", ylabel="commitment (%)", ylim=(0, 100), xticks=range(1, depth + 1))
        legend_below(drawing, axis)

    stated = ", ".join(f"{method_name(method)} {text}" for method, text in paper.COMMITMENT.items())
    caption = f"Mean over neurons and seeds of max softmax(logits) at the end. The paper, over its 6 layers: {stated}."
    rows = [
        [method_name(method), layer, f"{value:.2f}"]
        for method, values in lines.items()
        for layer, value in enumerate(values, 1)
    ]
    title = f"Gate commitment by layer, L={depth}, {tau_name(tau)}"
    columns = ["Method", "Layer", "Commitment (%)"]
    return figure_of(group, "commitment", title, caption, "figure 2d", draw(paint, 7.2, 4.0), columns, rows)


def cage_dynamics(group: Group) -> Figure | None:
    """CAGE's temperature and confidence over training, over all its runs at the main depth."""
    methods = [method for method in group.methods if method.endswith("+cage")]
    if not methods:
        return None
    depth = group.main_depth
    rows = []

    def paint(drawing):
        axes = panels(drawing, 2)
        for axis, name in zip(axes, ("tau", "confidence"), strict=True):
            for method in methods:
                runs = [run for cell in group.over_taus(method, depth).values() for run in cell.runs]
                iterations = runs[0].history.column("iteration")
                curves = list(zip(*(run.history.column(name) for run in runs), strict=True))
                means = [statistics.fmean(values) for values in curves]
                style = line_style(method) | {"marker": None}
                axis.plot(iterations, means, **style)
                axis.fill_between(
                    iterations, *zip(*((min(v), max(v)) for v in curves), strict=True), color=style["color"], alpha=0.2
                )
                rows.extend(
                    [method_name(method), name, iteration, f"{mean:.4f}", len(runs)]
                    for iteration, mean in zip(iterations, means, strict=True)
                )
            axis.set(xlabel="iteration", ylabel="backward temperature" if name == "tau" else "confidence")
        legend_below(drawing, axes[0])

    ends = "; ".join(f"{method_name(m)} to τ {tau}, confidence {c}" for m, (tau, c) in paper.CAGE_END.items())
    caption = (
        "Mean over all runs with CAGE at this depth (every τ stream and seed), with their range. Confidence is that "
        "of the "
        f"network at the evaluation. The paper: from τ {paper.CAGE_START_TAU}, confidence "
        f"{paper.CAGE_START_CONFIDENCE}; {ends}."
    )
    columns = ["Method", "Quantity", "Iteration", "Mean", "Runs"]
    return figure_of(
        group, "cage", f"CAGE over training, L={depth}", caption, "figure 3", draw(paint, 7.2, 3.4), columns, rows
    )


def _tau_axis(axis, group: Group) -> None:
    axis.set_xscale("log")
    axis.set_xticks(group.taus, [f"{tau:g}" for tau in group.taus])
    axis.minorticks_off()
    axis.set_xlabel("τ")


def figure_of(group: Group, kind: str, title: str, caption: str, where: str, drawn, columns, rows) -> Figure:
    slug = f"{kind}-{group.name}"
    title = f"{title}, {dataset_name(group.dataset)}"
    data = table(f"{slug}-data", f"{title}: data", columns, rows)
    return Figure(slug, title, caption, where, *drawn, data, **scales(group))
