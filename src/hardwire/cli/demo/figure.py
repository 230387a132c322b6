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

    from hardwire.files import write_whole

    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(10, 3.7), dpi=160, layout="constrained")
        axes = figure.subplots(1, 3, width_ratios=(1, 1, 0.95))
        axes[1].sharey(axes[0])
        for axis, tau in zip(axes, TAUS, strict=False):
            _gaps(axis, [result for result in results if result.trial.tau == tau], tau)
        axes[0].set_ylabel("selection gap (points)")
        for y, va, text in ((0.99, "top", "↑ training promises more"), (0.01, "bottom", "↓ the circuit does better")):
            axes[0].text(0.99, y, text, transform=axes[0].transAxes, ha="right", va=va, fontsize=8, color="#555555")
        _accuracies(axes[2], results)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(METHODS))
        image = io.BytesIO()
        figure.savefig(image, format="png")
    write_whole(path, image.getvalue())


def _gaps(axis, results: list[Result], tau: float) -> None:
    """One line a method; what is above zero was promised in training and not kept by the circuit."""
    axis.axhline(0, color="black", linewidth=0.7)
    for result in results:
        history, trial = result.history, result.trial
        axis.plot(
            history.column("iteration"),
            [100 * gap for gap in history.column("selection")],
            label=trial.label,
            color=COLOURS[trial.label],
            linewidth=2.4 if trial.method == "hard-st" else 1.6,  # the two at zero lie on each other
            linestyle=(0, (3, 1.5)) if trial.cage else "-",
            zorder=3 if trial.method == "hard-st" else 2,
        )
    axis.set_title(f"Selection gap over training, τ = {tau:g}")
    axis.set_xlabel("iteration")
    axis.locator_params(axis="x", nbins=4)
    axis.margins(x=0.02)


def _accuracies(axis, results: list[Result]) -> None:
    """Two bars a method, one for each temperature: deployed; a mark where the accuracy in training is."""
    labels = [label for label, *_ in METHODS]
    rows = {}
    for result in results:
        trial, final = result.trial, result.history.final
        y = labels.index(trial.label) + (0.21 if trial.tau == TAUS[-1] else -0.21)
        rows[y] = f"{trial.tau:g}"
        axis.barh(y, 100 * final.deploy, 0.36, color=COLOURS[trial.label])
        axis.plot(100 * final.method, y, marker="|", markersize=9, markeredgewidth=1.8, color="black", clip_on=False)
        axis.text(112, y, f"{100 * final.deploy:.1f}", va="center", ha="right", fontsize=7.5)
    axis.set_yticks(range(len(labels)), labels)
    axis.set_yticks(list(rows), rows.values(), minor=True, fontsize=6.5, color="#555555")
    axis.tick_params(axis="y", which="major", length=0, pad=22)
    axis.tick_params(axis="y", which="minor", length=0, pad=2)
    axis.text(-0.02, 1.0, "τ", transform=axis.transAxes, ha="right", fontsize=7.5, color="#555555")
    axis.grid(axis="y", visible=False)
    axis.invert_yaxis()
    axis.set_xlim(0, 100)
    axis.set_xlabel("test accuracy (%)")
    axis.set_title("Deployed (bar), in training (mark)")
