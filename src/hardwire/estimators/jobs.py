"""`n_jobs` as scikit-learn means it: None leaves the number of threads, -1 is every core."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch

from hardwire.errors import HardwireError


def thread_count(n_jobs: int | None) -> int | None:
    """The number of threads, or None for the usual one."""
    if n_jobs is None:
        return None
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise HardwireError(f"n_jobs {n_jobs!r} is no number of threads; use 1, 2, ..., -1 for all cores, or None")
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)


@contextmanager
def threads(n_jobs: int | None) -> Iterator[None]:
    """Trains with so many threads inside."""
    count, before = thread_count(n_jobs), torch.get_num_threads()
    if count is not None:
        torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
