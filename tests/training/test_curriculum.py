"""`curriculum`: lengths share their parameters, end early, resume to the same bits, and wrong arguments are refused."""

import pytest
import torch

import hardwire as hw
from hardwire.errors import HardwireError

BITS = torch.randint(0, 2, (400, 6, 1), generator=torch.Generator().manual_seed(0))


def parity(steps):
    return BITS[:, :steps].flatten(1).float(), BITS[:, :steps].sum((1, 2)) % 2


def network(**options):
    cell = [
        hw.LogicLayer(8 + 1, 32, start="residual", bonus=2.0, seed=0),
        hw.LogicLayer(32, 8 + 8, seed=1),
    ]
    return hw.LogicNetwork(
        layers=[hw.Recurrent(cell, steps=2, state=8, seed=4, **options)], classes=2, method="hard-st+cage", seed=2
    )


def train(net, **options):
    settings = {"steps": [2, 4, 6], "iterations": 30, "batch_size": 80, "evaluate_every": 10, "progress": False}
    return hw.curriculum(net, parity, **(settings | options))


class Interrupt(hw.Callback):
    """Stops the process, so to say, at a number of steps of the second length."""

    def __init__(self, at):
        self.at = at

    def on_step(self, run):
        if run.net.inputs == 4 and run.iteration == self.at:
            raise KeyboardInterrupt


def test_a_network_with_other_steps_shares_parameters_temperature_and_step_count():
    net = network(initial="learned")
    longer = net.with_steps(5)
    assert longer.inputs == 5
    assert longer.selector is net.selector
    assert {id(p) for p in longer.parameters()} == {id(p) for p in net.parameters()}
    longer(parity(5)[0]).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    assert int(net.selector.steps) == 1


def test_a_longer_network_continues_what_the_shorter_one_computes():
    net = network(outputs="all").eval()
    short, long = net(parity(2)[0]), net.with_steps(4)(parity(4)[0])
    loop = net.layers[0]
    first, whole = loop.with_steps(2).levels(), loop.with_steps(4).levels()
    assert len(whole) == 2 * len(first) - 2  # the levels of the initial state and of the outputs come once
    assert short.shape == long.shape == (400, 2)


def test_layers_with_a_choice_of_their_own_keep_their_seed():
    automaton = hw.CellularAutomaton((4, 4), channels=2, widths=[8], method="hard-st", seed=3)
    longer = automaton.with_steps(3)
    x = torch.ones(1, 32)
    assert longer.selector is automaton.selector
    assert longer.selector.seed == automaton.selector.seed
    three = automaton(automaton(automaton(x)))
    assert torch.equal(longer(x), three)


def test_random_updates_stay_random_at_another_length():
    automaton = hw.CellularAutomaton((4, 4), widths=[8], updates="random", rate=0.25, seed=3)
    assert (automaton.with_steps(3).masked, automaton.with_steps(3).rate) == (16, 0.25)


def test_each_length_ends_as_soon_as_it_is_good_enough():
    trained = train(network(), until=0.0)
    assert [history.final.iteration for history in trained.histories.values()] == [10, 10, 10]
    assert [history.final.iteration for history in train(network(), until=None).histories.values()] == [30, 30, 30]
    assert trained.net.inputs == 6


def test_an_interrupted_curriculum_ends_with_the_same_bits(tmp_path):
    whole = train(network(), lr=[0.05, 0.03, 0.02])
    saved = {"checkpoint": tmp_path / "parity", "checkpoint_every": 5, "lr": [0.05, 0.03, 0.02]}
    with pytest.raises(KeyboardInterrupt):
        train(network(), callbacks=[Interrupt(7)], **saved)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parity.steps-2", "parity.steps-4"]
    again = train(network(), **saved)
    for name, value in whole.net.state_dict().items():
        assert torch.equal(value, again.net.state_dict()[name]), name
    assert whole.histories[6].records == again.histories[6].records


def test_a_finished_length_is_not_trained_again(tmp_path):
    first = train(network(), until=0.0, checkpoint=tmp_path / "parity")
    again = train(network(), until=0.0, checkpoint=tmp_path / "parity")
    assert again.histories[6].records == first.histories[6].records


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"steps": []}, "such as \\[2, 4, 8\\]"),
        ({"steps": 8}, "such as \\[2, 4, 8\\]"),
        ({"steps": [2, 0]}, "steps"),
        ({"steps": [2, 4, 2]}, "names a length twice"),
        ({"lr": [0.1]}, "1 learning rates for 3 lengths"),
    ],
)
def test_wrong_lengths_and_rates_are_refused(options, message):
    with pytest.raises(HardwireError, match=message):
        train(network(), **options)


def test_a_network_without_a_loop_has_no_curriculum():
    with pytest.raises(HardwireError, match="without a loop"):
        train(hw.LogicNetwork(2, 2, width=8, depth=1, seed=0))
    with pytest.raises(HardwireError, match="has no steps"):
        train(torch.nn.Linear(2, 2))
