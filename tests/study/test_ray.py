"""A study on a real Ray cluster of two nodes, one of which is killed in the middle."""

import contextlib
import signal
from pathlib import Path

import pytest
import small_studies
from waiting_kind import Waiting

from hardwire import study
from hardwire.study.description import parse
from hardwire_paper.runs import NetworkRun

ray = pytest.importorskip("ray", reason="needs ray: pip install 'hardwire[ray]'")
pytestmark = pytest.mark.ray


class _Killer(study.Watcher):
    """Takes a node away as soon as both nodes are at work, and lets the runs go on when a worker is dead."""

    def __init__(self, cluster, node, folder):
        self.cluster, self.node, self.folder, self.killed = cluster, node, folder, False

    def changed(self, progress: study.StudyProgress) -> None:
        started = [int(path.name.split("-")[-1]) for path in self.folder.glob("started-*")]
        if not self.killed and len(started) == 2:
            self.cluster.remove_node(self.node, allow_graceful=False)
            self.killed = True
        if self.killed and not all(_is_alive(process) for process in started):
            (self.folder / "go").touch()


@contextlib.contextmanager
def _at_most(seconds: int):
    """Raises TimeoutError inside when the time is over."""

    def over(number, frame):
        raise TimeoutError(f"still not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def cluster(monkeypatch):
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1] / "support"))  # of the nodes, for the waiting kind
    try:
        with _at_most(90):
            started = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    except TimeoutError:  # Ray itself waits for ever, for example where another cluster has the ports
        pytest.skip("needs ports that Ray can use: it did not start a cluster within 90 seconds")
    with _at_most(300):
        yield started
    ray.shutdown()
    started.shutdown()


def test_a_node_that_dies_costs_its_run_a_retry_and_not_the_study_and_results_are_those_of_one_machine(
    cluster, tmp_path
):
    study.register(Waiting())
    node = cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    killer = _Killer(cluster, node, tmp_path)
    waiting = parse(f'name = "waiting"\nkind = "waiting"\nseeds = [0, 1, 2]\nfolder = "{tmp_path}"\n')
    options = {"runner": "ray", "address": cluster.address}
    progress = study.run(waiting, tmp_path / "waiting.sqlite", watcher=killer, **options)
    assert killer.killed and progress.retried >= 1
    assert progress.done == 3 and progress.failed == 0

    networks = small_studies.small(small_studies.digits_npz(tmp_path / "digits.npz"), methods=["gumbel-st+cage"])
    assert study.run(networks, tmp_path / "ray.sqlite", **options).done == len(networks)
    small_studies.run_here(networks, tmp_path / "local.sqlite")
    with study.Store(tmp_path / "local.sqlite") as one, study.Store(tmp_path / "ray.sqlite") as other:
        assert _results(one) == _results(other)


def _is_alive(process: int) -> bool:
    status = Path(f"/proc/{process}/status")
    return status.exists() and "RunState:\tZ" not in status.read_text()


def _results(store: study.Store) -> list:
    return [(run.config, NetworkRun.of(run).history) for run in store.finished()]
