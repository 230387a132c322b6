"""`LogicRegressor`: scikit-learn's face of a network of gates that computes a number."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import RegressorMixin

from hardwire.circuit import Circuit
from hardwire.estimators.base import LogicEstimator, Numbers
from hardwire.measure import Gap, measure_gap

ROOM = 1.25  # of the sums' range to that of the targets: the ends need not be all gates or none
CONSTANT = 1e-6  # the range of a target that has only one value, as a part of that value


class LogicRegressor(RegressorMixin, LogicEstimator):  # type: ignore[misc]
    """A regressor that is a circuit of two-input gates and one adder.

    The number is low + (high - low) * (gates of the last layer that are 1) / width, where low and high are the ends of
    the training targets with an eighth of their range to spare on each side; the loss is the squared error. The circuit
    counts the same gates and computes the same line in fixed point. Parameters and attributes are those of
    `LogicClassifier`, without `classes_`; `gap_` is in squared errors.
    """

    _numeric_target = True
    _best_by = "-deploy"

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One more pass over some rows; the range of the targets is that of the first call."""
        return self._continue(X, y, sample_weight)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The number of each row of X."""
        return self._said(X, Circuit.predict)

    def _learn_target(self, y: Numbers, weight: Numbers, classes: Any) -> None:
        seen, weight = y[weight > 0].astype(np.float64), weight[weight > 0]
        low, high = seen.min(), seen.max()
        room = (high - low) * (ROOM - 1) / 2 or max(1.0, abs(low)) * CONSTANT
        self._range = (low - room, high + room)
        mean = np.average(seen, weights=weight)
        self._variance = np.average((seen - mean) ** 2, weights=weight) or 1.0

    def _target(self, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return y.astype(np.float64)

    def _labels(self) -> None:
        return None

    def _head(self) -> dict[str, Any]:
        return {"number": self._range}

    def _loss(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return _squared_error(output, y) / self._variance

    def _gap(self, net: torch.nn.Module, rows: Any) -> Gap:
        return measure_gap(net, rows, loss=_squared_error)


def _squared_error(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ((output[:, 0] - y[:, 0]).square() * y[:, 1]).mean()
