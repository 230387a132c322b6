"""Every reader on damaged and hostile files: a right answer or one HardwireError, within 10 s and 1 GB.

Damaged files are bytes changed at random. Hostile ones say something else in one place and carry a digest, lengths and
checksums that fit. HARDWIRE_FUZZ sets how many of each are made for each reader (by default 200), HARDWIRE_FUZZ_TOOLS
how many where reading starts a program of others.
"""

import contextlib
import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import hostile_files
import numpy as np
import pytest
import torch
from circuit_oracle import random_circuit
from limits import outcome
from mutations import MUTATIONS, TOOL_MUTATIONS, flipped_bits, mutations, token_mutations
from small_runs import digits, same_state
from yosys_server import yosys_server

import hardwire as hw
from hardwire import models
from hardwire.circuit.formats import format_of
from hardwire.data.streams import read_parts
from hardwire.training.recipe_settings import settings_of

Contents = Callable[[Path, int], Iterator[bytes]]


@dataclass
class Reader:
    """How a kind of file is made, read and changed.

    Attributes:
        write: Writes a good file to a path.
        read: Reads a file and uses what it says.
        hostile: Files that say something else, made from a good one.
        same: Whether a result is that of the good file, for formats with a digest.
        tool: Whether reading starts another program.
    """

    write: Callable[[Path], None]
    read: Callable[[Path], object]
    hostile: Contents
    same: Callable[[object, object], bool] | None = None
    tool: bool = False


def by_content(make: Callable[[bytes, int], Iterator[bytes]]) -> Contents:
    return lambda path, count: make(path.read_bytes(), count)


# Models


def network() -> hw.LogicNetwork:
    encoder = hw.Encoder(np.float32([[-1.5, 0.25], [2, 3], [0, 7], [1, 5]]))
    layers = [
        hw.LogicLayer(8, 12, seed=1, wiring="learned", candidates=3, method="gumbel-st", cage=True),
        hw.LogicLayer(12, 9, seed=2, start="residual"),
    ]
    net = hw.LogicNetwork(classes=3, layers=layers, seed=0, tau=hw.temperature.Linear(2, 1, 9), encoder=encoder)
    net.columns = hw.bits.Columns(("a", "b", "c", "d"), {"b": ("x", "y")}, "kind", ("u", "v", "w"))
    return net


def images() -> hw.LogicNetwork:
    conv = hw.LogicConv2d((2, 5, 5), 4, tree_depth=2, padding=1, groups=2, candidates=2, seed=3)
    layers = [conv, hw.OrPool2d(2), hw.LogicLayer(16, 6, seed=4)]
    return hw.LogicNetwork(layers=layers, number=(0, 10), seed=0)


def edges() -> hw.LogicNetwork:
    layers = [hw.EdgeChannels((2, 3, 3), levels=2, steps=[1, 2]), hw.LogicLayer(90, 6, seed=4)]
    return hw.LogicNetwork(classes=2, layers=layers, seed=0)


def tables() -> hw.LogicNetwork:
    layers = [hw.LutLayer(9, 12, 6, seed=1, wiring="learned", candidates=3), hw.LutLayer(12, 9, 3, seed=2)]
    return hw.LogicNetwork(classes=3, layers=layers, seed=0)


def write_model(make: Callable[[], hw.LogicNetwork], path: Path) -> None:
    hw.save(make(), path, dataset="digits", settings={"lr": 0.1, "widths": [1, 2]})


def read_network(path: Path) -> hw.LogicNetwork:
    net = hw.load(path)
    net.predict(torch.zeros(3, net.inputs))
    models.settings_of(path), models.trained_on(path)
    return net


def read_model(path: Path) -> hw.LogicNetwork:
    net = read_network(path)
    hw.Circuit.load(path).predict(np.zeros((2, net.inputs), np.uint8))
    return net


# Checkpoints

RUN = {"batch_size": 20, "evaluate_every": 2, "progress": False, "seed": 1}


@functools.cache
def rows() -> tuple:
    data = digits()
    return data.train.x[:60], data.train.y[:60]


