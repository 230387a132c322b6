"""Writes gate_table.hpp, the C++ side of hardwire/gates/table.py: `make_gate_table.py table.py gate_table.hpp`.

Run by the build, in a Python that may have no packages: the table is loaded by its path and needs none. Surprising:
the formulas are written out term by term in a fixed order, because another order of sums would be other bits.
"""

import importlib.util
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

OPERATORS = {"∧": "&", "∨": "|", "⊕": "^", "¬": "~", "0": "a ^ a", "1": "~(a ^ a)"}

HEADER = """\
// Written by make_gate_table.py from hardwire/gates/table.py: the gates, their coefficients and what follows from them.
// In an unnamed namespace, because every instruction set needs a copy of its own.
#pragma once

namespace hardwire {{
namespace {{

constexpr int kGates = {gates};  // choices of a neuron
constexpr int kTerms = {terms};   // coefficients of a gate: c0 + c1*a + c2*b + c3*a*b

constexpr float kCoefficients[kGates][kTerms] = {{
{coefficients}
}};

// [gate][2*a + b]: the output for inputs a, b.
constexpr bool kTruth[kGates][4] = {{
{truth}
}};

// A gate on words, or on vectors of them: 64 samples and more at once.
template <int gate, class Word>
inline void apply_gate(Word& out, const Word& a, const Word& b) {{
  static_assert(gate >= 0 && gate < kGates);
{words}
}}

// The coefficients of the mixture of gates with weights w.
template <class Floats>
inline void mixture(const Floats w[kGates], Floats c[kTerms]) {{
{mixture}
}}

// Its transpose: the sums of d, d*a, d*b, d*a*b over the batch -> the gradient of each gate's weight.
template <class Floats>
inline void gate_gradients(const Floats s[kTerms], Floats g[kGates]) {{
{gradients}
}}

}}  // namespace
}}  // namespace hardwire
"""


def load_table(path: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location("gate_table", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["gate_table"] = module  # a dataclass looks up the module it is made in
    spec.loader.exec_module(module)
    return module


def truth(gate: Any) -> list[int]:
    return [gate.soft(a, b) for a in (0, 1) for b in (0, 1)]


def row(values: Iterable[str]) -> str:
    return "    {" + ", ".join(values) + "},"


def word_case(gate: Any) -> str:
    expression = "".join(OPERATORS.get(sign, sign) for sign in gate.boolean)
    return f"  if constexpr (gate == {gate.index}) out = {expression};"


def mixture_formula(gates: Any, k: int) -> str:
    """Terms of one gate each, then those that count twice: c3 of XOR and XNOR."""
    terms = {gate.index: gate.coefficients[k] for gate in gates if gate.coefficients[k]}
    ones = " ".join(f"{'+' if c > 0 else '-'} w[{i}]" for i, c in terms.items() if abs(c) == 1).removeprefix("+ ")
    plus, minus = ([i for i, c in terms.items() if c == sign] for sign in (2, -2))
    twos = "".join(f" + 2.0f * (w[{i}] - w[{j}])" for i, j in zip(plus, minus, strict=True))
    return f"  c[{k}] = {ones}{twos};"


def gradient_formula(gates: Any, gate: Any) -> str:
    """Of a gate that is true for (0, 0) by its negation, which comes earlier."""
    c0, *rest = gate.coefficients
    if c0:
        negation = next(other.index for other in gates if truth(other) == [1 - out for out in truth(gate)])
        return f"  g[{gate.index}] = s[0] - g[{negation}];"
    signs = [("+" if c > 0 else "-", k) for k, c in enumerate(rest, 1) for _ in range(abs(c))]
    terms = " ".join(f"{sign} s[{k}]" for sign, k in signs).removeprefix("+ ")
    return f"  g[{gate.index}] = {terms or 'Floats{}'};"


def header(table: ModuleType) -> str:
    gates, terms = table.GATES, len(table.GATES[0].coefficients)
    return HEADER.format(
        gates=len(gates),
        terms=terms,
        coefficients="\n".join(row(map(str, gate.coefficients)) for gate in gates),
        truth="\n".join(row("true" if out else "false" for out in truth(gate)) for gate in gates),
        words="\n".join(word_case(gate) for gate in gates),
        mixture="\n".join(mixture_formula(gates, k) for k in range(terms)),
        gradients="\n".join(gradient_formula(gates, gate) for gate in gates),
    )


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(header(load_table(sys.argv[1])), encoding="utf-8")
