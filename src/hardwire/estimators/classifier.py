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
    """A classifier that is a circuit of two-input gates."""

    classes_: npt.NDArray[Any]
    _numeric_target = False
    _best_by = "deploy"

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """One more pass over some rows. classes: all labels that will ever come, needed by the first call."""
        return self._continue(X, y, sample_weight, classes=classes)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The label of each row of X; of equal sums, the first class wins."""
        places = self._said(X, Circuit.predict)
        return self.classes_[places]

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """The softmax of the class sums over the temperature they were trained at, [rows, classes]."""
        sums = self._said(X, Circuit.scores)
        return softmax(sums / self.network_.head().temperature, axis=1)

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
