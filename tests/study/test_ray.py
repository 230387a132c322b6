"""A study on a real Ray cluster of two nodes, one of which is killed in the middle."""

import pytest
import small_studies

from hardwire import study
from hardwire.paper.groups import NetworkRun

ray = pytest.importorskip("ray", reason="ray is not installed")
pytestmark = pytest.mark.ray


class _Killer(study.Watcher):
    """Takes a node away as soon as two runs are under way and one is done."""

    def __init__(self, cluster, node):
        self.cluster, self.node, self.killed = cluster, node, False

    def changed(self, standing: study.Standing) -> None:
        if not self.killed and standing.done >= 1 and len(standing.running) == 2:
            self.cluster.remove_node(self.node, allow_graceful=False)
            self.killed = True


def test_a_node_that_dies_costs_its_run_a_retry_and_not_the_study(tmp_path):
    from ray.cluster_utils import Cluster

    description = small_studies.small(small_studies.digits_npz(tmp_path / "digits.npz"), iterations=[400])
    straight = study.run(description, tmp_path / "local.sqlite", workers=2)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
    try:
        node = cluster.add_node(num_cpus=1)
        cluster.wait_for_nodes()
        killer = _Killer(cluster, node)
        standing = study.run(
            description, tmp_path / "ray.sqlite", runner="ray", address=cluster.address, watcher=killer
        )
    finally:
        ray.shutdown()
        cluster.shutdown()
    assert killer.killed and standing.retried >= 1
    assert standing.done == straight.done == len(description) and standing.failed == 0
    with study.Store(tmp_path / "local.sqlite") as one, study.Store(tmp_path / "ray.sqlite") as other:
        assert _results(one) == _results(other)


def _results(store: study.Store) -> list:
    return [(run.config, NetworkRun.of(run).history) for run in store.finished()]
