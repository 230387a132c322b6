"""Claims about a node or a sum of nodes, judged by an exact case that a statement excludes or promises; see
`theory.statements`.
"""

from hardwire_paper import printed
from hardwire_paper.claims.base import FAILS, HOLDS, Finding
from hardwire_paper.claims.evidence import Evidence, Judges
from hardwire_paper.names import tau_name
from hardwire_paper.theory import statements

_ROUNDING = 1e-12  # of float64
_SINGLE = 1e-5  # of float32 sums of a few dozen nodes


def _mixtures_differ(evidence: Evidence) -> Finding:
    """Soft-Mix on bits, where every weight counts, and a node whose gates differ and whose gap is 0."""
    z, values = statements.balanced_node()
    gaps = [abs(statements.mixture_gap(z, tau, values).item()) for tau in printed.TAUS]
    excluded = max(gaps) < _ROUNDING
    on_bits = statements.smallest_gap_on_bits(1.0)
    figure = (
        f"z_A = 1, all others 0, a = b = 0.5: gates differ by up to 1, gap below {_ROUNDING:g} at every τ; on bits at "
        f"{tau_name(1.0)} never below {on_bits:.2g}"
    )
    return Finding(FAILS if excluded else HOLDS, figure, (f"{statements.NODES:,} nodes of K=16",))


def _tight(evidence: Evidence) -> Finding:
    shares = {share: statements.tightness(share) for share in (0.6, 0.9, 0.99)}
    right = all(abs(ratio - 1) < _ROUNDING for ratio in shares.values())
    listed = ", ".join(f"{ratio:.3f} at w = {share:g}" for share, ratio in shares.items())
    return Finding(HOLDS if right else FAILS, f"gap over bound: {listed}", ("a single node of K=16",))


def _hard_outputs(evidence: Evidence) -> Finding:
    """Training takes soft gates, by the paper's own definition of A^M; so a picked gate gives what its inputs allow."""
    between = {
        place: [name for name, value in statements.outputs_of_picked_gates(place, place).items() if 0 < value < 1]
        for place in (0.0, 1.0, 0.5)
    }
    figure = f"{len(between[0.0]) + len(between[1.0])} of 16 gates between 0 and 1 on bits, {len(between[0.5])} at 0.5"
    return Finding(FAILS if any(between.values()) else HOLDS, figure, ("exact",))


def _logits_add_up(evidence: Evidence) -> Finding:
    error = statements.logit_sum_error()
    # rounding depends on the engine, so the page says no more than that it is rounding
    figure = f"no difference above {_SINGLE:.0e}" if error < _SINGLE else f"largest difference {error:.1e}"
    return Finding(HOLDS if error < _SINGLE else FAILS, figure, ("40 + 40 nodes, 4 classes",))


JUDGES: Judges = {
    "mixtures-differ": _mixtures_differ,
    "bound-tight": _tight,
    "hard-outputs": _hard_outputs,
    "logits-add-up": _logits_add_up,
}
