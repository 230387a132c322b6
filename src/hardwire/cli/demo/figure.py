"""The demo's figure: the selection gap over training at both temperatures, and the accuracies at the end.

Colours are those of Okabe and Ito, which colour-blind readers can tell apart; CAGE has the dashed lines.
"""

from pathlib import Path

from hardwire.cli.demo.trials import METHODS, TAUS, Result

COLOURS = {
    "Soft-Mix": "#E69F00",
    "Soft-Gumbel": "#D55E00",
    "Hard-ST": "#0072B2",
    "Gumbel-ST": "#009E73",
    "Hard-ST+CAGE": "#56B4E9",
    "Gumbel-ST+CAGE": "#CC79A7",
}
_STYLE = {
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
}


def draw(results: list[Result], path: Path) -> None:
    """Writes the figure as a .png."""
    import io

    import matplotlib
    from matplotlib.figure import Figure

    from hardwire.tensorfile import write_bytes

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(10, 3.6), dpi=160, layout="constrained")
        axes = figure.subplots(1, 3, width_ratios=(1, 1, 1.05))
        axes[1].sharey(axes[0])
        for axis, tau in zip(axes, TAUS, strict=False):
            _gaps(axis, [result for result in results if result.trial.tau == tau], tau)
        axes[0].set_ylabel("selection gap (points)")
        _accuracies(axes[2], results)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS))
        image = io.BytesIO()
        figure.savefig(image, format="png")
    write_bytes(path, image.getvalue())


def _gaps(axis, results: list[Result], tau: float) -> None:
    axis.axhline(0, color="black", linewidth=0.7)
    for result in results:
        history, trial = result.history, result.trial
        axis.plot(
            history.column("iteration"),
            [100 * gap for gap in history.column("selection")],
            label=trial.label,
            color=COLOURS[trial.label],
            linewidth=1.7,
            linestyle=(0, (4, 1.5)) if trial.cage else "-",
        )
    axis.set_title(f"τ = {tau:g}")
    axis.set_xlabel("iteration")
    axis.margins(x=0.01)


def _accuracies(axis, results: list[Result]) -> None:
    """Bars: deployed. Ticks: in training. One pair of bars a method, the high temperature first."""
    for result in results:
        trial, final = result.trial, result.history.final
        row = [label for label, *_ in METHODS].index(trial.label)
        y = row + (0.2 if trial.tau == TAUS[-1] else -0.2)
        axis.barh(y, 100 * final.deploy, 0.36, color=COLOURS[trial.label])
        axis.plot(100 * final.method, y, marker="|", markersize=10, markeredgewidth=1.6, color="black")
        axis.text(1.5, y, f"τ = {trial.tau:g}", va="center", fontsize=6.5, color="white")
    axis.set_yticks(range(len(METHODS)), [label for label, *_ in METHODS])
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    axis.set_xlim(0, 100)
    axis.set_xlabel("test accuracy (%)")
    axis.set_title("deployed (bar) and in training (mark)")
