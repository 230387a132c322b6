"""`LogicRegressor`: scikit-learn's face of a network of gates that computes a number.

Surprising: the network learns the distance from the middle of the targets, and only the circuit adds the middle back.
Floats that carried both would be too coarse where targets are large and close together, such as dates.
"""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import RegressorMixin

from hardwire.estimators.base import LogicEstimator, Numbers
from hardwire.layers import NumberSum
from hardwire.measure import Gap, measure_gap

ROOM = 1.25  # of the sums' range to that of the targets: the ends need not be all gates or none
CONSTANT = 1e-6  # the range of a target that has only one value, of that value


class LogicRegressor(RegressorMixin, LogicEstimator):  # type: ignore[misc]
    """A regressor that is a circuit of two-input gates and one adder."""

    _numeric_target = True
    _best_by = "-deploy"

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """One more pass over some rows; the range of the targets is that of the first call."""
        return self._continue(X, y, sample_weight)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """The number of each row of X."""
        sums = self._sums(X)[:, 0].astype(np.float64)
        head, width = self.network_.group_sum, self.network_.widths[-1]
        return (sums + head.offset_for(width)) / head.temperature_for(width)

    def _learn_target(self, y: Numbers, weight: Numbers, classes: Any) -> None:
        seen, weight = y[weight > 0].astype(np.float64), weight[weight > 0]
        low, high = seen.min(), seen.max()
        span = (high - low) * ROOM or max(1.0, abs(low)) * CONSTANT
        step = NumberSum(0, span).step_for(self.width)
        self._half = 0.375 * step * self.width  # the same step, however the ends are rounded
        self._middle = round((low + high) / 2 / step) * step
        mean = np.average(seen, weights=weight)
        self._variance = np.average((seen - mean) ** 2, weights=weight) or 1.0

    def _train(self, *arguments: Any, **options: Any) -> Self:
        self.network_.group_sum = NumberSum(-self._half, self._half)
        super()._train(*arguments, **options)
        self.network_.group_sum = NumberSum(self._middle - self._half, self._middle + self._half)
        return self

    def _target(self, y: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        return y.astype(np.float64) - self._middle

    def _labels(self) -> None:
        return None

    def _head(self) -> dict[str, Any]:
        return {"number": (-self._half, self._half)}

    def _loss(self, output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return _squared_error(output, y) / self._variance

    def _gap(self, net: torch.nn.Module, rows: Any) -> Gap:
        return measure_gap(net, rows, loss=_squared_error)


def _squared_error(output: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return ((output[:, 0] - y[:, 0]).square() * y[:, 1]).mean()
