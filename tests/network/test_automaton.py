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


def random_updates(engine="auto", **options):
    options = {"steps": 3, "widths": [5], "seed": 1} | options
    return hw.CellularAutomaton((3, 4), 2, updates="random", engine=engine, **options)


def test_cells_that_a_mask_leaves_out_keep_their_bits():
    automaton = random_updates()
    x = torch.rand(5, 24 + 36, generator=torch.Generator().manual_seed(0)).round()
    state, masks = x[:, :24].view(5, 2, 3, 4), x[:, 24:].view(5, 3, 1, 3, 4)
    for t in range(3):
        new = state.tolist()
        for layer in automaton.cell:
            new = [step_by_loops(layer, grid, 3, 4) for grid in new]
        state = torch.where(masks[:, t] == 1, torch.tensor(new), state)
    assert torch.equal(automaton(x), state.flatten(1))
    circuit = hw.Circuit.from_loop(automaton).simplify()
    made = circuit.run(x[:, 24:].view(5, 3, 12).int().numpy(), state=x[:, :24].int().numpy())
    assert torch.equal(torch.from_numpy(made[:, -1]).float(), automaton(x))


@pytest.mark.parametrize("engine", ENGINES_HERE)
@pytest.mark.parametrize("method", ["hard-st", "soft-mix"])
def test_gradients_of_random_updates_are_those_of_steps_blended_one_by_one(engine, method):
    automaton = random_updates(engine, method=method)
    x = torch.rand(9, 60, generator=torch.Generator().manual_seed(2))
    x = (x if method == "soft-mix" else x.round()).requires_grad_()
    masks = x[:, 24:].detach().round().view(9, 3, 12).repeat(1, 1, 2)
    upstream = torch.linspace(-1, 1, 9 * 24).view(9, 24)
    given = torch.cat([x[:, :24], masks[..., :12].flatten(1)], dim=1)
    automaton(given).backward(upstream)
    expected = [x.grad[:, :24].clone(), *(p.grad.clone() for p in automaton.parameters())]
    automaton.zero_grad()
    x.grad = None
    for layer in automaton.cell:
        layer.selector = automaton.selector
    state = x[:, :24]
    for t in range(3):
        new = state
        for layer in automaton.cell:
            new = layer(new.clamp(0, 1))
        state = masks[:, t] * new + (1 - masks[:, t]) * state
    state.backward(upstream)
    for one, other in zip(expected, [x.grad[:, :24], *(p.grad for p in automaton.parameters())], strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-3)


def test_masks_are_drawn_from_the_seed_anew_in_every_pass_and_row():
    x = torch.zeros(400, 24)
    one, other = random_updates(rate=0.3), random_updates(rate=0.3)
    masks = one.draw_masks(400)
    assert torch.equal(masks, other.draw_masks(400)) and abs(masks.float().mean() - 0.3) < 0.02
    assert not torch.equal(masks[0], masks[1])
    one(x).sum().backward()  # the next step
    assert not torch.equal(masks, one.draw_masks(400))
    with torch.no_grad():
        assert not torch.equal(one.draw_masks(400), one.draw_masks(400))
    packed, plain = random_updates().eval(), random_updates().eval()
    assert torch.equal(packed(hw.Bits.pack(x.bool())), plain(x))
    with hw.one_step(one):
        first = one.draw_masks(400)
        one(x)
        assert not torch.equal(first, one.draw_masks(400))  # of the next micro-batch


def test_random_updates_are_saved_with_their_rate(tmp_path):
    net = hw.LogicNetwork(layers=[random_updates(rate=0.25)], classes=2, seed=0)
    hw.save(net, tmp_path / "model")
    loaded, x = hw.load(tmp_path / "model"), torch.rand(9, 60, generator=torch.Generator().manual_seed(0)).round()
    assert torch.equal(loaded(x), net.eval()(x)) and loaded.layers[0].rate == 0.25
    with pytest.raises(hw.HardwireError, match="masks of a loop come with its input"):
        loaded.layers[0](x[:, :24])


BAD = [
    (lambda: random_updates(rate=0), "rate 0 is not above 0"),
    (lambda: hw.CellularAutomaton((4, 4), updates="some"), "updates"),
    (lambda: hw.Recurrent(hw.LogicLayer(8, 8, seed=0), 2, 8, "input", masked=3), "a mask of 3 bits"),
    (lambda: hw.Recurrent(hw.LogicLayer(9, 8, seed=0), 2, 8, masked=4), "initial='input'"),
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
