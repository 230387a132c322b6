"""Closed forms against brute force, and measurements that must fail where theory is broken."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from scipy import integrate

import hardwire as hw
from hardwire.gates import GATES
from hardwire_paper.measured import bounds, measure_initial, measure_trained
from hardwire_paper.measured.bounds import expected_gumbel_gap, gradient_check
from hardwire_paper.networks.train import pixel_counts
from hardwire_paper.theory import computation_gap as gap
from hardwire_paper.theory import scaling
from hardwire_paper.theory import tables as theory_tables

KINDS_OF_MEASUREMENT = {"groupsum", "start", "node", "loss", "gradient", "gumbel", "forward", "decoupled", "hessian"}


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
def test_the_closed_form_under_uniform_inputs_is_the_integral(gate):
    halves = [(0.0, 0.5), (0.5, 1.0)]
    total = sum(
        integrate.dblquad(lambda b, a: abs(gate.soft(a, b) - gate.hard(a, b)), *a_side, *b_side)[0]
        for a_side in halves
        for b_side in halves
    )
    assert float(gap.exact(gate, gap.UNIFORM)) == pytest.approx(total, abs=1e-6)


def test_the_known_gaps_are_exact_fractions():
    gaps = {gate.name: gap.exact(gate, gap.UNIFORM) for gate in GATES}
    assert gaps["A"] == Fraction(1, 4) and gaps["AND"] == gaps["OR"] == Fraction(7, 32)
    assert gaps["XOR"] == gaps["XNOR"] == Fraction(3, 8) and gaps["TRUE"] == 0
    assert all(gap.exact(gate, gap.BINARY) == 0 for gate in GATES)


@pytest.mark.parametrize("gate", GATES, ids=lambda gate: gate.name)
def test_the_closed_form_on_measured_values_is_the_sum_over_all_pairs(gate):
    counts = {0.0: 5, 0.3: 2, 0.5: 1, 0.8: 3, 1.0: 4}
    values = np.repeat(list(counts), list(counts.values()))
    a, b = np.meshgrid(values, values)
    brute = np.abs(gate.soft(a, b) - gate.hard(a, b)).mean()
    assert gap.exact(gate, gap.of_counts(counts)) == pytest.approx(brute)
    mean, error = gap.sampled(gate, *gap.measured_pairs(counts))
    assert abs(mean - brute) <= 5 * error


def test_at_the_boundary_and_and_or_differ():
    by_name = {gate.name: gap.at_boundary(gate) for gate in GATES}
    assert by_name["AND"] == (0.25, 0.75) and by_name["OR"] == (0.75, 0.75) and by_name["XOR"] == (0.5, 0.5)


def test_the_tables_say_where_the_paper_differs_from_arithmetic():
    table = theory_tables.representative_gates({})
    verdicts = {row[0].text: [entry.verdict for entry in row[1:]] for row in table.rows}
    assert verdicts["Uniform [0,1]"] == ["agree", "agree", "differ"]
    assert verdicts["Exactly at a = b = 0.5"] == ["agree", "differ", "agree"]
    assert verdicts["MNIST pixels"] == ["not comparable"] * 3


def test_on_pixels_every_gate_of_a_kind_is_judged_not_their_mean():
    """AND at 0.7% and OR at 4.7% are not both "about 3%", though their mean is 2.7%."""
    counts = {0.0: 80, 0.25: 6, 0.75: 4, 1.0: 10}
    by_gate = {gate.name: 100 * gap.exact(gate, gap.of_counts(counts)) for gate in gap.gates_of("and/or")}
    mean = sum(by_gate.values()) / len(by_gate)
    assert 2 < mean < 4 and by_gate["AND"] < 2 and by_gate["OR"] > 4
    entry = theory_tables._gates_entry(by_gate, "~3", 2)
    assert entry.verdict == "differ" and "AND" in entry.text and "OR" in entry.text


def test_pixel_shares_add_up():
    counts = {value: int(count) for value, count in pixel_counts("digits")}
    assert sum(counts.values()) == (1347 + 450) * 64 and set(counts) == {value / 16 for value in range(17)}
    table = theory_tables.pixel_distribution({"digits": counts})
    raw = [float(row[1].text) for row in table.rows]
    assert sum(raw[:4]) == pytest.approx(100, abs=0.03) and raw[4] == pytest.approx(100 - raw[2], abs=0.02)


@pytest.fixture(scope="module")
def data():
    return hw.data.load("digits")


@pytest.mark.parametrize("method", ["soft-mix", "soft-gumbel", "hard-st", "gumbel-st"])
@pytest.mark.parametrize("cage", [False, True])
def test_the_gradient_formula_holds_on_a_network_and_the_check_leaves_it_alone(data, method, cage):
    if cage and method.startswith("soft"):
        return
    net = hw.LogicNetwork(data.inputs, data.classes, 60, 3, method=method, cage=cage, tau=0.7, seed=1)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    checked = gradient_check(net, *data.train.batch(slice(50)))
    assert checked["gradient.difference"] < 1e-5 and checked["gradient.largest"] > 0
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items())


def test_the_gradients_formula_is_not_measured_where_every_sample_has_its_own_draw():
    data = hw.data.load("digits")
    names = {
        noise: bounds.measure(
            hw.LogicNetwork(data.inputs, 10, width=100, depth=1, method="gumbel-st", noise=noise), data
        )
        for noise in ("pass", "sample")
    }
    assert "gradient.difference" in names["pass"] and "gradient.difference" not in names["sample"]


def test_the_gradient_check_notices_a_wrong_temperature(data, monkeypatch):
    net = hw.LogicNetwork(data.inputs, data.classes, 60, 2, tau=0.7, seed=1)
    right = bounds._formula_gradient
    monkeypatch.setattr(bounds, "_formula_gradient", lambda *arguments: right(*arguments) * 1.01)
    assert gradient_check(net, *data.train.batch(slice(50)))["gradient.difference"] > 1e-3


def test_sampled_gumbel_gaps_scatter_around_the_formula_as_chance_does(data):
    net = hw.LogicNetwork(data.inputs, data.classes, 200, 2, method="gumbel-st", seed=0)
    measured = expected_gumbel_gap(net)
    assert 0.7 < measured["gumbel.rms_z"] < 1.3 and measured["gumbel.nodes"] > 30


def test_all_measurements_of_a_run_are_finite_numbers(data):
    net = hw.LogicNetwork(data.inputs, data.classes, 60, 2, method="gumbel-st", seed=0)
    measured = measure_initial(net, data) | measure_trained(net, data)
    assert all(np.isfinite(value) for value in measured.values())
    assert measured["node.violations"] == 0 and measured["groupsum.classes"] == 10
    assert {name.split(".")[0] for name in measured} == KINDS_OF_MEASUREMENT


def test_the_exponent_of_a_power_law_is_found():
    assert scaling.fit_exponent((1, 2, 4), (10, 40, 160)) == pytest.approx(2)
    assert scaling.fit_exponent((1, 2), (None, 5)) is None


def test_steps_to_confidence_match_the_librarys_own_gradients():
    tau, rate = 4.0, 1.0
    z = torch.zeros(scaling.K, dtype=torch.float64, requires_grad=True)
    candidates = torch.nn.functional.one_hot(torch.tensor(3), scaling.K).double()
    steps = 0
    while torch.softmax(z, -1)[3] < scaling.CONFIDENCE:
        (slope,) = torch.autograd.grad(-hw.select(z, candidates, "hard-st", tau), z)
        z = (z - rate * slope).detach().requires_grad_()
        steps += 1
    assert scaling.steps_to_confidence(tau, rate) == steps


def test_convergence_is_linear_in_tau_only_where_tau_is_large():
    large, usual, own, adam = scaling.measure()
    assert abs(large.exponent - 1) < scaling.SLACK
    assert usual.steps[0] is None and adam.steps[0] is None  # at tau 0.05 the softmax saturates long before
    assert own.exponent == pytest.approx(2, abs=0.05)
