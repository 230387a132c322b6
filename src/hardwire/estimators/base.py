"""What both estimators share: a table becomes bits, bits train a network, the network becomes a circuit.

Surprising: predictions never run the network. They come from the circuit, because that is what was trained.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from numbers import Real
from typing import Any, Self, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from hardwire.bits import Columns, Encoder
from hardwire.bits.columns import check_policies
from hardwire.circuit import Circuit
from hardwire.circuit.ensemble import ensemble
from hardwire.data.frames import warn_of_numbers
from hardwire.errors import HardwireError, unknown_name, whole_number
from hardwire.estimators.build import build_network
from hardwire.estimators.jobs import thread_count, threads
from hardwire.estimators.rows import WeightedRows
from hardwire.layers import selection_mode
from hardwire.measure import Gap, evaluating
from hardwire.network import LogicNetwork
from hardwire.recipes.defaults import TABLES, steps_for, width_for
from hardwire.training import History, fit
from hardwire.training.adam import Adam
from hardwire.training.schedules import SCHEDULES, make_schedule

NUMBERS = [
    np.float64,
    np.float32,
    np.uint8,
    np.int8,
    np.int16,
    np.int32,
    np.int64,
]  # dtypes to keep; others become float64
EVALUATIONS = 20  # per fit
MEASURED = 2000  # training rows that an evaluation looks at
TRIED_PARTS = (1, 4, 16)  # of the usual width, which width="auto" tries
OBSERVED = "the classes in y"  # what `classes` defaults to, because None is what a caller passes by mistake
Table: TypeAlias = npt.NDArray[Any]
Numbers: TypeAlias = npt.NDArray[Any]  # float64, or int64 for the numbers of classes


class LogicEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Base class of both estimators; `LogicClassifier` documents the parameters."""

    network_: LogicNetwork
    networks_: list[LogicNetwork]
    encoder_: Encoder
    circuit_: Circuit
    gap_: Gap
    history_: History
    n_iter_: int

    def __init__(
        self,
        *,
        width: int | str | None = None,
        depth: int = TABLES.depth,
        arity: int | None = None,
        n_estimators: int = 1,
        bits: int = 16,
        thresholds: str = "quantile",
        missing: str = "zero",
        unknown: str = "zero",
        method: str = TABLES.method.removesuffix("+cage"),
        tau: float = 1.0,
        cage: bool = TABLES.method.endswith("+cage"),
        wiring: str = TABLES.wiring,
        candidates: int | None = TABLES.candidates,
        start: str = TABLES.start,
        iterations: int | None = None,
        batch_size: int = TABLES.batch_size,
        learning_rate: float = TABLES.lr,
        schedule: str = TABLES.schedule,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.width = width
        self.depth = depth
        self.arity = arity
        self.n_estimators = n_estimators
        self.bits = bits
        self.thresholds = thresholds
        self.missing = missing
        self.unknown = unknown
        self.method = method
        self.tau = tau
        self.cage = cage
        self.wiring = wiring
        self.candidates = candidates
        self.start = start
        self.iterations = iterations
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains on a table.

        Args:
            X: Array or DataFrame [rows, features].
            y: Target of each row.
            sample_weight: Weight of each row; a row of weight 2 counts as two rows. None: all 1.

        Returns:
            The estimator itself.

        Raises:
            HardwireError: If a parameter is out of range or the target cannot be learned.
        """
        with threads(self.n_jobs):
            table, target, weight = self._read(X, y, sample_weight, first=True)
            iterations = steps_for(len(table), self.batch_size) if self.iterations is None else self.iterations
            return self._train(table, target, weight, iterations, self.early_stopping)

    def _continue(self, X: Any, y: Any, sample_weight: Any, classes: Any = OBSERVED) -> Self:
        """Trains for one pass over X, keeping what the first call fitted (thresholds, classes, range)."""
        with threads(self.n_jobs):
            table, target, weight = self._read(X, y, sample_weight, not hasattr(self, "network_"), classes)
            return self._train(table, target, weight, math.ceil(len(table) / self.batch_size), False, "constant")

    def _read(
        self, X: Any, y: Any, sample_weight: Any, first: bool, classes: Any = OBSERVED
    ) -> tuple[Table, Numbers, Numbers]:
        """Checks the input and returns table, targets and weights as numbers; the first call makes the network."""
        self._check_settings()
        shape: tuple[int, ...] = np.shape(y) if isinstance(y, list | tuple) else getattr(y, "shape", ())
        if len(shape) == 2 and shape[1] > 1:
            raise HardwireError(
                f"y has {shape[1]} columns, and a circuit answers with one; wrap the estimator in "
                f"sklearn.multioutput.{'MultiOutputRegressor' if self._numeric_target else 'MultiOutputClassifier'}"
            )
        name = getattr(y, "name", None)
        table, y = validate_data(
            self,
            self._coded(X, first),
            y,
            reset=first,
            dtype=NUMBERS,
            y_numeric=self._numeric_target,
            ensure_all_finite=self._finite(),
        )
        weight = _check_sample_weight(sample_weight, table, dtype=np.float64, ensure_non_negative=True)
        if not weight.any():
            raise HardwireError("all sample weights are 0, so no row counts; give at least one positive weight")
        if first:
            self._learn_target(y, weight, classes)
            self._begin(table, self._target(y), self._weights(y, weight), None if name is None else str(name))
        return table, self._target(y), self._weights(y, weight)

    def _check_settings(self) -> None:
        """Checks the parameters that the network and `fit` would reject under another name."""
        check_policies(self.missing, self.unknown)
        for name in ("depth", "n_estimators", "batch_size", "n_iter_no_change"):
            whole_number(name, getattr(self, name))
        if self.width not in (None, "auto"):
            whole_number("width", self.width)
        if self.schedule not in SCHEDULES:
            raise unknown_name("schedule", self.schedule, SCHEDULES)
        if self.iterations is not None:
            whole_number("iterations", self.iterations)
        rate, share = self.learning_rate, self.validation_fraction
        if not (isinstance(rate, Real) and 0 < rate < math.inf):
            raise HardwireError(f"learning_rate {rate!r} is not a positive number; try 0.01")
        if not (isinstance(share, Real) and 0 < share < 1):
            raise HardwireError(f"validation_fraction {share!r} is not a share of the rows; use one such as 0.1")

    def _finite(self) -> bool | str:
        """What scikit-learn's checks allow: NaN unless missing values are an error."""
        return True if self.missing == "error" else "allow-nan"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing != "error"
        return tags

    def _coded(self, X: Any, first: bool) -> Any:
        """Replaces texts and dates by numbers if X is a DataFrame."""
        if not _is_frame(X):
            if first:
                self._columns = Columns(())
            return X
        if first:
            self._columns = Columns.of(X, missing=self.missing, unknown=self.unknown)
            warn_of_numbers(self._columns, X, comma='pandas.read_csv(..., decimal=",")')
        return self._columns.coded(X) if self._columns.texts or self._columns.dates else X

    def _begin(self, table: Table, y: Numbers, weight: Numbers, target: str | None) -> None:
        """Fits the thresholds of the columns and makes the untrained network."""
        random = check_random_state(self.random_state)
        self._seeds = [int(random.randint(2**31 - 1)) for _ in range(self.n_estimators)]
        self._seed = self._seeds[0]
        names = tuple(getattr(self, "feature_names_in_", [f"x{number}" for number in range(table.shape[1])]))
        columns = replace(
            self._columns, names=names, target=target, labels=self._labels(), missing=self.missing, unknown=self.unknown
        )
        self.encoder_ = Encoder.fit(
            table, self.bits, self.thresholds, weight, **columns.encoding(), names=columns.names
        )
        words = self.encoder_.encode(table)
        self.width_ = self._choose_width(words, y, weight)
        settings = self.get_params() | {"width": self.width_}
        self.networks_ = [build_network(self.encoder_, words, self._head(), seed, settings) for seed in self._seeds]
        self.network_ = self.networks_[0]
        self.network_.columns = columns
        self._optimizers = self._new_optimizers()
        self.n_iter_ = 0

    def _new_optimizers(self) -> list[Adam]:
        return [Adam(network.parameters(), self.learning_rate) for network in self.networks_]

    def _choose_width(self, words: npt.NDArray[np.uint64], y: Numbers, weight: Numbers) -> int:
        """The width that was asked for, that of the table, or the one of several that is best on held-out rows."""
        usual = width_for(len(words), self._classes())
        if self.width != "auto":
            return usual if self.width is None else int(self.width)
        rows = WeightedRows(words, y, weight).distinct()
        first, held_out = rows.split(self.validation_fraction, self._seed, by_target=not self._numeric_target)
        if not len(held_out):
            return usual
        losses = {}
        for width in sorted({max(usual // part, self._classes() or 1) for part in TRIED_PARTS}):
            settings = self.get_params() | {"width": width}
            network = build_network(self.encoder_, words, self._head(), self._seed, settings)
            optimizer = Adam(network.parameters(), self.learning_rate)
            steps = steps_for(len(words), self.batch_size)
            history, _ = self._run(network, optimizer, self._seed, first, held_out, steps, False, self.schedule)
            losses[width] = history.final.log_loss
        return min(losses, key=lambda width: losses[width])

    def _train(
        self,
        table: Table,
        target: Numbers,
        weight: Numbers,
        iterations: int,
        early_stopping: bool,
        schedule: str | None = None,
    ) -> Self:
        rows = WeightedRows(self.encoder_.encode(table), target, weight).distinct()
        held_out = None
        if early_stopping:
            rows, held_out = rows.split(self.validation_fraction, self._seed, by_target=not self._numeric_target)
            if not len(held_out):
                raise HardwireError(
                    f"validation_fraction {self.validation_fraction:g} of {len(rows)} rows leaves no row to validate "
                    "on; use a larger one, or early_stopping=False"
                )
        runs = [
            self._run(*member, rows, held_out, iterations, early_stopping, schedule or self.schedule)
            for member in zip(self.networks_, self._optimizers, self._seeds, strict=True)
        ]
        self.history_, measured = runs[0]
        self.n_iter_ += self.history_.final.iteration
        self.gap_ = self._gap(self.network_, measured)
        self.circuit_ = ensemble([Circuit.from_network(network) for network in self.networks_]).simplify()
        return self

    def _run(
        self,
        network: LogicNetwork,
        optimizer: Adam,
        seed: int,
        rows: WeightedRows,
        held_out: WeightedRows | None,
        iterations: int,
        early_stopping: bool,
        schedule: str,
    ) -> tuple[History, Any]:
        """Trains a network; returns its history, and the rows that it was measured on: held-out ones, or a sample."""
        features = self.encoder_.features
        for group in optimizer.param_groups:  # the schedule of an earlier fit may have ended at zero
            group["lr"] = self.learning_rate
            group.pop("initial_lr", None)
        measured = (rows.sample(MEASURED, self._seed) if held_out is None else held_out).rows(features)
        history = fit(
            network,
            rows.rows(features),
            iterations=iterations,
            batch_size=min(self.batch_size, len(rows)),
            evaluate_every=max(1, iterations // EVALUATIONS),
            loss=self._loss,
            measures=self._measures,
            best_by="-log_loss",
            optimizer=optimizer,
            scheduler=make_schedule(schedule, iterations),
            seed=seed,
            validation=measured,
            stop_early=self.n_iter_no_change if early_stopping else None,
            keep_best=early_stopping,
            progress=bool(self.verbose),
        )
        history.split = "train" if held_out is None else "validation"
        return history, measured

    def _measures(self, net: torch.nn.Module, rows: Any) -> dict[str, float]:
        gap = self._gap(net, rows)
        measured = {name: getattr(gap, name) for name in ("method", "argmax", "deploy", "total")}
        return measured | {"log_loss": self._deployed_loss(net, rows)}

    @torch.no_grad()
    def _deployed_loss(self, net: Any, rows: Any) -> float:
        """The mean loss of the circuit: what early stopping and `width="auto"` judge by."""
        with evaluating(net), selection_mode(net, "deploy"):
            return float(self._loss(net(rows.x), rows.y))

    def staged_scores(self) -> dict[str, npt.NDArray[Any]]:
        """How the scores went during the last fit, for plots.

        Returns:
            Arrays by name, one entry for each of about 20 evaluations: "step", "score" (accuracy or R^2 of the circuit)
            and "loss" (log loss, or squared error over the variance of the target), on the held-out rows of early
            stopping, or else on a sample of 2,000 training rows.
        """
        check_is_fitted(self)
        records = list(self.history_)
        return {
            "step": np.array([record.iteration for record in records]),
            "score": self._scores_of(np.array([record.deploy for record in records])),
            "loss": np.array([record.log_loss for record in records]),
        }

    def _run_circuit(self, X: Any, method: Callable[..., npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Runs a method of Circuit on the rows of X."""
        check_is_fitted(self)
        table = validate_data(
            self, self._coded(X, first=False), reset=False, dtype=NUMBERS, ensure_all_finite=self._finite()
        )
        return method(self.circuit_, table, raw=True, threads=thread_count(self.n_jobs))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "circuit_")

    def __getstate__(self) -> dict[str, Any]:
        """Without the states of the optimizers, twice as large as the networks; `partial_fit` begins new ones."""
        state = dict(super().__getstate__())  # a copy: scikit-learn returns the dictionary of the object itself
        state.pop("_optimizers", None)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "network_"):
            self._optimizers = self._new_optimizers()

    def _weights(self, y: npt.NDArray[Any], weight: Numbers) -> Numbers:
        """The weights of the rows with those of their classes."""
        return weight

    # What the subclasses define.

    _numeric_target: bool

    def _classes(self) -> int | None:
        """The number of classes, or None."""
        raise NotImplementedError

    def _scores_of(self, deployed: Numbers) -> Numbers:
        """Accuracies, or R^2 of squared errors."""
        raise NotImplementedError

    def _learn_target(self, y: Numbers, weight: Numbers, classes: Any) -> None:
        """Learns the classes or the range of the target; classes: those of a classifier, or OBSERVED."""
        raise NotImplementedError

    def _target(self, y: npt.NDArray[Any]) -> Numbers:
        """y as targets of the network, int64 or float64."""
        raise NotImplementedError

    def _labels(self) -> tuple[Any, ...] | None:
        """The classes as plain Python values, or None."""
        raise NotImplementedError

    def _head(self) -> dict[str, Any]:
        """Arguments of LogicNetwork that say what follows the last layer."""
        raise NotImplementedError

    def _loss(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Loss of a batch; y [batch, 2] holds targets and weights."""
        raise NotImplementedError

    def _gap(self, net: torch.nn.Module, rows: Any) -> Gap:
        """The gap between the network in training and the circuit, each row counted by its weight."""
        raise NotImplementedError


def _is_frame(X: Any) -> bool:
    return hasattr(X, "iloc") and hasattr(X, "columns")
