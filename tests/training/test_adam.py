"""The optimizer of every run: torch's fused Adam without torch's compiler."""

import subprocess
import sys

import pytest
import torch

from hardwire.training.adam import Adam


def steps(kind, count, state=None, **options):
    torch.manual_seed(0)
    layer = torch.nn.Linear(5, 3)
    optimizer = kind(layer.parameters(), lr=0.03, **options)
    if state is not None:
        layer.load_state_dict(state[0])
        optimizer.load_state_dict(state[1])
    for _ in range(count):
        optimizer.zero_grad()
        layer(torch.ones(2, 5)).square().sum().backward()
        optimizer.step()
    return layer.state_dict(), optimizer.state_dict()


@pytest.mark.parametrize(("first", "then"), [(Adam, torch.optim.Adam), (torch.optim.Adam, Adam)])
def test_it_computes_torchs_bits_and_takes_over_its_state(first, then):
    options = [{} if kind is Adam else {"fused": True} for kind in (first, then)]
    half = steps(first, 4, **options[0])
    parameters, state = steps(then, 4, half, **options[1])
    expected, expected_state = steps(torch.optim.Adam, 8, fused=True)
    assert all(torch.equal(parameters[name], expected[name]) for name in expected)
    assert state["param_groups"] == expected_state["param_groups"]
    assert torch.equal(state["state"][0]["exp_avg_sq"], expected_state["state"][0]["exp_avg_sq"])


def test_a_first_fit_does_not_load_the_compiler():
    code = (
        "import sys, hardwire as hw\n"
        "hw.LogicClassifier(width=10, iterations=2, wiring='random').fit([[0.0], [1.0], [2.0]], [0, 1, 0])\n"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
