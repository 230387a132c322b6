"""One thread for torch: the nets of the tests are small, and threads that wait for each other cost more."""

import pytest
import torch


@pytest.fixture(autouse=True, scope="session")
def one_thread():
    torch.set_num_threads(1)
