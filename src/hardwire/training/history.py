"""`History`: everything that was measured during one run, and the statistics the paper reports of it.

Surprising: two histories are equal if all but their wall-clock times are, so that a resumed run can be compared with an
uninterrupted one.
"""

import json
from dataclasses import asdict, dataclass, field, fields

from hardwire.errors import HardwireError, unknown_name


@dataclass(frozen=True)
class Record:
    """One evaluation.

    loss: mean training loss since the evaluation before. method, argmax, deploy: the accuracies A^M, A^soft, A^hard;
    selection, computation, total: their differences. confidence: the mean over all nodes of max softmax(logits);
    commitment: the same for each layer. gate_usage: [layers][16]. node_actual, node_bound: each layer's mean node gap
    and its mean bound, on the first rows of the evaluated split. seconds: time spent training so far.
    """

    iteration: int
    loss: float
    method: float
    argmax: float
    deploy: float
    selection: float
    computation: float
    total: float
    tau: float
    confidence: float
    commitment: list[float]
    gate_usage: list[list[float]]
    node_actual: list[float]
    node_bound: list[float]
    seconds: float = field(compare=False)


_FIELDS = tuple(f.name for f in fields(Record))
_NUMBERS = tuple(f.name for f in fields(Record) if f.type in (int, float))


class History:
    """The evaluations of a run, in order: `records`, and statistics of any numeric column by name."""

    def __init__(self, records=()):
        self.records: list[Record] = list(records)

    def append(self, record: Record) -> None:
        self.records.append(record)

    def column(self, name: str) -> list:
        """One value for each evaluation, such as column("selection")."""
        if name not in _FIELDS:
            raise unknown_name("column", name, _FIELDS)
        return [getattr(record, name) for record in self.records]

    @property
    def final(self) -> Record:
        """The last evaluation."""
        self._check_any()
        return self.records[-1]

    @property
    def best(self) -> Record:
        """The evaluation of the highest deployed accuracy, the earliest of equals."""
        self._check_any()
        return max(self.records, key=lambda record: record.deploy)

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

    def to_json(self) -> str:
        return json.dumps([asdict(record) for record in self.records])

    @classmethod
    def from_json(cls, text: str) -> "History":
        try:
            rows = json.loads(text)
            return cls(Record(**row) for row in rows)
        except (json.JSONDecodeError, TypeError) as error:
            raise HardwireError(f"this is not a history in JSON: {error}") from None

    def __len__(self) -> int:
        return len(self.records)

    def __iter__(self):
        return iter(self.records)

    def __eq__(self, other) -> bool:
        return isinstance(other, History) and self.records == other.records

    __hash__ = None  # it grows

    def __repr__(self) -> str:
        if not self.records:
            return "History(empty)"
        final = self.final
        return (
            f"History({len(self)} evaluations to iteration {final.iteration}: deployed {final.deploy:.4f}, "
            f"selection gap {final.selection:+.4f}, computation gap {final.computation:+.4f})"
        )

    def _numbers(self, name: str) -> list:
        self._check_any()
        if name not in _NUMBERS:
            raise unknown_name("numeric column", name, _NUMBERS)
        return self.column(name)

    def _check_any(self) -> None:
        if not self.records:
            raise HardwireError("the history is empty; fit evaluates every evaluate_every iterations and at the end")
