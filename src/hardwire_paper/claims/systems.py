"""Claims of the table of domains, which the paper leaves to be tested: does the row have the gap that it says?"""

from collections.abc import Callable

from hardwire_paper.claims.base import FAILS, HOLDS, UNTESTED, WEAKER, Finding
from hardwire_paper.claims.evidence import SYSTEMS_GROUP, Evidence, Judges
from hardwire_paper.systems.catalog import CLAIMED, DEPLOYED_AS_CLAIMED


def _rows(name: str, runs: tuple[str, ...]) -> Callable[[Evidence], Finding]:
    """Holds if all of our rows for it do, weaker if some do, or if some were not run."""
    only = DEPLOYED_AS_CLAIMED.get(name)

    def judge(evidence: Evidence) -> Finding:
        own = [verdict for verdict in evidence.systems if verdict.row.run in runs and verdict.judged]
        rows = [verdict for verdict in own if only in (None, verdict.row.deployed)]
        if not rows or any(len(verdict.gaps) < 2 for verdict in rows):
            return Finding(UNTESTED)
        right = sum(verdict.holds for verdict in rows)
        whole = {verdict.row.run for verdict in rows} == set(runs)
        verdict = HOLDS if right == len(rows) and whole else WEAKER if right else FAILS
        unit = {True: "points", False: "% of the loss"}
        listed = [
            f"{row.row.title}: {', '.join(f'{gap:+.1f}' for gap in row.gaps)} {unit[row.metric == 'accuracy']}"
            for row in rows
        ]
        return Finding(verdict, "; ".join(listed), (f"n={len(rows[0].gaps)}",), frozenset([SYSTEMS_GROUP]))

    return judge


JUDGES: Judges = {f"systems-{name}": _rows(name, runs) for name, runs in CLAIMED.items()}
