"""`LogicClassifier`: a classifier for scikit-learn that is a circuit of logic gates."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from torch.nn import functional as F

from hardwire.circuit import Circuit
from hardwire.errors import HardwireError
from hardwire.estimators.base import OBSERVED, LogicEstimator, Numbers
from hardwire.measure import Gap, measure_gap
from hardwire.selection import first_argmax


class LogicClassifier(ClassifierMixin, LogicEstimator):  # type: ignore[misc]
    """A classifier that is a circuit of two-input gates, with scikit-learn's conventions.

    Thresholds fitted to the training rows turn each column into bits. A column of text in a DataFrame has one bit for
    each distinct text, of many the 62 most frequent ones and "other"; a date counts days since 1970. Predictions come
    from the circuit.

    Args:
        width: Gates per layer. The last layer is rounded up to a multiple of the number of classes.
        depth: Number of layers.
        arity: Inputs of each look-up table, 2 to 6. None: layers of two-input gates.
        bits: Thresholds per column.
        thresholds: Where to place them: "quantile" (equal numbers of rows between them) or "uniform" (equal steps).
        missing: What a missing value means: "zero" (all bits of the column are 0; a column of text has a bit for it if
            values were missing in training), "indicator" (as zero, and each column of numbers gets a bit that says that
            its value is there) or "error".
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
        early_stopping: Hold out `validation_fraction` of the rows, stop after `n_iter_no_change` evaluations (of 20)
            without an improvement on them, and keep the best network.
        validation_fraction: Share of the rows to hold out for early stopping.
        n_iter_no_change: Evaluations without an improvement before early stopping stops.
        random_state: Seed of wires, logits, noise and the order of rows.
        verbose: Whether to show the progress of training.

    Attributes:
        classes_: The labels, sorted.
        circuit_: The `hw.Circuit` that predicts, with its encoder, ready to save or export.
        gap_: The measured gap between the trained network and the circuit, on the held-out rows if there are any.
        history_: Every evaluation of the last fit.
        network_: The trained torch module.
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
    _best_by = "deploy"

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
        result: npt.NDArray[np.float64] = softmax(sums / self.network_.head().temperature, axis=1)
        return result

    def _learn_target(self, y: Numbers, weight: Numbers, classes: Any) -> None:
        check_classification_targets(y)
        if classes is None:
            raise HardwireError("the first call of partial_fit needs all classes that will ever occur; give classes=")
        self.classes_ = np.unique(y if classes is OBSERVED else classes)
        if len(self.classes_) < 2:
            raise HardwireError(f"y has one class, {self.classes_.tolist()[0]!r}; a classifier needs at least 2")
        if len(self.classes_) > self.width:
            raise HardwireError(
                f"y has {len(self.classes_):,} different labels, more than width {self.width} has gates; if they are "
                "numbers to predict, use LogicRegressor, otherwise a width with many gates per class"
            )

    def _target(self, y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise HardwireError(f"label {unknown.tolist()[0]!r} is not one of the classes given to the first call")
        return np.searchsorted(self.classes_, y).astype(np.int64)

    def _labels(self) -> tuple[Any, ...]:
        plain = (str, int, float, bool)
        return tuple(label if isinstance(label, plain) else str(label) for label in self.classes_.tolist())

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
