"""The demo's figure: the selection gap over training at both temperatures, and the accuracies at the end.

Colours and dashes are those of every figure of a report.
"""

import io
from typing import Any

from hardwire.cli.demo.findings import TAUS, Trial
from hardwire.paper.names import COLOURS, line_style, method_name
from hardwire.selection import SIX

_STYLE: dict[Any, Any] = {
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


def draw(trials: list[Trial]) -> bytes:
    """The figure as a PNG."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(10, 3.7), dpi=160, layout="constrained")
        axes = figure.subplots(1, 3, width_ratios=(1, 1, 0.95))
        axes[1].sharey(axes[0])
        for axis, tau in zip(axes, TAUS, strict=False):
            _gaps(axis, [trial for trial in trials if trial.run.tau == tau], tau)
        axes[0].set_ylabel("selection gap (points)")
        for y, va, text in ((0.99, "top", "↑ training promises more"), (0.01, "bottom", "↓ the circuit does better")):
            axes[0].text(0.99, y, text, transform=axes[0].transAxes, ha="right", va=va, fontsize=8, color="#555555")
        _accuracies(axes[2], trials)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(SIX))
        image = io.BytesIO()
        figure.savefig(image, format="png")
    return image.getvalue()


def _gaps(axis: Any, trials: list[Trial], tau: float) -> None:
    """One line a method; what is above zero was promised in training and not kept by the circuit."""
    axis.axhline(0, color="black", linewidth=0.7)
    for trial in trials:
        at_zero = trial.run.method.startswith("hard-st")  # the two at zero lie on each other
        style = line_style(trial.run.method) | {"marker": None, "linewidth": 2.4 if at_zero else 1.6}
        gaps = [100 * gap for gap in trial.history.column("selection")]
        axis.plot(trial.history.column("iteration"), gaps, **style, zorder=3 if at_zero else 2)
    axis.set_title(f"Selection gap over training, τ = {tau:g}")
    axis.set_xlabel("iteration")
    axis.locator_params(axis="x", nbins=4)
    axis.margins(x=0.02)


def _accuracies(axis: Any, trials: list[Trial]) -> None:
    """Two bars a method, one for each temperature: deployed; a mark where the accuracy in training is."""
    rows = {}
    for trial in trials:
        final, tau = trial.history.final, trial.run.tau
        y = list(SIX).index(trial.run.method) + (0.21 if tau == TAUS[-1] else -0.21)
        rows[y] = f"{tau:g}"
        axis.barh(y, 100 * final.deploy, 0.36, color=COLOURS[trial.run.method])
        axis.plot(100 * final.method, y, marker="|", markersize=9, markeredgewidth=1.8, color="black", clip_on=False)
        axis.text(112, y, f"{100 * final.deploy:.1f}", va="center", ha="right", fontsize=7.5)
    axis.set_yticks(range(len(SIX)), [method_name(method) for method in SIX])
    axis.set_yticks(list(rows), rows.values(), minor=True, fontsize=6.5, color="#555555")
    axis.tick_params(axis="y", which="major", length=0, pad=22)
    axis.tick_params(axis="y", which="minor", length=0, pad=2)
    axis.text(-0.02, 1.0, "τ", transform=axis.transAxes, ha="right", fontsize=7.5, color="#555555")
    axis.grid(axis="y", visible=False)
    axis.invert_yaxis()
    axis.set_xlim(0, 100)
    axis.set_xlabel("test accuracy (%)")
    axis.set_title("Deployed (bar), in training (mark)")
