"""A table of numbers with validation rows and early stopping; the test set is read once, at the end.

Thresholds at quantiles of the training rows turn every number into bits. The last fifth of the training rows is used
for validation, and the network keeps its state from the best evaluation.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

import hardwire as hw

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.25, stratify=y, random_state=0)

encoder = hw.Encoder.fit(X_train, bits=6)  # 6 quantiles of each of the 30 columns
data = hw.data.from_arrays((X_train, y_train), (X_test, y_test), thresholds=encoder.thresholds)
net = hw.LogicNetwork(data.inputs, data.classes, width=300, depth=2, method="hard-st+cage", seed=0)
history = hw.fit(
    net, data, iterations=1_000, batch_size=64, evaluate_every=25, validation=0.2, stop_early=6, keep_best=True
)

print(f"stopped after {history.final.iteration} iterations; the best evaluation was at {history.best.iteration}")
print(f"{history.best.deploy:.1%} of the validation rows, {hw.measure_gap(net, data.test).deploy:.1%} of the test rows")
assert hw.measure_gap(net, data.with_validation(0.2).validation).deploy == history.best.deploy
