"""`Config`: what decides how one run goes, as plain data: the kind of run and a value on each of its axes.

Surprising: a run has no number and no name of its own. Its key is a hash of its configuration and of the code, so
that the same run is recognised whoever asks for it, and never taken for one that was made by other code.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

Value = str | int | float | None


@dataclass(frozen=True)
class Config:
    """The configuration of a run; `config["tau"]` is one value of it, None if it is not set.

    Attributes:
        kind: The name of a kind of run.
        values: Sorted pairs of axis and value.

    Example:
        >>> Config.of("network", {"tau": 1.0, "seed": 0})["tau"]
        1.0
    """

    kind: str
    values: tuple[tuple[str, Value], ...]
    _by_axis: dict[str, Value] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_axis", dict(self.values))

    @classmethod
    def of(cls, kind: str, values: Mapping[str, Value]) -> "Config":
        """Returns the configuration with these values, in whatever order they come."""
        return cls(kind, tuple(sorted(values.items())))

    def __getitem__(self, axis: str) -> Value:
        return self._by_axis.get(axis)

    def text(self, axis: str) -> str:
        """Returns the value as text."""
        return str(self[axis])

    def whole(self, axis: str) -> int:
        """Returns a value that is a whole number."""
        value = self[axis]
        assert isinstance(value, int), (axis, value)
        return value

    def number(self, axis: str) -> float:
        """Returns a value that is a number."""
        value = self[axis]
        assert isinstance(value, int | float), (axis, value)
        return float(value)

    def to_json(self) -> str:
        """Returns the values as a JSON object."""
        return json.dumps(self._by_axis)

    @cached_property
    def identity(self) -> str:
        """A hash that is the same for the same run, whatever code made it and whatever axes its kind gained since."""
        given = {axis: value for axis, value in self.values if value is not None}
        return _digest({"kind": self.kind, **given})

    def key(self, code: str) -> str:
        """Returns the name of this run in a store. code: the version of the code that runs it."""
        return _digest({"kind": self.kind, **self._by_axis, "code": code})


def _digest(values: Mapping[str, Value]) -> str:
    return hashlib.blake2b(json.dumps(values, sort_keys=True).encode(), digest_size=12).hexdigest()
