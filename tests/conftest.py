import os
import signal

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of programs that tests start; in here `one_thread` below is enough

import pytest
import torch
from cases import needs_native
from hypothesis import settings

from hardwire.engine import native

if not native.available():  # one warning more on stderr, of which the tests of programs know nothing
    os.environ["PYTHONWARNINGS"] = "ignore:hardwire was installed without:UserWarning"

# a run of the suite tells of what has changed; a long one with HARDWIRE_FUZZ looks for what nobody has seen yet
settings.register_profile("suite", derandomize="HARDWIRE_FUZZ" not in os.environ)
settings.load_profile("suite")


def pytest_collection_modifyitems(items):
    """A test of several engines leaves the native one out where it was not built."""
    for item in items:
        parameters = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if any(isinstance(value, str) and value == "native" for value in parameters):
            item.add_marker(needs_native)


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
