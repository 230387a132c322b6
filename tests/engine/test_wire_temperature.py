"""Learned wires follow the temperature that was given: constants, schedules and CAGE."""

import oracle
import pytest
import torch

import hardwire as hw
from hardwire import CAGE
from hardwire import engine as engines
from hardwire.errors import HardwireError


def wired(**options):
    return hw.LogicNetwork(20, 2, widths=[12, 8], wiring="learned", candidates=5, seed=1, **options)


def wire_taus(net, steps):
    """The temperatures of the wires in the next training steps, as the engine was given them."""
    taus, original = [], engines.choose

    def watching(name, request):
        requests.append(request)
        return original(name, request)

    for _ in range(steps):
        requests = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(engines, "choose", watching)
            net(torch.rand(6, 20).round())
        taus.append({rule.wire_tau.number for request in requests for rule in request.rules})
    return taus


@pytest.mark.parametrize("method", ["hard-st", "soft-mix", "gumbel-st"])
def test_wires_follow_the_schedule_that_was_given(method):
    net = wired(method=method, tau=hw.temperature.Linear(2.0, 0.5, 4))
    assert wire_taus(net, 6) == [{2.0}, {1.5}, {1.0}, {0.5}, {0.5}, {0.5}]
    layer = hw.LogicLayer(20, 8, method, hw.temperature.Linear(2.0, 0.5, 4), seed=0, wiring="learned", candidates=5)
    assert wire_taus(layer, 3) == [{2.0}, {1.5}, {1.0}]
    assert wire_taus(wired(method=method, tau=0.75), 2) == [{0.75}] * 2


def test_the_wires_cage_has_the_arguments_of_the_one_that_was_given():
    net = wired(tau=CAGE(2.0, 0.1, 0.9))
    cage = net.selector.wire_temperature(5)
    assert cage.config() == {"name": "cage", "tau_max": 2.0, "tau_min": 0.1, "beta": 0.9, "choices": 5}
    wires = [[z for side in layer.wire_logits.tolist() for z in side] for layer in net.layers]
    net(torch.rand(6, 20).round())
    expected = oracle.cage([oracle.confidence(wires)], tau_max=2.0, tau_min=0.1, beta=0.9, choices=5)[0]
    assert cage.tau.item() == pytest.approx(expected, rel=1e-6)


def test_cage_and_wires_that_mix_exclude_each_other():
    for options in ({"method": "hard-st+cage"}, {"tau": CAGE()}, {"cage": True}):
        for wire_method in ("soft-mix", "soft-gumbel"):
            with pytest.raises(HardwireError, match=f"wires that choose by {wire_method} mix"):
                wired(wire_method=wire_method, **options)
    with pytest.raises(HardwireError, match="add it to the method"):
        wired(wire_method="hard-st+cage")


def test_a_network_with_a_schedule_and_learned_wires_loads_where_it_was(tmp_path):
    for tau in (hw.temperature.Linear(2.0, 0.5, 6), CAGE(2.0, 0.1, 0.9)):
        net = wired(tau=tau)
        wire_taus(net, 3)
        hw.save(net, tmp_path / "net")
        assert wire_taus(hw.load(tmp_path / "net").train(), 1) == wire_taus(net, 1)
