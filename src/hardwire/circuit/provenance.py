"""`Provenance`: where a circuit comes from. Every exported file repeats it in its header."""

from dataclasses import dataclass, replace

from hardwire.errors import HardwireError


@dataclass(frozen=True)
class Provenance:
    """Origin and measured accuracy of a circuit.

    Args:
        model: Digest of the model file.
        dataset: Name of the dataset the model was trained on.
        accuracy: Accuracy on a test set, from 0 to 1.
        tested_on: The dataset of that test set, where it is not `dataset`.

    Example:
        >>> Provenance(dataset="digits", accuracy=0.95).accuracy
        0.95
    """

    model: str | None = None
    dataset: str | None = None
    accuracy: float | None = None
    tested_on: str | None = None

    def __post_init__(self) -> None:
        texts = all(text is None or isinstance(text, str) for text in (self.model, self.dataset, self.tested_on))
        number = self.accuracy is None or (isinstance(self.accuracy, float) and 0 <= self.accuracy <= 1)
        if not texts or not number:
            raise HardwireError(f"model and datasets are strings and an accuracy is from 0 to 1, not {self!s:.200}")

    def measured(self, accuracy: float | None, dataset: str) -> "Provenance":
        """Returns a copy with the accuracy on a dataset's test set.

        Args:
            accuracy: The accuracy, or None for a circuit that predicts numbers.
            dataset: The dataset tested on; it becomes the training dataset if none was known.
        """
        trained_on = self.dataset or dataset
        tested_on = None if dataset == trained_on else dataset
        return replace(self, dataset=trained_on, accuracy=accuracy, tested_on=tested_on)