def run(path: Path, iterations: int) -> hw.LogicNetwork:
    torch.manual_seed(0)
    net = hw.LogicNetwork(320, 10, widths=[20, 20], seed=3, method="gumbel-st+cage")
    adam = torch.optim.Adam(net.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(adam, 50)
    arguments = RUN | {"optimizer": adam, "scheduler": schedule, "validation": rows(), "keep_best": True}
    hw.fit(net, rows(), iterations, checkpoint=path, **arguments)
    return net


# Circuits


def circuit() -> hw.Circuit:
    encoder = hw.Encoder(np.float32([[-1.5, 0.25], [2, 3], [0, 7]]))
    return random_circuit(5, inputs=6, classes=3, group=5, layers=2, encoder=encoder)


@functools.cache
def plain_circuit() -> hw.Circuit:
    return hw.Circuit(circuit().netlist, 3)


@contextlib.contextmanager
def few_random_inputs() -> Iterator[None]:
    """Simplification proves itself right; its solver and its 65,536 random inputs would take most of the time."""
    proof = "hardwire.circuit.equivalence"
    with patch(f"{proof}.has_abc", lambda: False), patch(f"{proof}.MOST_WORDS", 1 << 10):
        yield


def read_circuit(path: Path) -> hw.Circuit:
    loaded = hw.Circuit.load(path)
    loaded.predict(np.zeros((2, loaded.inputs), np.uint8))
    with few_random_inputs():
        loaded.simplify()
    if loaded.encoder is not None:
        loaded.predict(np.zeros((2, loaded.encoder.raw_features), np.float32), raw=True)
    return loaded


BITS = np.array([[number >> place & 1 for place in range(6)] for number in range(64)], np.uint8)  # all there are


def read_logic(path: Path) -> list[int]:
    back = format_of(path.suffix).read(plain_circuit(), path, None)
    return list(back.answers(back.input_formats[0], BITS).classes)


def write_logic(path: Path) -> None:
    plain_circuit().export(path)


# Circuits with state


def loop() -> hw.LogicNetwork:
    cell = [hw.LogicLayer(7, 12, seed=1), hw.LogicLayer(12, 8, seed=2)]
    return hw.LogicNetwork(layers=[hw.Recurrent(cell, 3, 4, initial="learned", seed=0)], classes=2, seed=0)


def grid() -> hw.LogicNetwork:
    return hw.LogicNetwork(
        layers=[hw.CellularAutomaton((3, 3), channels=2, widths=[8], steps=2, seed=0)], classes=2, seed=0
    )


@functools.cache
def state_circuit() -> hw.Circuit:
    return hw.Circuit.from_loop(loop().eval())


def write_state(path: Path) -> None:
    state_circuit().export(path)


def read_state_circuit(path: Path) -> hw.Circuit:
    loaded = hw.Circuit.load(path)
    with few_random_inputs():
        loaded.simplify()
    width = loaded.inputs if loaded.state is None else loaded.inputs - loaded.state.bits
    loaded.run(np.zeros((2, 3, width), np.uint8))
    return loaded


def read_state(path: Path) -> bool:
    """Whether the file does what the circuit does."""
    return bool(state_circuit().verify(path, steps=0))


# Data

X = np.random.default_rng(0).integers(0, 2, (9, 4))


def write_npz(path: Path) -> None:
    np.savez(path, x_train=X, y_train=X[:, 0], x_test=X[:4], y_test=X[:4, 0], thresholds=np.full((4, 1), 0.5))


def write_csv(path: Path) -> None:
    path.write_text("size,colour,y\n" + "".join(f"{i / 7:.3f},c{i % 3},{i % 2}\n" for i in range(20)))


def write_parquet(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    columns = {"size": np.arange(20) / 7, "colour": ["a", "b", "c", "d"] * 5, "y": ["u", "v"] * 10}
    pq.write_table(pa.table(columns), path)


def read_table(path: Path) -> None:
    hw.data.load(f"{path}#y")
    list(read_parts(path, typed=True))


# Recipes

RECIPE = """
title = "a small one"
data = "digits"
iterations = 5
batch_size = 20
rates = { all = 0.03, "layers.0." = 0.01 }
augment = { flip = true, shift = 1 }
redraw = { every = 2, until = 0.8 }

[network]
method = "hard-st"
tau = 0.5

[[layers]]
kind = "conv2d"
shape = [5, 8, 8]
kernels = 4
tree_depth = 1
levels = 5

[[layers]]
kind = "or-pool2d"

[[layers]]
kind = "logic"
inputs = 36
neurons = 20
wiring = "learned"
candidates = 4
groups = 10
"""


FLAT_RECIPE = """
title = "a flat one"
data = "digits"
iterations = 5
batch_size = 20
rates = { all = 0.03 }
redraw = { every = 2 }

[network]
width = 50
depth = 2
method = "gumbel-st+cage"
wiring = "learned"
candidates = 4
"""


def read_recipe(path: Path) -> None:
    with patch("hardwire.training.memory.total_memory", lambda: 1 << 29):  # or what is large here is still allowed
        settings_of(hw.recipes.load(str(path)), "digits").network(digits())


READERS = {
    "model.safetensors": Reader(
        functools.partial(write_model, network), read_model, hostile_files.array_file_mutations, same_state
    ),
    "images.safetensors": Reader(
        functools.partial(write_model, images), read_model, hostile_files.array_file_mutations, same_state
    ),
    "edges.safetensors": Reader(
        functools.partial(write_model, edges), read_model, hostile_files.array_file_mutations, same_state
    ),
    "tables.safetensors": Reader(
        functools.partial(write_model, tables), read_model, hostile_files.array_file_mutations, same_state
    ),
    "run.checkpoint": Reader(
        lambda path: run(path, 4), lambda path: run(path, 5), hostile_files.array_file_mutations, same_state
    ),
    "net.circuit": Reader(
        lambda path: circuit().save(path),
        read_circuit,
        hostile_files.array_file_mutations,
        lambda a, b: a.digest == b.digest,
    ),
    "tables.circuit": Reader(
        lambda path: hw.Circuit.from_network(tables()).save(path),
        read_circuit,
        hostile_files.array_file_mutations,
        lambda a, b: a.digest == b.digest,
    ),
    "loop.safetensors": Reader(
        functools.partial(write_model, loop), read_network, hostile_files.array_file_mutations, same_state
    ),
    "grid.safetensors": Reader(
        functools.partial(write_model, grid), read_network, hostile_files.array_file_mutations, same_state
    ),
    "state.circuit": Reader(
        lambda path: state_circuit().save(path),
        read_state_circuit,
        hostile_files.array_file_mutations,
        lambda a, b: a.digest == b.digest,
    ),
    "state.aig": Reader(write_state, read_state, by_content(token_mutations)),
    "state.aag": Reader(write_state, read_state, by_content(token_mutations)),
    "state.v": Reader(write_state, read_state, by_content(token_mutations)),
    "state.c": Reader(write_state, read_state, by_content(token_mutations)),
    "state.wasm": Reader(write_state, read_state, by_content(functools.partial(mutations, seed=1))),
    "state.blif": Reader(write_state, read_state, by_content(token_mutations), tool=True),
    "net.aig": Reader(write_logic, read_logic, by_content(token_mutations)),
    "net.aag": Reader(write_logic, read_logic, by_content(token_mutations)),
    "net.wasm": Reader(write_logic, read_logic, by_content(functools.partial(mutations, seed=1))),
    "net.c": Reader(write_logic, read_logic, by_content(token_mutations)),
    "net.blif": Reader(write_logic, read_logic, by_content(token_mutations), tool=True),
    "net.v": Reader(write_logic, read_logic, by_content(token_mutations), tool=True),
    "recipe.toml": Reader(lambda path: path.write_text(RECIPE), read_recipe, by_content(hostile_files.toml_mutations)),
    "flat.toml": Reader(
        lambda path: path.write_text(FLAT_RECIPE), read_recipe, by_content(hostile_files.toml_mutations)
    ),
    "data.npz": Reader(write_npz, lambda path: hw.data.load(str(path)), by_content(hostile_files.npz_mutations)),
    "data.csv": Reader(write_csv, read_table, by_content(token_mutations)),
    "data.parquet": Reader(write_parquet, read_table, by_content(functools.partial(mutations, seed=1))),
}


def prepare(name: str, folder: Path) -> tuple[Path, object, int]:
    """A good file, what it says, and how many changed ones to try."""
    reader, path = READERS[name], folder / name
    reader.write(path)
    good, error = outcome(lambda: reader.read(path))
    assert error is None
    return path, good, TOOL_MUTATIONS if reader.tool else MUTATIONS


def try_contents(name: str, path: Path, contents: Iterator[bytes]) -> list[object]:
    """The results of those that could be read; a failure leaves its file behind."""
    results = []
    with yosys_server() if path.suffix == ".v" and READERS[name].tool else contextlib.nullcontext():
        for number, content in enumerate(contents):
            path.write_bytes(content)
            try:
                result, error = outcome(lambda: READERS[name].read(path))
            except BaseException:
                print(f"mutation {number} of {name} is kept in {path}")
                raise
            if error is None:
                results.append(result)
    return results


@pytest.mark.parametrize("name", READERS)
def test_damaged_files_are_an_error_or_what_they_were(name, tmp_path):
    path, good, count = prepare(name, tmp_path)
    results = try_contents(name, path, mutations(path.read_bytes(), count))
    if (same := READERS[name].same) is not None:
        assert all(same(result, good) for result in results)
        assert len(results) < count / 20


@pytest.mark.parametrize("name", [name for name, reader in READERS.items() if reader.same is not None])
def test_a_flipped_bit_is_an_error_where_there_is_a_digest(name, tmp_path):
    path, good, count = prepare(name, tmp_path)
    results = try_contents(name, path, flipped_bits(path.read_bytes(), count))
    assert all(READERS[name].same(result, good) for result in results)
    assert len(results) < count / 20


@pytest.mark.parametrize("name", READERS)
def test_hostile_files_are_one_error_or_an_answer(name, tmp_path):
    path, _, count = prepare(name, tmp_path)
    good = path.with_name(f"good-{name}")
    path.rename(good)
    contents = itertools.islice(READERS[name].hostile(good, count), count)
    results = try_contents(name, path, contents)
    assert len(results) < count
