"""Whether two netlists compute the same function, and by which kind of proof.

Few inputs: every assignment is simulated, which is a proof. More: random vectors of several densities, which find most
differences at once, and then ABC's combinational equivalence check (SAT), which is a proof. Where ABC is missing or
gives up, the random vectors are evidence, and are called so.
"""

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import unpack, word_count
from hardwire.circuit.aiger import write_aiger
from hardwire.circuit.builder import Builder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.tools import has_abc, run_abc
from hardwire.errors import HardwireError
from hardwire.gates import algebra

EXHAUSTIVE_INPUTS = 16
SAT_CONFLICTS = 1_000_000  # for one pair of nodes; past this, or past the time, ABC gives up
SAT_SECONDS = 300  # two versions of 131,000 ANDs, class sums and argmax included, take a minute
VECTORS = 1 << 16
CHUNK = 1 << 14


@dataclass(frozen=True)
class Equivalence:
    """equal: the answer; proof: "exhaustive", "SAT" or "random", or "samples" for a difference found on the samples
    given; vectors: how many were simulated; counterexample: uint8 [inputs] on which they differ, if they do."""

    equal: bool
    proof: str
    vectors: int
    counterexample: npt.NDArray[np.uint8] | None = None

    @property
    def exact(self) -> bool:
        """Whether this is a proof; random vectors are not."""
        return not self.equal or self.proof != "random"

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        if self.counterexample is not None:
            bits = "".join(map(str, self.counterexample.tolist()))
            return f"different on input bits {bits[:80]}{'…' if len(bits) > 80 else ''}, {self.found}"
        return {
            "exhaustive": f"equal, proven by simulating all {self.vectors:,} inputs",
            "SAT": f"equal, proven by SAT (and {self.vectors:,} random vectors)",
            "random": f"equal on {self.vectors:,} random vectors, which is evidence and not a proof",
        }[self.proof]

    @property
    def found(self) -> str:
        """How a difference was found, in words."""
        return {
            "samples": "found on a test image",
            "exhaustive": "found by simulating all inputs",
            "SAT": "found by SAT",
            "random": "found on a random vector",
        }[self.proof]


def circuits_equal(a: Circuit, b: Circuit, **options: Any) -> Equivalence:
    """Compares the outputs one by one, which is more than equal class sums."""
    if a.classes != b.classes:
        raise HardwireError(f"one circuit has {a.classes} classes and the other {b.classes}")
    if a.number != b.number:
        raise HardwireError(f"one circuit says {a.number or 'a class'} and the other {b.number or 'a class'}")
    return netlists_equal(a.netlist, b.netlist, **options)


def netlists_equal(
    a: Netlist,
    b: Netlist,
    *,
    vectors: int = VECTORS,
    seed: int = 0,
    sat: bool = True,
    samples: npt.NDArray[np.uint64] | None = None,
) -> Equivalence:
    """vectors: random ones to simulate; sat: ask the solver where it can be asked; samples: words [n, word_count]
    that are simulated as well, such as a test set."""
    if (a.inputs, len(a.outputs)) != (b.inputs, len(b.outputs)):
        raise HardwireError(
            f"circuits of {a.inputs} inputs and {len(a.outputs)} outputs and of {b.inputs} inputs and "
            f"{len(b.outputs)} outputs cannot be compared"
        )
    difference = Circuit(miter(a, b), classes=1)
    if samples is not None:
        found = _first_difference(difference, samples)
        if found is not None:
            return Equivalence(False, "samples", len(samples), found)
    if a.inputs <= EXHAUSTIVE_INPUTS:
        every = np.arange(1 << a.inputs, dtype=np.uint64)[:, None]
        found = _first_difference(difference, every)
        return Equivalence(found is None, "exhaustive", len(every), found)
    generator = np.random.default_rng(seed)
    for _ in range(0, vectors, CHUNK):
        found = _first_difference(difference, random_words(generator, min(CHUNK, vectors), a.inputs))
        if found is not None:
            return Equivalence(False, "random", vectors, found)
    if not sat or not has_abc():
        return Equivalence(True, "random", vectors)
    proven, found = _solve(a, b)
    return Equivalence(found is None, "SAT" if proven else "random", vectors, found)


def random_words(generator: np.random.Generator, rows: int, inputs: int) -> npt.NDArray[np.uint64]:
    """Packed random rows: a third of them with half of the bits set, a third with a quarter, a third with most."""
    words: npt.NDArray[np.uint64]
    words, others = generator.integers(0, 1 << 64, (2, rows, word_count(inputs)), dtype=np.uint64)
    third = rows // 3
    words[third : 2 * third] &= others[third : 2 * third]
    words[2 * third :] |= others[2 * third :]
    if inputs % 64:
        words[:, -1] &= np.uint64((1 << inputs % 64) - 1)
    return words


def miter(a: Netlist, b: Netlist) -> Netlist:
    """A netlist whose output i says that output i of `a` and `b` differ."""
    builder = Builder(a.inputs)
    inputs = range(a.inputs)
    pairs = zip(builder.embed(a, inputs), builder.embed(b, inputs), strict=True)
    return builder.netlist([builder.gate(algebra.XOR, left, right) for left, right in pairs])


def _first_difference(difference: Circuit, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8] | None:
    wrong = np.flatnonzero(difference.scores(words)[:, 0])
    return unpack(words[wrong[:1]], difference.inputs)[0] if len(wrong) else None


def _solve(a: Netlist, b: Netlist) -> tuple[bool, npt.NDArray[np.uint8] | None]:
    """Whether ABC decided, and an input on which they differ, if it found one."""
    with tempfile.TemporaryDirectory() as folder:
        for name, netlist in (("a", a), ("b", b)):
            write_aiger(netlist, Path(folder, f"{name}.aig"))
        log = run_abc(f"cec -T {SAT_SECONDS} -C {SAT_CONFLICTS} a.aig b.aig", folder)
    if "Networks are equivalent" in log:
        return True, None
    if "NOT EQUIVALENT" not in log:
        return False, None
    ones = np.zeros(a.inputs, np.uint8)  # what the pattern leaves out does not matter
    pattern = log.partition("Input pattern:")[2]
    ones[[int(place) for place in re.findall(r"\bx\[(\d+)\]=1", pattern)]] = 1
    return True, ones
