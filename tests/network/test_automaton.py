"""Local layers and cellular automata: against loops over cells, in both engines, saved and refused."""

import itertools

import oracle
import pytest
import torch
from cases import ENGINES_HERE

import hardwire as hw


def step_by_loops(layer, state, height, width):
    """One local layer of gates on one grid [channel][y][x], cell by cell."""
    made = []
    half = layer.kernel_size // 2
    for neuron, row in enumerate(layer.logits.tolist()):
        gate, grid = oracle.argmax(row), []
        for y, x in itertools.product(range(height), range(width)):
            values = []
            for channel, down, right in (layer.places[side, neuron, 0].tolist() for side in range(2)):
                there = y + down - half, x + right - half
                if layer.border == "periodic":
                    there = there[0] % height, there[1] % width
                inside = 0 <= there[0] < height and 0 <= there[1] < width
                values.append(state[channel][there[0]][there[1]] if inside else 0.0)
            grid.append(oracle.hard_gate(gate, *values))
        made.append([grid[start : start + width] for start in range(0, len(grid), width)])
    return made


@pytest.mark.parametrize("border", ["periodic", "zero"])
@pytest.mark.parametrize("engine", ENGINES_HERE)
def test_an_automaton_is_a_loop_over_its_cells(border, engine):
    automaton = hw.CellularAutomaton((4, 5), 2, 3, steps=3, widths=[6, 4], border=border, engine=engine, seed=1)
    x = torch.rand(2, 2, 4, 5, generator=torch.Generator().manual_seed(0)).round()
    out = automaton(x.flatten(1)).view(2, 2, 4, 5)
    for start, end in zip(x.tolist(), out.tolist(), strict=True):
        state = start
        for _ in range(3):
            for layer in automaton.cell:
                state = step_by_loops(layer, state, 4, 5)
        assert state == end


@pytest.mark.parametrize("options", [{"arity": 4, "votes": 3}, {"candidates": 3, "votes": 5}])
def test_engines_agree_on_tables_votes_and_learned_places(options):
    results = []
    for engine in ENGINES_HERE:
        automaton = hw.CellularAutomaton(
            (3, 4), 2, steps=2, widths=[5], border="zero", engine=engine, seed=3, **options
        )
        x = torch.rand(70, 24, generator=torch.Generator().manual_seed(0)).round()
        out = automaton(hw.Bits.pack(x.bool()))
        out.backward(torch.linspace(-1, 1, out.numel()).view_as(out))
        results.append([out.detach(), *(p.grad for p in automaton.parameters())])
    for one, other in zip(results[0], results[-1], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)


def test_a_majority_is_what_most_voters_say():
    layer = hw.LocalLayer((1, 2, 2), 1, 1, votes=3, seed=0)
    with torch.no_grad():
        layer.logits.zero_()
        layer.logits[0, 15], layer.logits[1, 3], layer.logits[2, 12] = 9, 9, 9  # 1, a and NOT a
    assert torch.equal(layer(torch.tensor([[0.0, 1, 0, 1]])), torch.ones(1, 4))


def test_automata_are_saved_as_loops(tmp_path):
    automaton = hw.CellularAutomaton((3, 4), 2, steps=2, widths=[5], candidates=4, seed=3)
    net = hw.LogicNetwork(layers=[automaton], classes=2, seed=0)
    hw.save(net, tmp_path / "life.safetensors")
    x = torch.rand(9, 24, generator=torch.Generator().manual_seed(0)).round()
    assert torch.equal(hw.load(tmp_path / "life.safetensors")(x), net.eval()(x))


BAD = [
    (lambda: hw.CellularAutomaton(8), "height, width"),
    (lambda: hw.CellularAutomaton((4, 4), steps=0), "steps"),
    (lambda: hw.CellularAutomaton((4, 4), widths=[]), "at least one"),
    (lambda: hw.CellularAutomaton((4, 4), kernel_size=2), "odd number"),
    (lambda: hw.CellularAutomaton((4, 4), border="wall"), "border"),
    (lambda: hw.LocalLayer((1, 4, 4), 2, votes=4, seed=0), "threes and fives"),
    (lambda: hw.LocalLayer((1, 4, 4), 2, candidates=10, seed=0), "9 places"),
    (lambda: hw.LocalLayer((1, 4, 4), 2, arity=7, seed=0), "arity 7"),
]


@pytest.mark.parametrize(("wrong", "says"), BAD)
def test_wrong_automata_are_one_line(wrong, says):
    with pytest.raises(hw.HardwireError, match=says) as caught:
        wrong()
    assert "\n" not in str(caught.value)
