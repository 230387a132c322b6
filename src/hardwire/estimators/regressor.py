"""`LogicRegressor`: a regressor for scikit-learn that is a circuit of logic gates."""

from typing import Any, Self

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import RegressorMixin

from hardwire.circuit import Circuit
from hardwire.errors import HardwireError
from hardwire.estimators.base import LogicEstimator, Numbers
from hardwire.measure import Gap, measure_gap

MARGIN = 0.125  # of the range of the targets, beyond each end, so that the ends need not be all gates or none
CONSTANT = 1e-6  # range of a target with a single value, relative to that value


class LogicRegressor(RegressorMixin, LogicEstimator):  # type: ignore[misc]
    """A regressor that is a circuit of two-input gates and one adder.

    The prediction is low + (high - low) * (gates of the last layer that are 1) / width, where low and high are the
    lowest and highest training target, moved apart by an eighth of their range on each side. The loss is the squared
    error. The circuit counts the same gates and computes the same formula in fixed point.

    Args:
        width: Gates per layer. None: 4,000. "auto": this, a quarter and a sixteenth of it are tried on
            `validation_fraction` of the rows, and the best is trained on all.
        depth: Number of layers.
        arity: Inputs of each look-up table, 2 to 6. None: layers of two-input gates.
        n_estimators: Networks, trained from seeds of their own, 1, 2, 4, ...; the circuit gives their mean.
        bits: Thresholds per column.
        thresholds: Where to place them: "quantile" (equal numbers of rows between them) or "uniform" (equal steps).
        missing: A missing value: "zero", "indicator" or "error", as `LogicClassifier` explains.
        unknown: A text that the training rows did not have: "zero" or "error".
        method: How gates are chosen in training, one of `hw.METHODS`.
        tau: Temperature of the choice if `cage` is False.
        cage: Whether CAGE sets the temperature from the confidence of the choices.
        wiring: "learned", or the name of a fixed wiring such as "random".
        candidates: Wires that each input of a gate chooses from, if the wiring is learned.
        start: Initial logits: "normal" or "residual".
        iterations: Training steps. None: 30 passes over the rows, but at least 300 and at most 2,000 steps.
        batch_size: Rows per step.
        learning_rate: Learning rate of Adam.
        schedule: The learning rate over time: "cooldown", "cosine" or "constant".
        early_stopping: Whether to stop when the loss on held-out rows no longer falls, and keep the best network.
        validation_fraction: Share of the rows to hold out for early stopping and `width="auto"`.
        n_iter_no_change: Evaluations without an improvement before early stopping stops.
        n_jobs: Threads of `fit` and `predict`; -1 for all cores. None: torch's number, and as many as are worth it.
        random_state: Seed of wires, logits, noise and the order of rows.
        verbose: Whether to show the progress of training.

    Attributes:
        circuit_: The `hw.Circuit` that predicts, with its encoder, ready to save or export.
        gap_: The measured gap between the trained network and the circuit, in squared errors.
        width_: The width that was used.
        history_: Every evaluation of the last fit, of the first network where there are several, as is `gap_`.
        network_: The trained torch module, the first of `networks_`.
        encoder_: The fitted thresholds.
        n_iter_: Training steps so far.
        feature_names_in_: Names of the columns if X was a DataFrame.

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

    def _check_settings(self) -> None:
        super()._check_settings()
        if (self.n_estimators & (self.n_estimators - 1)) != 0:
            raise HardwireError(
                f"n_estimators {self.n_estimators} of a regressor is no power of two, so the mean of their numbers is "
                "not in fixed point; use 1, 2, 4 or 8"
            )

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
