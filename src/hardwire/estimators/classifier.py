"""`LogicClassifier`: scikit-learn's face of a network of gates that tells classes apart."""

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
from hardwire.estimators.base import SEEN, LogicEstimator, Numbers
from hardwire.measure import Gap, measure_gap
from hardwire.selection import first_argmax


class LogicClassifier(ClassifierMixin, LogicEstimator):  # type: ignore[misc]
    """A classifier that is a circuit of two-input gates: scikit-learn's estimator, with its conventions.

    Each column is cut into bits by thresholds that are fitted to the training rows; columns of text in a DataFrame
    become one number for each text. Predictions come from the circuit. Missing values are an error, as scikit-learn's
    own checks want it: fill them in, by a SimpleImputer in a Pipeline.

    Args:
        width: Gates in each layer. The last layer is rounded up to a multiple of the classes.
        depth: Layers.
        bits: Thresholds of each column.
        thresholds: Where they lie: "quantile" (between equally many rows) or "uniform" (equal steps).
        method: How gates are chosen in training, one of `hw.METHODS`.
        tau: The temperature of the choice, where `cage` is False.
        cage: Whether confidence sets the temperature.
        wiring: "learned", or the name of fixed wires, such as "random".
        candidates: Wires that each input of a gate chooses from, if they are learned.
        start: Of the logits: "normal" or "residual".
        iterations: Training steps. None: 30 passes over the rows, but 300 steps at least and 2,000 at most.
        batch_size: Rows of a step.
        learning_rate: Adam's.
        early_stopping: Hold out `validation_fraction` of the rows, stop after `n_iter_no_change` evaluations (of 20 in
            all) without a better one on them, and keep the best.
        validation_fraction: The share of rows that early stopping holds out.
        n_iter_no_change: Evaluations without a better one after which it stops.
        random_state: Of wires, logits, noise and the order of rows.
        verbose: Whether training shows a line of progress.

    Attributes:
        classes_: The labels, sorted.
        circuit_: What predicts: a `hw.Circuit` with its encoder, to save or to export.
        gap_: The measured gap between what was trained and the circuit, on the held-out rows if there are any.
        history_: Every evaluation of the last fit.
        network_: The trained torch module.
        encoder_: The thresholds.
        n_iter_: Training steps so far.
        feature_names_in_: Names of the columns, where X was a DataFrame.
    """

    classes_: npt.NDArray[Any]
    _numeric_target = False
    _best_by = "deploy"

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One more pass over some rows. classes: all labels that will ever come, needed by the first call."""
        return self._continue(X, y, sample_weight, classes=classes)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each row of X; of equal sums, the first class wins."""
        places = self._said(X, Circuit.predict)
        result: npt.NDArray[Any] = self.classes_[places]
        return result

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The softmax of the class sums over the temperature they were trained at, [rows, classes]."""
        sums = self._said(X, Circuit.scores)
        result: npt.NDArray[np.float64] = softmax(sums / self.network_.head().temperature, axis=1)
        return result

    def _learn_target(self, y: Numbers, weight: Numbers, classes: Any) -> None:
        check_classification_targets(y)
        if classes is None:
            raise HardwireError("the first call of partial_fit needs all classes that will come; give classes=")
        self.classes_ = np.unique(y if classes is SEEN else classes)
        if len(self.classes_) < 2:
            raise HardwireError(
                f"y has one class, {self.classes_.tolist()[0]!r}; a classifier needs at least 2 to tell apart"
            )
        if len(self.classes_) > self.width:
            raise HardwireError(
                f"y has {len(self.classes_):,} different labels, and width {self.width} has not one gate for each; if "
                "they are numbers to predict use LogicRegressor, else a width that has many gates for each class"
            )

    def _target(self, y: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise HardwireError(
                f"label {unknown.tolist()[0]!r} is not one of the classes that the first call was given"
            )
        return np.searchsorted(self.classes_, y).astype(np.int64)

    def _labels(self) -> tuple[Any, ...]:
        plain = (str, int, float, bool)
        return tuple(label if isinstance(label, plain) else str(label) for label in self.classes_.tolist())

    def _head(self) -> dict[str, Any]:
        return {"classes": len(self.classes_)}

    def _loss(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (F.cross_entropy(output, y[:, 0].long(), reduction="none") * y[:, 1]).mean()

    def _gap(self, net: torch.nn.Module, rows: Any) -> Gap:
        """Accuracies, each row by its weight."""
        wrong = measure_gap(net, rows, loss=_wrong)
        return Gap(1 - wrong.method, 1 - wrong.argmax, 1 - wrong.deploy, wrong.samples)


def _wrong(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ((first_argmax(output) != y[:, 0]) * y[:, 1]).mean()
