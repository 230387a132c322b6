"""Claims that need no run: the computation gap of gates under an input distribution, and MNIST's pixels."""

from collections.abc import Callable

from hardwire.gates import GATES
from hardwire.study.reporting.table import Table
from hardwire_paper import printed
from hardwire_paper.claims.base import FAILS, HOLDS, UNTESTED, WEAKER, Finding
from hardwire_paper.claims.evidence import Evidence, Judges
from hardwire_paper.judging import AGREE, NOT_COMPARABLE
from hardwire_paper.theory import computation_gap as gap
from hardwire_paper.theory import tables

EXACT = ("exact",)


def _row(
    make: Callable[[Evidence], Table | None], *labels: str, columns: tuple[str, ...] = ()
) -> Callable[[Evidence], Finding]:
    """Holds if every cell of the rows with these labels agrees, in these columns or in all; weaker if some do."""

    def judge(evidence: Evidence) -> Finding:
        table = make(evidence)
        if table is None:
            return Finding(UNTESTED)
        rows = [row for row in table.rows if row[0].text in labels]
        cells = [pair for row in rows for pair in zip(table.columns[1:], row[1:], strict=True) if pair[1].verdict]
        cells = [pair for pair in cells if not columns or pair[0] in columns]
        judged = [(column, cell) for column, cell in cells if cell.verdict != NOT_COMPARABLE]
        if not judged:
            return Finding(UNTESTED)
        right = sum(cell.verdict == AGREE for _, cell in judged)
        verdict = HOLDS if right == len(judged) else WEAKER if right else FAILS
        return Finding(verdict, "; ".join(f"{column}: {cell.text}" for column, cell in judged), EXACT)

    return judge


def _kinds(evidence: Evidence) -> Table:
    return tables.representative_gates(evidence.pixels)


def _gates(evidence: Evidence) -> Finding:
    """The 16 gates of the library against the paper's truth tables, in its order."""
    names = [gate.name for gate in GATES]
    right = len(GATES) == 16 and [gate.index for gate in GATES] == list(range(16)) and len(set(names)) == 16
    soft = all(abs(gate.soft(a, b) - gate.hard(a, b)) == 0 for gate in GATES for a in (0, 1) for b in (0, 1))
    return Finding(HOLDS if right and soft else FAILS, "16 gates, soft and hard equal at all corners", EXACT)


def _about_a_fifth(evidence: Evidence) -> Finding:
    gaps = [100 * float(gap.exact(gate, gap.UNIFORM)) for gate in GATES if gap.category(gate) != "constant"]
    mean = sum(gaps) / len(gaps)
    verdict = HOLDS if all(15 <= value <= 25 for value in gaps) else WEAKER if 15 <= mean <= 25 else FAILS
    return Finding(verdict, f"mean of 14 gates {mean:.1f}, {min(gaps):.1f} to {max(gaps):.1f}", EXACT)


JUDGES: Judges = {
    "table-11": _gates,
    "table-12-binary": _row(_kinds, "Binary {0,1}"),
    "table-12-uniform": _row(_kinds, "Uniform [0,1]", columns=("Unary", "AND/OR")),
    "table-12-uniform-xor": _row(_kinds, "Uniform [0,1]", columns=("XOR",)),
    "about-a-fifth": _about_a_fifth,
    "table-12-mnist": _row(_kinds, "mnist pixels"),
    "table-12-boundary": _row(_kinds, "As a, b approach 0.5"),
    "table-14": _row(lambda evidence: tables.pixel_distribution(evidence.pixels), *printed.PIXELS),
}
