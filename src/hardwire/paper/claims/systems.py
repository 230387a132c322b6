"""Claims of the table of domains, which the paper leaves to be tested: does the row have the gap that it says?"""

from collections.abc import Callable

from hardwire.paper.claims.base import FAILS, HOLDS, UNTESTED, WEAKER, Finding
from hardwire.paper.claims.evidence import Evidence, Judges
from hardwire.paper.systems.catalog import CLAIMED, DEPLOYED_AS_CLAIMED


def _rows(name: str, runs: tuple[str, ...]) -> Callable[[Evidence], Finding]:
    """Holds if all of our rows that stand for it do, weaker if some do, or if some were not run."""
    only = DEPLOYED_AS_CLAIMED.get(name)

    def judge(evidence: Evidence) -> Finding:
        found = [v for v in evidence.systems if v.row.run in runs and only in (None, v.row.deployed)]
        found = [verdict for verdict in found if verdict.learned]
        if not found or any(len(verdict.gaps) < 2 for verdict in found):
            return Finding(UNTESTED)
        right = sum(verdict.holds for verdict in found)
        whole = {verdict.row.run for verdict in found} == set(runs)
        verdict = HOLDS if right == len(found) and whole else WEAKER if right else FAILS
        unit = {True: "points", False: "% of the loss"}
        listed = [
            f"{v.row.title}: {', '.join(f'{g:+.1f}' for g in v.gaps)} {unit[v.metric == 'accuracy']}" for v in found
        ]
        return Finding(verdict, "; ".join(listed), f"n={len(found[0].gaps)}")

    return judge


JUDGES: Judges = {f"systems-{name}": _rows(name, runs) for name, runs in CLAIMED.items()}
