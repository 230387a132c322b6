"""What a circuit of a table is worth: its score on held-out rows with a spread, its mistakes, the columns it reads.

Surprising: importance is a count and not an estimate. A column is as important as the number of gate inputs that read
its bits in the simplified circuit, and a column that no gate reads cannot change an answer.
"""

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.circuit.circuit import Circuit
from hardwire.circuit.statistics import fan_out
from hardwire.errors import HardwireError
from hardwire.files.figure import save_figure

RESAMPLES = 200  # of the held-out rows, for the spread of the score
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of residuals
MOST_DRAWN = 30  # columns in a plot


@dataclass(frozen=True, eq=False)
class TableReport:
    """What a circuit of a table does on held-out rows.

    Attributes:
        rows: Number of held-out rows.
        measure: "accuracy", or "R^2" if the target is a number.
        score: Its value.
        spread: Standard deviation of the score over resamples of the held-out rows.
        log_loss: Mean negative logarithm of the probability of the right class; None for a number.
        labels: The labels of the classes, or ().
        confusion: int64 [true class, predicted class], or None for a number.
        residuals: Quantiles of truth minus prediction, by share of the rows; empty for classes.
        absolute_error: Mean absolute error, or None for classes.
        importance: How many gate inputs read each column, most first.
        gates: Gates or tables of the circuit.
        read: (bits that gates read, bits there are).
    """

    rows: int
    measure: str
    score: float
    spread: float
    log_loss: float | None
    labels: tuple[Any, ...]
    confusion: npt.NDArray[np.int64] | None
    residuals: dict[float, float]
    absolute_error: float | None
    importance: dict[str, int]
    gates: int
    read: tuple[int, int]

    def plot(self, path: str | PathLike[str]) -> None:
        """Draws how often each column is read.

        Args:
            path: The file to write, .svg, .png or .pdf.
        """
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot

        shown = list(self.importance.items())[:MOST_DRAWN][::-1]
        figure, axes = pyplot.subplots(figsize=(7, 0.6 + 0.3 * len(shown)), layout="constrained")
        axes.barh([name[:40] for name, _ in shown], [count for _, count in shown])
        axes.set_xlabel(f"gate inputs that read the column, of {self.gates:,} gates")
        save_figure(figure, path)
        pyplot.close(figure)


def table_report(circuit: Circuit, data: Any, temperature: float = 1.0) -> TableReport:
    """Judges a circuit on the test rows of the table that it was trained on.

    Args:
        circuit: A simplified circuit with the columns of a table.
        data: The dataset of the table.
        temperature: What class sums are divided by before the softmax: `net.head().temperature` of its network.

    Returns:
        The report.

    Example:
        >>> import hardwire as hw
        >>> from hardwire.circuit.table_report import table_report
        >>> trained = hw.train("flowers.csv#species", iterations=50)  # doctest: +SKIP
        >>> circuit = hw.Circuit.from_network(trained.net).simplify()  # doctest: +SKIP
        >>> print(table_report(circuit, trained.data).importance)  # doctest: +SKIP
    """
    if circuit.columns is None or circuit.encoder is None:
        raise HardwireError("this circuit was not trained on a table, so it has no columns to report on")
    truth = data.test.y.numpy()
    sums = circuit.scores(data.raw("test"), raw=True)
    answers = circuit.answers(sums)
    used = fan_out(circuit.netlist)[: circuit.inputs]
    by_column = used.reshape(circuit.encoder.thresholds.shape).sum(axis=1)
    counts = {name: int(by_column[place]) for place, name in enumerate(circuit.columns.names)}
    common: dict[str, Any] = {
        "rows": len(truth),
        "importance": dict(sorted(counts.items(), key=lambda item: -item[1])),
        "gates": circuit.netlist.size,
        "read": (int((used > 0).sum()), circuit.inputs),
    }
    if circuit.number is not None:
        return _of_numbers(answers * circuit.number.step, truth, common)
    return _of_classes(sums / temperature, answers, truth, tuple(circuit.columns.labels or ()), common)


def _of_classes(
    scores: npt.NDArray[np.float64],
    answers: npt.NDArray[np.int64],
    truth: npt.NDArray[np.int64],
    labels: tuple[Any, ...],
    common: dict[str, Any],
) -> TableReport:
    right = (answers == truth).astype(float)
    confusion = np.zeros((scores.shape[1],) * 2, np.int64)
    np.add.at(confusion, (truth, answers), 1)
    highest = scores.max(axis=1)
    total = np.log(np.exp(scores - highest[:, None]).sum(axis=1)) + highest
    loss = float((total - scores[np.arange(len(truth)), truth]).mean())
    spread = float(np.std([right[rows].mean() for rows in _resamples(len(truth))]))
    return TableReport(
        measure="accuracy", score=float(right.mean()), spread=spread, log_loss=loss, labels=labels,
        confusion=confusion, residuals={}, absolute_error=None, **common,
    )  # fmt: skip


def _of_numbers(answers: npt.NDArray[Any], truth: npt.NDArray[np.float64], common: dict[str, Any]) -> TableReport:
    residuals = truth - answers
    spread = float(np.std([_r2(residuals[rows], truth[rows]) for rows in _resamples(len(truth))]))
    quantiles = np.quantile(residuals, QUANTILES).tolist()
    return TableReport(
        measure="R^2", score=_r2(residuals, truth), spread=spread, log_loss=None, labels=(), confusion=None,
        residuals=dict(zip(QUANTILES, quantiles, strict=True)), absolute_error=float(np.abs(residuals).mean()),
        **common,
    )  # fmt: skip


def _r2(residuals: npt.NDArray[np.float64], truth: npt.NDArray[np.float64]) -> float:
    variance = float(truth.var())
    return 1 - float(np.square(residuals).mean()) / variance if variance else float("nan")


def _resamples(rows: int) -> npt.NDArray[np.int64]:
    return np.random.default_rng(0).integers(0, rows, (RESAMPLES, rows))
