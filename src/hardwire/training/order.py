"""Which rows make up which batch: a pure function of (seed, iteration), so that a resumed run sees the same batches.

The rows form one endless stream, a fresh permutation for each epoch, cut into batches of equal size. Surprising: a
batch may span two epochs, or hold a row twice where it is larger than the dataset.
"""

import torch

from hardwire.randomness import generator


class BatchOrder:
    """Which rows make up each batch.

    Args:
        rows: Rows of the training set.
        batch_size: Rows in a batch; it may be more than `rows`.
        seed: Seed of the permutations.
    """

    def __init__(self, rows: int, batch_size: int, seed: int):
        self.rows, self.batch_size, self.seed = rows, batch_size, seed
        self._epoch, self._permutation = -1, torch.empty(0, dtype=torch.int64)

    def indices(self, iteration: int) -> torch.Tensor:
        """The rows of the batch of this iteration, counting from 0: int64 [batch_size]."""
        epoch, start = divmod(iteration * self.batch_size, self.rows)
        batch = self.permutation(epoch)[start : start + self.batch_size]
        if len(batch) == self.batch_size:
            return batch
        parts, missing = [batch], self.batch_size - len(batch)
        while missing > 0:
            epoch += 1
            parts.append(self.permutation(epoch)[:missing])
            missing -= len(parts[-1])
        return torch.cat(parts)

    def permutation(self, epoch: int) -> torch.Tensor:
        """All rows in the order of this epoch: int64 [rows]."""
        if epoch != self._epoch:
            shuffled = generator(self.seed, f"batches.{epoch}").permutation(self.rows)
            self._epoch, self._permutation = epoch, torch.from_numpy(shuffled)
        return self._permutation
