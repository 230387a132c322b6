"""The demo's figure: the selection gap during training at two temperatures, and the accuracy at the end.

Colours and dashes are those of every figure of a report. The image file carries them and its numbers as text, so that
a test can tell when a picture in the documentation was drawn by older code.
"""

import io
import json
from typing import Any

from hardwire.selection import METHOD_VARIANTS
from hardwire_paper.demo.findings import TAUS, Trial
from hardwire_paper.names import COLOURS, line_style, method_name

_STYLE: dict[Any, Any] = {  # large type: the figure is also read on a phone
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
}
_GREY = "#444444"


def draw(trials: list[Trial]) -> bytes:
    """Draw the figure as a PNG."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(7.2, 7.6), dpi=150, layout="constrained")
        parts: Any = figure.subfigures(2, 1, height_ratios=(1.1, 1), hspace=0.04)
        top, bottom = parts  # two figures, so that their margins may differ
        axes = top.subplots(1, 2, sharey=True)
        for axis, tau in zip(axes, TAUS, strict=True):
            _draw_gaps(axis, [trial for trial in trials if trial.run.tau == tau], tau)
        axes[0].set_ylabel("selection gap (points)")
        for y, va, text in ((0.98, "top", "↑ training looks better"), (0.02, "bottom", "↓ circuit does better")):
            axes[0].text(0.99, y, text, transform=axes[0].transAxes, ha="right", va=va, fontsize=10, color=_GREY)
        top.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        _draw_accuracies(bottom.subplots(), trials)
        image = io.BytesIO()
        figure.savefig(image, format="png", metadata={"Description": json.dumps(_describe(trials))})
    return image.getvalue()


def _describe(trials: list[Trial]) -> dict[str, Any]:
    """What the figure shows, as plain data: the colour of each method, and its accuracies at the end of each run."""
    accuracies = {
        f"{trial.run.method} {trial.run.tau:g}": [trial.history.final.method, trial.history.final.deploy]
        for trial in trials
    }
    return {"colours": COLOURS, "training and deployed": accuracies}


def _draw_gaps(axis: Any, trials: list[Trial], tau: float) -> None:
    """One line per method. Above zero, training reports an accuracy that the circuit does not reach."""
    axis.axhline(0, color="black", linewidth=0.7)
    for trial in trials:
        at_zero = trial.run.method.startswith("hard-st")  # both lines are zero throughout: drawn wide, on top
        style = line_style(trial.run.method) | {"marker": None, "linewidth": 2.8 if at_zero else 1.8}
        gaps = [100 * gap for gap in trial.history.column("selection")]
        axis.plot(trial.history.column("iteration"), gaps, **style, zorder=3 if at_zero else 2)
    axis.set_title(f"Gap during training, τ = {tau:g}")
    axis.set_xlabel("iteration")
    axis.locator_params(axis="x", nbins=4)
    axis.margins(x=0.02)


def _draw_accuracies(axis: Any, trials: list[Trial]) -> None:
    """Two bars per method, one for each temperature: the circuit's accuracy; a tick marks the accuracy in training."""
    rows = {}
    for trial in trials:
        final, tau = trial.history.final, trial.run.tau
        y = list(METHOD_VARIANTS).index(trial.run.method) + (0.2 if tau == TAUS[-1] else -0.2)
        rows[y] = f"{tau:g}"
        axis.barh(y, 100 * final.deploy, 0.35, color=COLOURS[trial.run.method])
        axis.plot(100 * final.method, y, marker="|", markersize=11, markeredgewidth=2.2, color="black", clip_on=False)
        axis.text(101, y, f"{100 * final.deploy:.1f}", va="center", ha="left", fontsize=10)
    axis.set_yticks(range(len(METHOD_VARIANTS)), [method_name(method) for method in METHOD_VARIANTS])
    axis.set_yticks(list(rows), rows.values(), minor=True, fontsize=9, color=_GREY)
    axis.tick_params(axis="y", which="major", length=0, pad=38)
    axis.tick_params(axis="y", which="minor", length=0, pad=2)
    axis.text(-0.01, 1.01, "τ", transform=axis.transAxes, ha="right", fontsize=11, color=_GREY)
    axis.grid(axis="y", visible=False)
    axis.invert_yaxis()
    axis.set_xlim(0, 100)
    axis.set_xlabel("test accuracy (%)")
    axis.set_title("Accuracy: circuit (bar) and training (black tick)", pad=12)
