import signal

import pytest
import torch


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Tests are many small operations, which threads only slow down, tenfold on a busy machine."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="session", autouse=True)
def ctrl_c_is_heard():
    """A shell that starts the tests in the background has it ignored, and some tests press it."""
    before = signal.getsignal(signal.SIGINT)
    if before == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(autouse=True)
def catalogue_stays():
    """Datasets that a test or a page of the docs registers are forgotten after it."""
    from hardwire.data.catalog import ENTRIES

    before = dict(ENTRIES)
    yield
    if list(ENTRIES) != list(before):
        ENTRIES.clear()
        ENTRIES.update(before)
