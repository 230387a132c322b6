"""The native engine against its judge, the reference engine, on shapes too large for the oracle, and what only it has:
threads, instruction sets, a cache of wirings."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading

import pytest
import torch
from cases import METHODS, needs_native, property_test
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

import hardwire as hw
from hardwire.engine import native

pytestmark = needs_native


def make(engine="native", inputs=100, classes=10, widths=(300, 200), **settings):
    return hw.LogicNetwork(inputs, classes, widths=list(widths), engine=engine, **{"seed": 5, **settings})


def batch(net, rows, binary, seed=0):
    generator = torch.Generator().manual_seed(seed)
    x = torch.rand(rows, net.inputs, generator=generator)
    return (x.round() if binary else x), torch.randint(net.classes, (rows,), generator=generator)


def gradients(net, x, y):
    net.zero_grad()
    scores = net(x)
    cross_entropy(scores, y).backward()
    return [scores.detach(), *(layer.logits.grad.clone() for layer in net.layers)]


def assert_same(one, other, tolerance=1e-4):
    for a, b in zip(one, other, strict=True):
        # gradients are sums of terms of either sign, at low tau times 20: their error is not relative to each entry
        torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance * b.abs().max().item() + 5e-6)


@st.composite
def settings(draw):
    method = draw(st.sampled_from(METHODS))
    classes = draw(st.integers(2, 12))
    widths = [*draw(st.lists(st.integers(1, 150), max_size=4)), classes * draw(st.integers(1, 20))]
    return {
        "inputs": draw(st.integers(1, 300)),
        "classes": classes,
        "widths": widths,
        "method": method,
        "tau": draw(st.sampled_from((0.05, 0.7, 2.0))),
        "cage": method in ("hard-st", "gumbel-st") and draw(st.booleans()),
        "seed": draw(st.integers(0, 2**40)),
    }


@property_test
@given(settings(), st.integers(1, 300), st.booleans(), st.booleans(), st.integers(1, 3))
def test_scores_and_gradients_are_the_reference_engines(settings, rows, binary, packed, threads):
    if settings["cage"]:
        settings = {**settings, "tau": 1.0}
    torch.set_num_threads(threads)
    try:
        nets = [make(engine, **settings) for engine in ("native", "reference")]
        x, y = batch(nets[0], rows, binary)
        inputs = [hw.Bits.pack(x), hw.Bits.pack(x)] if binary and packed else [x.clone().requires_grad_() for _ in nets]
        for _ in range(2):  # the second step has moved noise and CAGE
            assert_same(*(gradients(net, i, y) for net, i in zip(nets, inputs, strict=True)))
        if not (binary and packed):
            assert_same([inputs[0].grad], [inputs[1].grad])
        assert nets[0].tau == pytest.approx(nets[1].tau, rel=1e-5)
        for mode in ("method", "argmax", "deploy"):
            for net in nets:
                net.eval()
            with hw.selection_mode(nets[0], mode), hw.selection_mode(nets[1], mode), torch.no_grad():
                torch.testing.assert_close(nets[0](x), nets[1](x), rtol=1e-4, atol=1e-4)
    finally:
        torch.set_num_threads(1)


@pytest.mark.parametrize("method", METHODS)
def test_training_step_for_step_goes_the_reference_engines_way(method):
    losses = []
    for engine in ("native", "reference"):
        net = make(engine, method=method)
        optimizer = torch.optim.SGD(net.parameters(), lr=20.0)  # unlike Adam, no division by tiny gradients
        x, y = batch(net, 130, binary=True)
        losses.append([])
        for _ in range(20):
            optimizer.zero_grad()
            loss = cross_entropy(net(x), y)
            loss.backward()
            optimizer.step()
            losses[-1].append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    assert losses[0][-1] != pytest.approx(losses[0][0], rel=1e-3)


def test_the_gates_picked_under_noise_have_the_softmax_frequencies():
    net = hw.LogicNetwork(2, 2, widths=[4000], method="gumbel-st", seed=1, engine="native")
    with torch.no_grad():
        net.layers[0].logits.copy_(torch.linspace(-1, 2, 16).expand(4000, 16))
    # truth tables of all neurons from the four input combinations tell which gate each one picked
    net_layer = hw.LogicLayer(2, 4000, method="gumbel-st", seed=1, engine="native")
    net_layer.load_state_dict(
        {**net_layer.state_dict(), "logits": net.layers[0].logits, "wiring": torch.tensor([[0], [1]]).repeat(1, 4000)}
    )
    counts = torch.zeros(16)
    for _ in range(25):
        table = net_layer(torch.tensor([[1.0, 1.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])).detach()
        gate = (table * torch.tensor([[1.0], [2.0], [4.0], [8.0]])).sum(0).long()
        counts += torch.bincount(gate, minlength=16)
    expected = torch.softmax(torch.linspace(-1, 2, 16), 0) * 100_000
    chi_square = ((counts - expected) ** 2 / expected).sum().item()
    assert chi_square < 37.7  # the 0.999 quantile for 15 degrees of freedom


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rows", [1, 63, 700])
def test_results_are_the_same_bits_for_any_number_of_threads(method, rows):
    results = []
    try:
        for threads in (1, 2, 3, 7):
            torch.set_num_threads(threads)
            net = make(method=method, cage=method.endswith("st"))
            results.append([*gradients(net, *batch(net, rows, binary=True)), torch.tensor(net.tau)])
    finally:
        torch.set_num_threads(1)
    for other in results[1:]:
        assert all(torch.equal(a, b) for a, b in zip(results[0], other, strict=True))


PRINT_GRADIENTS = """
import json, sys, torch, hardwire as hw
torch.set_num_threads(1)
net = hw.LogicNetwork(70, 5, widths=[90, 65], method=sys.argv[1], seed=3, engine="native")
x = torch.rand(77, 70, generator=torch.Generator().manual_seed(0))
x = x.round() if sys.argv[2] == "binary" else x
scores = net(x)
scores.square().sum().backward()
numbers = [scores, *(layer.logits.grad for layer in net.layers)]
print(json.dumps([hw.engine.native.instruction_set(), [n.flatten().tolist() for n in numbers]]))
"""


def run_with_isa(name, program, *arguments):
    environment = {**os.environ, "HARDWIRE_ISA": name}
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, timeout=600
    )


@pytest.mark.parametrize(
    "first_use",
    [
        "hw.LogicNetwork(4, 2, 2, 1)(torch.ones(1, 4))",
        "hw.Circuit.from_network(hw.LogicNetwork(4, 2, 2, 1, engine='reference')).predict([[0, 1, 0, 1]])",
    ],
    ids=["training", "circuit"],
)
def test_a_wrong_instruction_set_is_a_clear_error_on_first_use_and_none_at_import(first_use):
    program = "import torch, hardwire as hw\ntry:\n    {}\nexcept hw.HardwireError as error:\n    print(error)"
    said = run_with_isa("avx1024", program.format(first_use)).stdout
    assert said.startswith("HARDWIRE_ISA is 'avx1024'") and "avx512, avx2, baseline" in said
    assert run_with_isa("avx1024", "import hardwire, hardwire._native\nprint('well')").stdout == "well\n"


@pytest.mark.parametrize("method,kind", [("gumbel-st", "binary"), ("soft-gumbel", "continuous")])
def test_every_instruction_set_gives_the_same_numbers(method, kind):
    answers = {}
    for name in ("avx512", "avx2", "baseline"):
        done = run_with_isa(name, PRINT_GRADIENTS, method, kind)
        if "this processor lacks" in done.stderr:
            continue
        used, numbers = json.loads(done.stdout)
        assert used == name
        answers[used] = [torch.tensor(n) for n in numbers]
    assert "baseline" in answers
    for numbers in answers.values():
        assert_same(numbers, answers["baseline"])


@pytest.mark.parametrize(
    "inputs,widths,rows",
    [(1, [10, 20], 5), (3, [200_000], 3), (100_000, [50], 65), (5, [64, 10], 100_000), (20, [1, 3, 10], 1)],
)
def test_extreme_shapes_train_and_deploy(inputs, widths, rows):
    nets = [make(engine, inputs=inputs, widths=widths, method="hard-st") for engine in ("native", "reference")]
    x, y = batch(nets[0], rows, binary=True)
    assert_same(*(gradients(net, hw.Bits.pack(x), y) for net in nets), tolerance=1e-3)
    assert torch.equal(nets[0].predict(x), nets[1].predict(x))


def test_an_input_that_nobody_reads_gets_no_gradient_and_one_that_thousands_read_gets_theirs():
    nets = [make(engine, inputs=50, widths=[4000, 10], method="soft-mix") for engine in ("native", "reference")]
    grads = []
    for net in nets:
        wiring = torch.zeros(2, 4000, dtype=torch.int32)
        wiring[1] = 1
        net.layers[0].wiring.copy_(wiring)
        x, y = batch(net, 40, binary=False)
        x.requires_grad_()
        cross_entropy(net(x), y).backward()
        grads.append(x.grad)
    assert_same(grads[:1], grads[1:])
    assert (grads[0][:, 2:] == 0).all() and (grads[0][:, :2] != 0).any()


def test_a_wiring_that_changes_in_place_is_read_again():
    net, other = make(seed=1), make(seed=2)
    x, _ = batch(net, 20, binary=True)
    net.eval()(x)
    net.load_state_dict(other.state_dict())
    assert torch.equal(net(x), other.eval()(x))


def test_a_wiring_out_of_range_is_refused():
    net = make()
    net.layers[1].wiring[0, 0] = 300
    with pytest.raises(hw.HardwireError, match="must lie in 0 to 299"):
        net(batch(net, 4, binary=True)[0])


def test_networks_in_several_threads_train_as_they_do_alone():
    def train(seed, results):
        net = make(seed=seed, method="gumbel-st")
        optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
        x, y = batch(net, 200, binary=True)
        for _ in range(15):
            optimizer.zero_grad()
            cross_entropy(net(x), y).backward()
            optimizer.step()
        results[seed] = net.layers[0].logits.detach().clone()

    alone, together = {}, {}
    try:
        torch.set_num_threads(2)
        for seed in range(4):
            train(seed, alone)
        threads = [threading.Thread(target=train, args=(seed, together)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        torch.set_num_threads(1)
    assert all(torch.equal(alone[seed], together[seed]) for seed in range(4))


def test_one_network_may_be_read_by_several_threads_at_once():
    net = make(widths=[3000, 1000]).eval()
    x, _ = batch(net, 500, binary=True)
    expected, wrong = net(x), []

    def read():
        wrong.extend(1 for _ in range(10) if not torch.equal(net(x), expected))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_forked_child_starts_threads_of_its_own():
    net = make().eval()
    bits = hw.Bits.pack(batch(net, 300, binary=True)[0])  # packed: torch's own threads do not survive a fork either
    try:
        torch.set_num_threads(2)
        expected = net(bits).tolist()  # the parent's pool is now running
        context = multiprocessing.get_context("fork")
        queue = context.Queue()
        child = context.Process(target=lambda: queue.put(net(bits).tolist()), daemon=True)
        child.start()
        assert queue.get(timeout=600) == expected
        child.join(timeout=600)
        assert child.exitcode == 0
    finally:
        torch.set_num_threads(1)


def run_alone(program: str) -> str:
    """What a fresh Python says that runs this program."""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_child_is_safe_where_the_parent_used_only_torchs_threads():
    assert (
        run_alone("""
