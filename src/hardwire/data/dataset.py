"""`Dataset`: the data that training, measurements and circuits read, checked once when it is made.

A binary dataset holds packed `Bits`, a continuous one float32 in [0, 1]. Surprising: `validation` is the last part of
`train`, a view of the same rows, until `with_validation` takes it out. Without it a run trains on all rows, as the
paper does. The raw values of the files are not kept in memory; `Dataset.raw` reads them again.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from hardwire.bits import Bits, Columns, Encoder
from hardwire.data.rows import VALIDATION_SHARE, Split, first_held_out
from hardwire.errors import HardwireError, unknown_name

SPLITS = ("train", "test")


@dataclass(frozen=True, eq=False)
class Dataset:
    """A training split and a test split, and how raw values become their bits.

    Args:
        name: Name in messages and model files.
        train: Rows to train on.
        test: Rows to test on.
        classes: Number of classes; 1 if the target is a number.
        encoder: Thresholds in the units of the raw values. `encoder.encode(data.raw(split))` gives the bits that a
            deployed circuit reads, also if x is continuous.
        image_shape: Shape of one raw row, such as (28, 28), or None.
        read_raw: Function that reads the raw values of a split, given its name, for `raw`.
        held_out: Validation rows that are not in train, or None.
        columns: Names of the raw values and classes in a table, or None.
        number: Range (low, high) of the target if it is a number instead of a class.

    Raises:
        HardwireError: If the parts do not fit together.

    Example:
        >>> import hardwire as hw
        >>> data = hw.data.load("digits")
        >>> data.train
        Split(1347 rows of 320 bits)
        >>> data.raw("test").shape
        (450, 64)
    """

    name: str
    train: Split
    test: Split
    classes: int
    encoder: Encoder | None = None
    image_shape: tuple[int, ...] | None = None
    read_raw: Callable[[str], np.ndarray] | None = field(default=None, repr=False)
    held_out: Split | None = None
    columns: Columns | None = None
    number: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        self._check_fit("test", self.test)
        if self.held_out is not None:
            self._check_fit("validation", self.held_out)
        if self.number is None:
            self._check_label_range()
        self._check_encoder()

    def _check_fit(self, name: str, split: Split) -> None:
        if isinstance(self.train.x, Bits) != isinstance(split.x, Bits):
            raise HardwireError(f"{self.name}: one split holds bits and the other floats; make both the same")
        if self.train.x.shape[1] != split.x.shape[1]:
            raise HardwireError(
                f"{self.name}: training rows have {self.train.x.shape[1]} features and {name} rows "
                f"{split.x.shape[1]}; both need the same"
            )

    def _check_label_range(self) -> None:
        for name in ("train", "test", "validation"):
            highest = int(getattr(self, name).y.max())
            if highest >= self.classes:
                raise HardwireError(
                    f"{self.name}: label {highest} in the {name} split is out of range; "
                    f"the labels of {self.classes} classes are 0 to {self.classes - 1}"
                )

    def _check_encoder(self) -> None:
        if self.encoder is not None and self.encoder.features != self.inputs:
            raise HardwireError(
                f"{self.name}: the encoder gives {self.encoder.features} bits, but the rows have {self.inputs}"
            )
        raw_features = self.inputs if self.encoder is None else self.encoder.raw_features
        if self.image_shape is not None and math.prod(self.image_shape) != raw_features:
            raise HardwireError(f"{self.name}: image shape {self.image_shape} does not hold {raw_features} raw values")

    @property
    def inputs(self) -> int:
        """Number of features of a row, which is the number of inputs of the network."""
        return self.train.x.shape[1]

    def useful_inputs(self) -> list[int] | None:
        """The inputs worth wiring for a table: those that vary in the training rows. None means all inputs."""
        if self.columns is None or self.encoder is None or not isinstance(self.train.x, Bits):
            return None
        useful: list[int] = self.encoder.useful(self.train.x.numpy()).tolist()
        return useful

    @property
    def validation(self) -> Split:
        """The rows held out for validation, or else the last sixth of train, which `with_validation` takes out."""
        return (
            self.train.part(slice(first_held_out(len(self.train), VALIDATION_SHARE), None))
            if self.held_out is None
            else self.held_out
        )

    def with_validation(self, share: float | None = None) -> "Dataset":
        """Takes the validation rows out of `train`; nothing is copied.

        Args:
            share: Share of the training rows to hold out, from the end. None: validation rows that were given, or
                else one sixth.

        Returns:
            The same dataset with a shorter `train` and with `held_out` rows.

        Example:
            >>> import hardwire as hw
            >>> data = hw.data.load("digits").with_validation()
            >>> len(data.train), len(data.validation)
            (1123, 224)
        """
        if self.held_out is not None and share is None:
            return self
        train, validation = self.train.hold_out(VALIDATION_SHARE if share is None else share)
        read, rows = self.read_raw, len(train)

        def read_raw(split: str) -> np.ndarray:
            assert read is not None
            parts = {"train": ("train", slice(rows)), "validation": ("train", slice(rows, None))}
            source, part = parts.get(split, (split, slice(None)))
            return read(source)[part]

        return replace(self, train=train, held_out=validation, read_raw=None if read is None else read_raw)

    def raw(self, split: str) -> np.ndarray:
        """Reads the raw values of a split, as the files hold them.

        Args:
            split: "train", "validation" or "test".

        Returns:
            Array [rows, raw_features], read again on every call.

        Raises:
            HardwireError: If the dataset has no source of raw values, or the file has changed.
        """
        known = (*SPLITS, "validation")
        if split not in known:
            raise unknown_name("split", split, known)
        if self.read_raw is None:
            raise HardwireError(f"{self.name} was made without a source of raw values; pass read_raw to Dataset")
        if split == "validation" and self.held_out is None:
            return self.raw("train")[-len(self.validation) :]
        raw = self.read_raw(split)
        if len(raw) != len(getattr(self, split)):
            raise HardwireError(
                f"{self.name}: the file of the {split} split has changed since it was loaded; load again"
            )
        return raw
