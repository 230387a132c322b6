"""`LogicClassifier`: a classifier for scikit-learn that is a circuit of logic gates."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from torch.nn import functional as F

from hardwire.circuit import Circuit
from hardwire.errors import HardwireError
from hardwire.estimators.base import OBSERVED, LogicEstimator, Numbers
from hardwire.measure import Gap, measure_gap
from hardwire.recipes.defaults import TABLES, WIDEST
from hardwire.selection import first_argmax


class LogicClassifier(ClassifierMixin, LogicEstimator):  # type: ignore[misc]
    """A classifier that is a circuit of two-input gates, with scikit-learn's conventions.

    Thresholds fitted to the training rows turn each column into bits. A column of text in a DataFrame has one bit for
    each distinct text, of many the 62 most frequent ones and "other"; a date counts days since 1970. Predictions come
    from the circuit.

    Args:
        width: Gates per layer; the last layer is rounded up to a multiple of the number of classes. None: by the rows
            and classes, 1,000 to 8,000. "auto": this, a quarter and a sixteenth of it are tried on
            `validation_fraction` of the rows, and the best is trained on all.
        depth: Number of layers.
        arity: Inputs of each look-up table, 2 to 6. None: layers of two-input gates.
        n_estimators: Networks, trained from seeds of their own; the circuit adds up their class sums. Several are a
            little better, and cost as many times the fit and the gates. Of a regressor 1, 2, 4, ...
        bits: Thresholds per column.
        thresholds: Where to place them: "quantile" (equal numbers of rows between them) or "uniform" (equal steps).
        missing: What a missing value means: "zero" (all bits of the column are 0; a column of text has a bit for it if
            values were missing in training), "indicator" (as zero, and each column of numbers gets a bit that says that
            its value is there, or is at least not lower than all others by more than their range) or "error".
        unknown: What a text means that the training rows did not have: "zero" (all bits are 0, or "other" if the column
            has it) or "error".
        method: How gates are chosen in training, one of `hw.METHODS`.
        tau: Temperature of the choice if `cage` is False.
        cage: Whether CAGE sets the temperature from the confidence of the choices.
        wiring: "learned", or the name of a fixed wiring such as "random".
        candidates: Wires that each input of a gate chooses from, if the wiring is learned.
        start: Initial logits: "normal" or "residual".
        iterations: Training steps. None: 30 passes over the rows, but at least 300 and at most 2,000 steps.
        batch_size: Rows per step.
        learning_rate: Learning rate of Adam.
        schedule: The learning rate over time: "cooldown" (constant for 60% of the steps, then straight to zero),
            "cosine" or "constant".
        class_weight: Weights of the classes: a dictionary, "balanced" (each class counts the same), or None.
        early_stopping: Hold out `validation_fraction` of the rows, stop after `n_iter_no_change` evaluations (of 20)
            without a lower loss on them, and keep the best network.
        validation_fraction: Share of the rows to hold out for early stopping and `width="auto"`.
        n_iter_no_change: Evaluations without an improvement before early stopping stops.
        n_jobs: Threads of `fit` and `predict`; -1 for all cores. None: torch's number, and as many as are worth it.
        random_state: Seed of wires, logits, noise and the order of rows.
        verbose: Whether to show the progress of training.

    Attributes:
        classes_: The labels, sorted.
        circuit_: The `hw.Circuit` that predicts, with its encoder, ready to save or export.
        gap_: The measured gap between the trained network and the circuit, on the held-out rows, or else on at most
            2,000 of the training rows.
        width_: The width that was used.
        history_: Every evaluation of the last fit, of the first network where there are several, as is `gap_`.
        network_: The trained torch module, the first of `networks_`.
        encoder_: The fitted thresholds.
        n_iter_: Training steps so far.
        feature_names_in_: Names of the columns if X was a DataFrame.

    Example:
        >>> import hardwire as hw
        >>> from sklearn.datasets import load_iris
        >>> X, y = load_iris(return_X_y=True)
        >>> model = hw.LogicClassifier(width=300, iterations=100, random_state=0).fit(X, y)
        >>> bool(model.score(X, y) > 0.9)
        True
        >>> model.circuit_.to_c("iris.c")  # doctest: +SKIP
    """

    classes_: npt.NDArray[Any]
    _numeric_target = False

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
        class_weight: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        super().__init__(
            width=width, depth=depth, arity=arity, n_estimators=n_estimators, bits=bits, thresholds=thresholds,
            missing=missing, unknown=unknown, method=method, tau=tau, cage=cage, wiring=wiring,
            candidates=candidates, start=start, iterations=iterations, batch_size=batch_size,
            learning_rate=learning_rate, schedule=schedule, early_stopping=early_stopping,
            validation_fraction=validation_fraction, n_iter_no_change=n_iter_no_change, n_jobs=n_jobs,
            random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.class_weight = class_weight

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Trains for one more pass over some rows.

        Args:
            X: Array or DataFrame [rows, features].
            y: Label of each row.
            classes: All labels that will ever occur; required by the first call.
            sample_weight: Weight of each row. None: all 1.

        Returns:
            The classifier itself.
        """
        return self._continue(X, y, sample_weight, classes=classes)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predicts the label of each row of X; ties go to the first class.

        Args:
            X: Array or DataFrame [rows, features].

        Returns:
            Labels [rows].
        """
        numbers = self._run_circuit(X, Circuit.predict)
        result: npt.NDArray[Any] = self.classes_[numbers]
        return result

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Predicts class probabilities: the softmax of the class sums divided by their training temperature.

        Args:
            X: Array or DataFrame [rows, features].

        Returns:
            Probabilities [rows, classes], in the order of `classes_`.
        """
        sums = self._run_circuit(X, Circuit.scores)
        result: npt.NDArray[np.float64] = softmax(sums / self._temperature(), axis=1)
        return result

    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """The class sums divided by their training temperature, whose softmax `predict_proba` returns.

        Args:
            X: Array or DataFrame [rows, features].

        Returns:
            Scores [rows, classes]; for two classes the second minus the first, [rows].
        """
        sums = self._run_circuit(X, Circuit.scores) / self._temperature()
        result: npt.NDArray[np.float64] = sums[:, 1] - sums[:, 0] if sums.shape[1] == 2 else sums
        return result

    def _temperature(self) -> float:
        """What the class sums of all networks are divided by."""
        temperature: float = self.network_.head().temperature
        return temperature * len(self.networks_)

    def _weights(self, y: npt.NDArray[Any], weight: Numbers) -> Numbers:
        if self.class_weight is None:
            return weight
        result: Numbers = weight * compute_sample_weight(self.class_weight, y)
        return result

    def _classes(self) -> int:
        return len(self.classes_)

    def _scores_of(self, deployed: Numbers) -> Numbers:
        return deployed

    def _learn_target(self, y: Numbers, weight: Numbers, classes: Any) -> None:
        check_classification_targets(y)
        if classes is None:
            raise HardwireError("the first call of partial_fit needs all classes that will ever occur; give classes=")
        self.classes_ = np.unique(y if classes is OBSERVED else classes)
        if len(self.classes_) < 2:
            raise HardwireError(f"y has one class, {self.classes_.tolist()[0]!r}; a classifier needs at least 2")
        most = self.width if isinstance(self.width, int) else WIDEST
        if len(self.classes_) > most:
            raise HardwireError(
                f"y has {len(self.classes_):,} different labels, more than width {most} has gates; if they are "
                "numbers to predict, use LogicRegressor, otherwise a width with many gates per class"
            )

    def _target(self, y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise HardwireError(f"label {unknown.tolist()[0]!r} is not one of the classes given to the first call")
        return np.searchsorted(self.classes_, y).astype(np.int64)

    def _labels(self) -> tuple[Any, ...]:
        plain = (str, int, float, bool)
        labels = self.classes_.tolist()
        if all(isinstance(label, float) and label.is_integer() for label in labels):
            labels = [int(label) for label in labels]  # a file of 0 and 1 that was read as floats
        return tuple(label if isinstance(label, plain) else str(label) for label in labels)

    def _head(self) -> dict[str, Any]:
        return {"classes": len(self.classes_)}

    def _loss(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (F.cross_entropy(output, y[:, 0].long(), reduction="none") * y[:, 1]).mean()

    def _gap(self, net: torch.nn.Module, rows: Any) -> Gap:
        """Accuracies, each row counted by its weight."""
        wrong = measure_gap(net, rows, loss=_wrong)
        return Gap(1 - wrong.method, 1 - wrong.argmax, 1 - wrong.deploy, wrong.samples)


def _wrong(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ((first_argmax(output) != y[:, 0]) * y[:, 1]).mean()
