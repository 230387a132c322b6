"""scikit-learn's 8x8 handwritten digits: real data that needs no download."""

import numpy as np

from hardwire.data.catalog import Chunks, Images


def _read(split: str) -> Chunks:
    """A quarter is the test set: always the same rows, stratified by class."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import train_test_split

    x, y = load_digits(return_X_y=True)
    x_train, x_test, y_train, y_test = train_test_split(x, y, test_size=0.25, stratify=y, random_state=0)
    yield {"train": (x_train.astype(np.uint8), y_train), "test": (x_test.astype(np.uint8), y_test)}[split]


DATASETS = {
    "digits": Images(
        "scikit-learn's 8x8 handwritten digits, 5 thresholds per pixel; needs no download",
        rows={"train": 1347, "test": 450},
        image_shape=(8, 8),
        maximum=16,
        levels=5,
        binary=True,
        read=_read,
    )
}
