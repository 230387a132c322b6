import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Tests are many small operations, which threads only slow down, tenfold on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
