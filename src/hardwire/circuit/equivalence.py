"""Whether two netlists compute the same function, and by which kind of proof.

Few inputs: every assignment is simulated, which is a proof. Small circuits: a SAT solver (aigverse) proves it. Large
ones: random vectors of several densities, which is evidence and is called so. All three look at one netlist, the
miter, whose outputs are true where the two differ.
"""

import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from hardwire.bits import unpack, word_count
from hardwire.circuit import algebra
from hardwire.circuit.lower import Builder
from hardwire.circuit.netlist import Circuit, Netlist
from hardwire.errors import HardwireError

EXHAUSTIVE_INPUTS = 16
SAT_GATES = 1_000_000  # of both circuits together; 480,000 take some 6 seconds
SAT_CONFLICTS = 200_000  # where the solver gives up; fewer for a large miter, in which each takes longer
SAT_WORK = 2_000_000_000  # conflicts times gates: some ten to thirty seconds
VECTORS = 1 << 16
CHUNK = 1 << 14


@dataclass(frozen=True)
class Equivalence:
    """equal: the answer; proof: "exhaustive", "SAT" or "random", or "samples" for a difference found on the samples
    given; vectors: how many were simulated; counterexample: uint8 [inputs] on which they differ, if they do."""

    equal: bool
    proof: str
    vectors: int
    counterexample: np.ndarray | None = None

    @property
    def exact(self) -> bool:
        """Whether this is a proof; random vectors are not."""
        return not self.equal or self.proof != "random"

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        if not self.equal:
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


def circuits_equal(a: Circuit, b: Circuit, **options) -> Equivalence:
    """Compares the outputs one by one, which is more than equal class sums."""
    if a.classes != b.classes:
        raise HardwireError(f"one circuit has {a.classes} classes and the other {b.classes}")
    return netlists_equal(a.netlist, b.netlist, **options)


def netlists_equal(
    a: Netlist,
    b: Netlist,
    *,
    vectors: int = VECTORS,
    seed: int = 0,
    sat: bool = True,
    samples: np.ndarray | None = None,
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
    if sat and len(a.gate) + len(b.gate) <= SAT_GATES:
        answer = _solve(difference.netlist)
        if answer is not None:
            return Equivalence(answer, "SAT", vectors, None if answer else _find(difference.netlist))
    return Equivalence(True, "random", vectors)


def random_words(generator: np.random.Generator, rows: int, inputs: int) -> np.ndarray:
    """Packed random rows: a third of them with half of the bits set, a third with a quarter, a third with most."""
    words = generator.integers(0, 1 << 64, (2, rows, word_count(inputs)), dtype=np.uint64)
    third = rows // 3
    words[0, third : 2 * third] &= words[1, third : 2 * third]
    words[0, 2 * third :] |= words[1, 2 * third :]
    if inputs % 64:
        words[0, :, -1] &= np.uint64((1 << inputs % 64) - 1)
    return words[0]


def miter(a: Netlist, b: Netlist) -> Netlist:
    """A netlist whose output i says that output i of `a` and `b` differ."""
    builder = Builder(a.inputs)
    inputs = list(range(a.inputs))
    pairs = zip(builder.embed(a, inputs), builder.embed(b, inputs), strict=True)
    return builder.netlist([builder.gate(algebra.XOR, left, right) for left, right in pairs])


def _first_difference(difference: Circuit, words: np.ndarray) -> np.ndarray | None:
    wrong = np.flatnonzero(difference.scores(words)[:, 0])
    return unpack(words[wrong[:1]], difference.inputs)[0] if len(wrong) else None


def _solve(difference: Netlist) -> bool | None:
    """Whether no output of the miter can be true; None where the solver is missing or gives up."""
    try:
        from aigverse.algorithms import equivalence_checking
        from aigverse.io import read_aiger_into_aig
    except ImportError:
        return None
    from hardwire.circuit.export.aiger import write_aiger

    never = Netlist(difference.inputs, [algebra.FALSE], [0], [0], [difference.inputs] * len(difference.outputs))
    with tempfile.TemporaryDirectory() as folder:
        graphs = []
        for name, netlist in (("difference", difference), ("never", never)):
            path = Path(folder, f"{name}.aig")
            write_aiger(netlist, path)
            graphs.append(read_aiger_into_aig(path))
        limit = min(SAT_CONFLICTS, SAT_WORK // max(1, graphs[0].num_gates))
        return equivalence_checking(*graphs, conflict_limit=limit)


def _find(difference: Netlist) -> np.ndarray:
    """An input on which the miter is true, when the solver said that there is one: fix bit after bit to 0, and to 1
    where 0 leaves no difference."""
    chosen = np.zeros(difference.inputs, np.uint8)
    for place in range(difference.inputs):
        fixed = fix_input(difference, place, False)
        if _solve(fixed) is not False:
            chosen[place] = 1
            fixed = fix_input(difference, place, True)
        difference = fixed
    return chosen


def fix_input(netlist: Netlist, place: int, value: bool) -> Netlist:
    """The netlist with one input replaced by a constant in every gate that reads it."""
    first = np.array(algebra.FIRST_IS_TRUE if value else algebra.FIRST_IS_FALSE)
    second = np.array(algebra.SECOND_IS_TRUE if value else algebra.SECOND_IS_FALSE)
    gate = np.where(netlist.first == place, first[netlist.gate], netlist.gate)
    gate = np.where(netlist.second == place, second[gate], gate)
    return replace(netlist, gate=gate)
