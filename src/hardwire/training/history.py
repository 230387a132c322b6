"""`History`: everything that was measured during one run, and the statistics that the paper reports.

Surprising: a history knows which rows it was measured on, and refuses to name a best evaluation if they are the test
rows, because nothing may be selected on those. Two histories are equal if everything except the wall-clock times is, so
that a resumed run can be compared with an uninterrupted one.
"""

import json
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hardwire.errors import HardwireError, missing_package, unknown_name
from hardwire.files import parse_json

DEFAULT_BEST_BY = "deploy"  # the measure that decides which evaluation is best, unless another one is named
VALIDATION = "validation"  # the only split on which something may be selected


class Record:
    """One evaluation.

    For a network of gates the measures are (see `hardwire.training.GapMeasures`): method, argmax, deploy (the
    accuracies A^M, A^soft, A^hard), selection, computation, total (their differences), tau, confidence, and by layer
    commitment, gate_usage (of layers with two inputs a neuron), node_actual and node_bound.

    Args:
        iteration: Training steps done.
        loss: Mean training loss since the previous evaluation.
        seconds: Training time so far.
        **measured: What was measured; each becomes an attribute.

    Example:
        >>> history.final.deploy
        0.9472
    """

    iteration: int
    loss: float
    seconds: float

    def __init__(self, iteration: int, loss: float, seconds: float = 0.0, **measured: Any):
        vars(self).update(iteration=iteration, loss=loss, **measured, seconds=seconds)

    if TYPE_CHECKING:  # the measures

        def __getattr__(self, name: str) -> Any: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and vars(self) | {"seconds": 0} == vars(other) | {"seconds": 0}

    __hash__ = None  # type: ignore[assignment]  # it holds lists

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class History:
    """The evaluations of a run in order, as `fit` returns them, with statistics of any numeric column.

    Args:
        records: The evaluations.
        split: The rows that were measured: "validation", "test" or "train".
        best_by: The column that decides which evaluation is best; with a minus sign in front ("-loss"), lower is
            better.

    Example:
        >>> history = hw.fit(net, data, iterations=1000, evaluate_every=250, validation=True)
        >>> len(history), history.final.iteration
        (4, 1000)
        >>> history.column("deploy")
        [0.871, 0.903, 0.912, 0.915]
        >>> history.best.iteration
        1000
    """

    def __init__(self, records: Iterable[Record] = (), split: str = "test", best_by: str = DEFAULT_BEST_BY):
        self.records, self.split, self.best_by = list(records), split, best_by

    def append(self, record: Record) -> None:
        """Adds an evaluation.

        Args:
            record: The evaluation.
        """
        self.records.append(record)

    def column(self, name: str) -> list[Any]:
        """The values of one column, one for each evaluation.

        Args:
            name: A column, such as "selection".

        Raises:
            HardwireError: An evaluation has no such column.
        """
        for record in self.records:
            if name not in vars(record):
                raise unknown_name("column", name, vars(record))
        return [getattr(record, name) for record in self.records]

    @property
    def final(self) -> Record:
        """The last evaluation."""
        self._check_not_empty()
        return self.records[-1]

    @property
    def best(self) -> Record:
        """The best evaluation by `best_by`, the earliest of equals.

        Raises:
            HardwireError: The evaluations were not made on validation rows.
        """
        if self.split != VALIDATION:
            raise HardwireError(
                f"these evaluations were made on the {self.split} rows, where the best one is not selected; "
                "give fit validation rows, for example validation=True"
            )
        scores = self.scores()
        return self.records[scores.index(max(scores))]

    def scores(self) -> list[float]:
        """The column `best_by`, with its sign changed if lower is better; NaN is worse than any number."""
        sign = -1 if self.best_by.startswith("-") else 1
        values = (sign * value for value in self._numbers(self.best_by.removeprefix("-")))
        return [-math.inf if math.isnan(value) else value for value in values]

    def peak(self, name: str = "selection") -> float:
        """The largest value of a column over all evaluations.

        Args:
            name: A numeric column.
        """
        return max(self._numbers(name))

    def range(self, name: str = "selection", last: float = 0.8) -> tuple[float, float]:
        """The smallest and the largest value of a column in the last part of training.

        Args:
            name: A numeric column.
            last: The part, as a share of the iterations: 0.8 of 10 evenly spaced evaluations are the last 8.

        Returns:
            (min, max).
        """
        if not 0 < last <= 1:
            raise HardwireError(f"last={last} is not a share of training; use a number above 0 and up to 1")
        values = self._numbers(name)
        start = round((1 - last) * self.final.iteration, 6)  # (1 - 0.8) * 5000 is a hair below 1000
        late = [value for record, value in zip(self.records, values, strict=True) if record.iteration > start]
        return min(late), max(late)

    def to_pandas(self) -> Any:
        """The history as a pandas DataFrame, one row for each evaluation; measures by layer are lists."""
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise missing_package(error, "a DataFrame") from None
        return pandas.DataFrame([vars(record) for record in self.records])

    def plot(self, *columns: str, ax: Any = None) -> Any:
        """Plots columns over the iterations.

        Args:
            *columns: Columns to plot; by default the accuracies of the three passes, or the column `best_by` if these
                were not measured.
            ax: Matplotlib axes to draw on; new ones by default.

        Returns:
            The axes; `ax.figure.savefig(path)` writes a file.
        """
        from matplotlib import pyplot

        self._check_not_empty()
        columns = columns or tuple(name for name in _PASSES if name in vars(self.final))
        columns = columns or (self.best_by.removeprefix("-"),)
        ax = pyplot.subplots()[1] if ax is None else ax
        for name, width in zip(columns, range(2 + 2 * len(columns), 0, -2), strict=False):
            # the first is the widest, because the lines of hard-st lie on each other
            ax.plot(self.column("iteration"), self._numbers(name), linewidth=width / 2, label=name)
        ax.set_xlabel("iteration")
        ax.set_title(f"measured on the {self.split} rows")
        ax.legend()
        return ax

    def to_json(self) -> str:
        """The history as JSON; `from_json` reads it."""
        records = [vars(record) for record in self.records]
        return json.dumps({"split": self.split, "best_by": self.best_by, "records": records})

    @classmethod
    def from_json(cls, text: str | bytes) -> "History":
        """Reads a history that `to_json` wrote.

        Args:
            text: The JSON document.

        Raises:
            HardwireError: The text is not a history.
        """
        content = parse_json(text, "the history")
        try:
            records = [_checked_record(row) for row in content["records"]]
            split, best_by = content["split"], content["best_by"]
        except (TypeError, KeyError) as error:
            raise HardwireError(f"this is not a history in JSON: {error}") from None
        if not isinstance(split, str) or not isinstance(best_by, str):
            raise HardwireError("this is not a history in JSON: split and best_by are names")
        return cls(records, split, best_by)

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self.records)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, History) and (self.split, self.records) == (other.split, other.records)

    __hash__ = None  # type: ignore[assignment]  # it grows

    def __repr__(self) -> str:
        if not self.records:
            return "History(empty)"
        shown = {name: text for name, text in _SHOWN.items() if name in vars(self.final)} or {"loss": "loss {:.4f}"}
        values = ", ".join(text.format(getattr(self.final, name)) for name, text in shown.items())
        return f"History({len(self)} evaluations to iteration {self.final.iteration}: {values})"

    def _numbers(self, name: str) -> list[float]:
        self._check_not_empty()
        numeric = [key for key, value in vars(self.final).items() if isinstance(value, int | float)]
        if name not in numeric:
            raise unknown_name("numeric column", name, numeric)
        return self.column(name)

    def _check_not_empty(self) -> None:
        if not self.records:
            raise HardwireError("the history is empty; fit evaluates every evaluate_every iterations and at the end")


def _checked_record(row: dict[str, Any]) -> Record:
    record = Record(**row)
    if type(record.iteration) is not int or record.iteration < 0:
        raise HardwireError(f"this is not a history in JSON: iteration {record.iteration!r:.40}")
    for name in ("loss", "seconds"):
        if not isinstance(getattr(record, name), int | float):
            raise HardwireError(f"this is not a history in JSON: {name} {getattr(record, name)!r:.40}")
    return record


_PASSES = ("method", "argmax", "deploy")
_SHOWN = {
    "deploy": "deployed {:.4f}",
    "selection": "selection gap {:+.4f}",
    "computation": "computation gap {:+.4f}",
}
