"""Whether two netlists compute the same function, and what kind of proof says so.

With few inputs every assignment is simulated, which is a proof. With more, random vectors of several densities find
most differences at once, and then ABC's combinational equivalence check (SAT) gives a proof. Where ABC is missing or
gives up, the random vectors are evidence only, and the result says so.
"""

import re
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hardwire.bits import unpack, word_count
from hardwire.build import native
from hardwire.circuit.aiger import write_aiger
from hardwire.circuit.builder import Builder
from hardwire.circuit.circuit import Circuit
from hardwire.circuit.evaluate import Program
from hardwire.circuit.netlist import Netlist
from hardwire.circuit.table_netlist import AnyNetlist
from hardwire.circuit.tools import Ended, Limits, has_abc, run_abc
from hardwire.circuit.two_input import two_input_view
from hardwire.errors import HardwireError
from hardwire.gates import algebra

EXHAUSTIVE_INPUTS = 16
SAT_CONFLICTS = 1_000_000  # for one pair of nodes; past this, or past the time, ABC gives up
SAT_SECONDS = 300  # two versions of 131,000 ANDs, class sums and argmax included, take a minute
SAT_LIMITS = Limits(memory=4 << 30, seconds=SAT_SECONDS + 60)  # ABC does not always keep to the time it is given
VECTORS = 1 << 16
CHUNK = 1 << 14  # vectors at a time
# at a time and in all: a million inputs must not take gigabytes or minutes, and numpy alone is slower
CHUNK_WORDS, MOST_WORDS = 1 << 22, 1 << (26 if native is not None else 24)


@dataclass(frozen=True)
class Equivalence:
    """The result of a comparison; true in a condition if the two are equal.

    Attributes:
        equal: Whether no difference is known.
        proof: "exhaustive", "SAT" or "random"; "samples" if a given sample showed a difference.
        vectors: How many inputs were simulated.
        counterexample: uint8 [inputs] on which the two differ, if they do.

    Example:
        >>> result = circuit.equivalent(circuit.simplify())  # doctest: +SKIP
        >>> result.equal, result.proof  # doctest: +SKIP
        (True, 'SAT')
    """

    equal: bool
    proof: str
    vectors: int
    counterexample: npt.NDArray[np.uint8] | None = None

    @property
    def exact(self) -> bool:
        """Whether this is a proof rather than evidence from random vectors."""
        return not self.equal or self.proof != "random"

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        if self.counterexample is not None:
            bits = "".join(map(str, self.counterexample.tolist()))
            return f"different on input bits {bits[:80]}{'…' if len(bits) > 80 else ''}, {self.how}"
        return {
            "exhaustive": f"equal, proven by simulating all {self.vectors:,} inputs",
            "SAT": f"equal, proven by SAT (and {self.vectors:,} random vectors)",
            "random": f"equal on {self.vectors:,} random vectors, which is evidence and not a proof",
        }[self.proof]

    @property
    def how(self) -> str:
        """How the difference was found, in words."""
        return {
            "samples": "found on a test image",
            "exhaustive": "found by simulating all inputs",
            "SAT": "found by SAT",
            "random": "found on a random vector",
        }[self.proof]


def circuits_equal(a: Circuit, b: Circuit, **options: Any) -> Equivalence:
    """Compares two circuits output by output, which is stricter than comparing class sums."""
    if a.classes != b.classes:
        raise HardwireError(f"one circuit has {a.classes} classes and the other {b.classes}")
    if a.number != b.number:
        raise HardwireError(f"one circuit predicts {a.number or 'a class'} and the other {b.number or 'a class'}")
    return netlists_equal(a.gates, b.gates, **options)


def netlists_equal(
    a: AnyNetlist,
    b: AnyNetlist,
    *,
    vectors: int = VECTORS,
    seed: int = 0,
    sat: bool = True,
    samples: npt.NDArray[np.uint64] | None = None,
) -> Equivalence:
    """Compares two netlists output by output.

    Args:
        a: One netlist.
        b: A netlist with as many inputs and outputs.
        vectors: Random inputs to simulate before the solver is asked.
        seed: Of the random inputs.
        sat: Whether to ask the solver.
        samples: uint64 [n, words], packed inputs to simulate first, such as a test set.
    """
    if (a.inputs, len(a.outputs)) != (b.inputs, len(b.outputs)):
        raise HardwireError(
            f"circuits of {a.inputs} inputs and {len(a.outputs)} outputs and of {b.inputs} inputs and "
            f"{len(b.outputs)} outputs cannot be compared"
        )
    a, b = two_input_view(a), two_input_view(b)
    if samples is not None:
        difference_at = _first_difference(_difference(a, b), samples)
        if difference_at is not None:
            return Equivalence(False, "samples", len(samples), difference_at)
    read = _inputs_read(a, b)  # a file of a few bytes can have a million inputs, most of them for nothing
    answer = _all_read_equal(_reading(a, read), _reading(b, read), vectors, seed, sat)
    if answer.counterexample is None:
        return answer
    whole = np.zeros(a.inputs, np.uint8)
    whole[read] = answer.counterexample
    return replace(answer, counterexample=whole)