import multiprocessing, torch, hardwire as hw

torch.set_num_threads(2)
torch.rand(1000, 1000).relu()  # torch's threads are running, ours were never asked for
net, x = hw.LogicNetwork(64, 10, 1000, 2).eval(), hw.Bits.pack(torch.ones(512, 64))
child = multiprocessing.get_context("fork").Process(target=lambda: net(x), daemon=True)
child.start()
child.join(timeout=600)
print(child.exitcode)
""")
        == "0"
    )


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs Linux: reads /proc and limits its own memory")
def test_memory_that_runs_out_in_any_thread_is_an_error_and_no_crash():
    said = run_alone("""
import resource, torch, hardwire as hw

torch.set_num_threads(4)
nets = [hw.LogicNetwork(10, 2, 200_000, 2) for _ in range(5)]
x = hw.Bits.pack(torch.ones(1024, 10))
hw.LogicNetwork(10, 2, 10, 2)(x)  # the threads are running
for net, spare in zip(nets, (10, 40, 80, 150, 250)):
    taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (taken + spare * 10**6, limits[1]))
    try:
        net(x).sum().backward()
    except (MemoryError, RuntimeError):  # torch's own is a RuntimeError
        print("refused")
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
""")
    assert "refused" in said


def test_layers_in_a_sequence_train_like_the_reference_engines():
    results = []
    for engine in ("native", "reference"):
        model = torch.nn.Sequential(
            hw.LogicLayer(40, 90, method="hard-st", seed=1, engine=engine),
            hw.LogicLayer(90, 60, method="gumbel-st", seed=2, engine=engine),
            hw.LogicLayer(60, 30, method="soft-mix", seed=3, engine=engine),
            hw.GroupSum(5),
        )
        x = torch.rand(70, 40, generator=torch.Generator().manual_seed(0)).requires_grad_()
        model(x).square().sum().backward()
        results.append([x.grad, *(layer.logits.grad for layer in list(model)[:3])])
    assert_same(*results)


def test_without_the_native_module_the_reference_engine_works_and_says_once_what_is_lost(monkeypatch):
    monkeypatch.setattr(native, "_native", None)
    native.warn_if_missing.cache_clear()
    net = make(engine="auto").eval()
    x, _ = batch(net, 9, binary=True)
    with pytest.warns(UserWarning, match="without its native engine"):
        first = net(x)
    assert torch.equal(first, net(x))
    with pytest.raises(hw.HardwireError, match="installed without its native engine"):
        make(engine="native").eval()(x)
    native.warn_if_missing.cache_clear()
