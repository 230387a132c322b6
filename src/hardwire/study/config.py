"""`Config`: what decides the course of one run, as plain data: the kind of run and a value on each of its axes.

Surprising: a run has no number and no name of its own. Its key is a hash of its configuration and of the code, so the
same run is found again by whoever asks for it, and never taken for one that other code has made.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

Value = str | int | float | None


@dataclass(frozen=True)
class Config:
    """kind: the name of a kind of run. values: (axis, value) pairs; `config["tau"]` gives one, None where not set."""

    kind: str
    values: tuple[tuple[str, Value], ...]
    _by_axis: dict[str, Value] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_axis", dict(self.values))

    @classmethod
    def of(cls, kind: str, values: Mapping[str, Value]) -> "Config":
        return cls(kind, tuple(sorted(values.items())))

    def __getitem__(self, axis: str) -> Value:
        return self._by_axis.get(axis)

    def text(self, axis: str) -> str:
        return str(self[axis])

    def whole(self, axis: str) -> int:
        value = self[axis]
        assert isinstance(value, int), (axis, value)
        return value

    def number(self, axis: str) -> float:
        value = self[axis]
        assert isinstance(value, int | float), (axis, value)
        return float(value)

    def to_json(self) -> str:
        return json.dumps(self._by_axis)

    @cached_property
    def identity(self) -> str:
        """The same for the same run, whatever code did it and whatever axes have been added to its kind since."""
        said = {axis: value for axis, value in self.values if value is not None}
        return _digest({"kind": self.kind, **said})

    def key(self, code: str) -> str:
        """The name of this run in a store."""
        return _digest({"kind": self.kind, **self._by_axis, "code": code})


def _digest(values: Mapping[str, Value]) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=12).hexdigest()
