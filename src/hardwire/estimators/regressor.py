"""`LogicRegressor`: a regressor for scikit-learn that is a circuit of logic gates."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import RegressorMixin

from hardwire.circuit import Circuit
from hardwire.estimators.base import LogicEstimator, Numbers
from hardwire.measure import Gap, measure_gap

MARGIN = 0.125  # of the range of the targets, beyond each end, so that the ends need not be all gates or none
CONSTANT = 1e-6  # range of a target with a single value, relative to that value


class LogicRegressor(RegressorMixin, LogicEstimator):  # type: ignore[misc]
    """A regressor that is a circuit of two-input gates and one adder.

    The prediction is low + (high - low) * (gates of the last layer that are 1) / width, where low and high are the
    lowest and highest training target, moved apart by an eighth of their range on each side. The loss is the squared
    error. The circuit counts the same gates and computes the same formula in fixed point. Parameters and attributes
    are those of `LogicClassifier`, without `classes_` and `class_weight`; `gap_` is in squared errors.

    Example:
        >>> import hardwire as hw
        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True)
        >>> model = hw.LogicRegressor(width=400, iterations=100, random_state=0).fit(X, y)
        >>> bool(model.score(X, y) > 0.4)
        True
    """

    _numeric_target = True

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Trains for one more pass over some rows; the range of the predictions is that of the first call.

        Args:
            X: Array or DataFrame [rows, features].
            y: Target of each row.
            sample_weight: Weight of each row. None: all 1.

        Returns:
            The regressor itself.
        """
        return self._continue(X, y, sample_weight)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predicts the target of each row of X.

        Args:
            X: Array or DataFrame [rows, features].

        Returns:
            Numbers [rows].
        """
        return self._run_circuit(X, Circuit.predict)

    def _learn_target(self, y: Numbers, weight: Numbers, classes: Any) -> None:
        seen, weight = y[weight > 0].astype(np.float64), weight[weight > 0]
        low, high = seen.min(), seen.max()
        margin = (high - low) * MARGIN or max(1.0, abs(low)) * CONSTANT
        self._range = (low - margin, high + margin)
        mean = np.average(seen, weights=weight)
        self._variance = np.average((seen - mean) ** 2, weights=weight) or 1.0

    def _target(self, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return y.astype(np.float64)

    def _classes(self) -> None:
        return None

    def _scores_of(self, deployed: Numbers) -> Numbers:
        scores: Numbers = 1 - deployed / self._variance
        return scores

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
