"""`History`: everything that was measured during one run, and the statistics the paper reports of it.

Surprising: a history knows which rows it was measured on, and refuses to name a best evaluation where those are the
test set's: nothing is chosen there. Two histories are equal if all but their wall-clock times are, so that a resumed
run can be compared with an uninterrupted one.
"""

import json
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from hardwire.errors import HardwireError, missing_package, unknown_name

DECIDES = "deploy"  # what the best evaluation is best in, where nothing else is said
VALIDATION = "validation"  # the only split on which something may be chosen


class Record:
    """One evaluation: iteration, the mean training loss since the evaluation before, seconds of training so far, and
    what was measured, each under its name.

    Of a network of gates that is (see `hardwire.training.GapMeasures`): method, argmax, deploy (the accuracies A^M,
    A^soft, A^hard), selection, computation, total (their differences), tau, confidence, and by layer commitment,
    gate_usage, node_actual and node_bound.
    """

    iteration: int
    loss: float
    seconds: float

    def __init__(self, iteration: int, loss: float, seconds: float = 0.0, **measured: Any):
        vars(self).update(iteration=iteration, loss=loss, **measured, seconds=seconds)

    if TYPE_CHECKING:  # what was measured

        def __getattr__(self, name: str) -> Any: ...

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and vars(self) | {"seconds": 0} == vars(other) | {"seconds": 0}

    __hash__ = None  # type: ignore[assignment]  # it holds lists

    def __repr__(self) -> str:
        return f"Record({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class History:
    """The evaluations of a run, in order: `records`, and statistics of any numeric column by name.

    split: which rows were measured: "validation", "test" or "train". best_by: the column that says which evaluation is
    best; with a minus sign in front ("-loss"), the lower the better.
    """

    def __init__(self, records: Iterable[Record] = (), split: str = "test", best_by: str = DECIDES):
        self.records, self.split, self.best_by = list(records), split, best_by

    def append(self, record: Record) -> None:
        self.records.append(record)

    def column(self, name: str) -> list[Any]:
        """One value for each evaluation, such as column("selection")."""
        for record in self.records:
            if name not in vars(record):
                raise unknown_name("column", name, vars(record))
        return [getattr(record, name) for record in self.records]

    @property
    def final(self) -> Record:
        """The last evaluation."""
        self._check_any()
        return self.records[-1]

    @property
    def best(self) -> Record:
        """The evaluation that is best in `best_by`, the earliest of equals; only of a run with validation rows."""
        if self.split != VALIDATION:
            raise HardwireError(
                f"these evaluations were made on the {self.split} rows, and the best is not chosen there; "
                "give fit validation rows, for example validation=True"
            )
        scores = self.scores()
        return self.records[scores.index(max(scores))]

    def scores(self) -> list[float]:
        """The column `best_by`, turned so that higher is better; NaN is worse than everything."""
        sign = -1 if self.best_by.startswith("-") else 1
        values = (sign * value for value in self._numbers(self.best_by.removeprefix("-")))
        return [-math.inf if math.isnan(value) else value for value in values]

    def peak(self, name: str = "selection") -> float:
        """The largest value over all evaluations."""
        return max(self._numbers(name))

    def range(self, name: str = "selection", last: float = 0.8) -> tuple[float, float]:
        """(min, max) over the evaluations in the last share of training: of 10 evenly spaced ones, the last 8."""
        if not 0 < last <= 1:
            raise HardwireError(f"last={last} is not a share of training; use a number above 0 and up to 1")
        values = self._numbers(name)
        start = round((1 - last) * self.final.iteration, 6)  # (1 - 0.8) * 5000 is a hair below 1000
        late = [value for record, value in zip(self.records, values, strict=True) if record.iteration > start]
        return min(late), max(late)

    def to_pandas(self) -> Any:
        """A DataFrame, one row for each evaluation; measures by layer are lists."""
        try:
            import pandas
        except ModuleNotFoundError as error:
            raise missing_package(error, "a DataFrame") from None
        return pandas.DataFrame([vars(record) for record in self.records])

    def plot(self, *columns: str, ax: Any = None) -> Any:
        """Draws columns over the iterations, and gives the matplotlib axes; `ax.figure.savefig(path)` writes a file.

        columns: the three passes if none is named (or what there is instead). ax: draw there.
        """
        from matplotlib import pyplot

        self._check_any()
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
        records = [vars(record) for record in self.records]
        return json.dumps({"split": self.split, "best_by": self.best_by, "records": records})

    @classmethod
    def from_json(cls, text: str) -> "History":
        try:
            content = json.loads(text)
            if isinstance(content, list):  # 0.1.0 wrote the records alone, always of the test set
                content = {"records": content}
            return cls(**content | {"records": [Record(**row) for row in content["records"]]})
        except (json.JSONDecodeError, TypeError, KeyError) as error:
            raise HardwireError(f"this is not a history in JSON: {error}") from None

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
        self._check_any()
        numeric = [key for key, value in vars(self.final).items() if isinstance(value, int | float)]
        if name not in numeric:
            raise unknown_name("numeric column", name, numeric)
        return self.column(name)

    def _check_any(self) -> None:
        if not self.records:
            raise HardwireError("the history is empty; fit evaluates every evaluate_every iterations and at the end")


_PASSES = ("method", "argmax", "deploy")
_SHOWN = {
    "deploy": "deployed {:.4f}",
    "selection": "selection gap {:+.4f}",
    "computation": "computation gap {:+.4f}",
}