def _inputs_read(a: Netlist, b: Netlist) -> npt.NDArray[np.int64]:
    """The inputs that some gate or output of either netlist reads, in order; one at least."""
    read = np.zeros(a.inputs, bool)
    read[:1] = True
    for netlist in (a, b):
        for nodes in (netlist.first, netlist.second, netlist.outputs):
            read[nodes[nodes < netlist.inputs]] = True
    return np.flatnonzero(read)


def _difference(a: Netlist, b: Netlist) -> Program:
    return Program(miter(a, b), classes=1, single_images=False)


def _reading(netlist: Netlist, read: npt.NDArray[np.int64]) -> Netlist:
    """The same netlist with these inputs only."""
    if len(read) == netlist.inputs:
        return netlist
    place = np.zeros(netlist.nodes, np.int64)
    place[read] = np.arange(len(read))
    place[netlist.inputs :] = np.arange(netlist.nodes - netlist.inputs) + len(read)
    first, second, outputs = (place[nodes] for nodes in (netlist.first, netlist.second, netlist.outputs))
    return Netlist(len(read), netlist.gate, first, second, outputs)


def _all_read_equal(a: Netlist, b: Netlist, vectors: int, seed: int, sat: bool) -> Equivalence:
    difference = _difference(a, b)
    if a.inputs <= EXHAUSTIVE_INPUTS:
        every = np.arange(1 << a.inputs, dtype=np.uint64)[:, None]
        difference_at = _first_difference(difference, every)
        return Equivalence(difference_at is None, "exhaustive", len(every), difference_at)
    generator = np.random.default_rng(seed)
    words = word_count(a.inputs)
    vectors = min(vectors, max(1 << 10, MOST_WORDS // words))
    chunk = min(CHUNK, vectors, max(64, CHUNK_WORDS // words))
    for _ in range(0, vectors, chunk):
        difference_at = _first_difference(difference, random_words(generator, chunk, a.inputs))
        if difference_at is not None:
            return Equivalence(False, "random", vectors, difference_at)
    if not sat or not has_abc():
        return Equivalence(True, "random", vectors)
    proven, difference_at = _solve(a, b)
    return Equivalence(difference_at is None, "SAT" if proven else "random", vectors, difference_at)


def random_words(generator: np.random.Generator, rows: int, inputs: int) -> npt.NDArray[np.uint64]:
    """Makes packed random rows: in a third of them half of the bits are set, in a third a quarter, in a third more."""
    words: npt.NDArray[np.uint64]
    words, others = generator.integers(0, 1 << 64, (2, rows, word_count(inputs)), dtype=np.uint64)
    third = rows // 3
    words[third : 2 * third] &= others[third : 2 * third]
    words[2 * third :] |= others[2 * third :]
    if inputs % 64:
        words[:, -1] &= np.uint64((1 << inputs % 64) - 1)
    return words


def miter(a: Netlist, b: Netlist) -> Netlist:
    """Returns a netlist whose output i is true where output i of `a` and `b` differ."""
    builder = Builder(a.inputs)
    inputs = range(a.inputs)
    pairs = zip(builder.embed(a, inputs), builder.embed(b, inputs), strict=True)
    return builder.netlist([builder.gate(algebra.XOR, left, right) for left, right in pairs])


def _first_difference(difference: Program, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8] | None:
    """Returns the first row on which some output of the miter is true."""
    wrong = np.flatnonzero(difference.answer(words, raw=False, threads=None, scores=True)[:, 0])
    return unpack(words[wrong[:1]], difference.inputs)[0] if len(wrong) else None


def _solve(a: Netlist, b: Netlist) -> tuple[bool, npt.NDArray[np.uint8] | None]:
    """Asks ABC: whether it came to a decision, and an input on which the two differ, if any.

    A solver that runs into its limits has decided nothing.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name, netlist in (("a", a), ("b", b)):
            write_aiger(netlist, Path(folder, f"{name}.aig"))
        try:
            log = run_abc(f"cec -T {SAT_SECONDS} -C {SAT_CONFLICTS} a.aig b.aig", folder, SAT_LIMITS)
        except Ended:
            return False, None
    if "Networks are equivalent" in log:
        return True, None
    if "NOT EQUIVALENT" not in log:
        return False, None
    ones = np.zeros(a.inputs, np.uint8)  # what the pattern leaves out does not matter
    pattern = log.partition("Input pattern:")[2]
    ones[[int(place) for place in re.findall(r"\bx\[(\d+)\]=1", pattern)]] = 1
    return True, ones
