"""Estimators for scikit-learn: `LogicClassifier` and `LogicRegressor`."""

from hardwire.estimators.classifier import LogicClassifier
from hardwire.estimators.regressor import LogicRegressor

__all__ = ["LogicClassifier", "LogicRegressor"]
