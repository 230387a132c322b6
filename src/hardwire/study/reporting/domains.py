"""The section of a report on choices beyond gates, from a folder of results that `hardwire domains run` made."""

from hardwire.study.analysis.table import table
from hardwire.study.figures.style import Figure
from hardwire.study.reporting.content import Section
from hardwire.systems import report as domains
from hardwire.systems.experiments import read_results

_WHERE = "the paper's table of domains, which it leaves to be tested"
_SCALE = "architecture search on digits, experts and codebooks on MNIST"


def domains_section(folder) -> Section:
    """Gap by system and method, whether the row of the paper's table holds, and dead experts and codes beside it."""
    verdicts = domains.judge(read_results(folder))
    rows = [domains.cells(verdict) for verdict in verdicts]
    scale = {"ours": _SCALE, "theirs": "no runs"}
    found = table(
        "domains", "Selection beyond gates", domains.HEADERS, rows, where=_WHERE, notes=[domains.RULE], **scale
    )
    picture = Figure(
        "domains-gaps",
        "Gap by system and method",
        "Every seed's gap as a dot, the largest in training as a stroke, coloured by what was expected.",
        _WHERE,
        domains.draw(verdicts, "svg").decode(),
        domains.draw(verdicts, "png"),
        table("domains-gaps-data", "Gap by system and method: data", ["Row", "Seed", "Gap"], _points(verdicts)),
        **scale,
    )
    return Section("beyond-gates", "Selection beyond gates", [found], [picture])


def _points(verdicts) -> list[list]:
    return [[verdict.row.title, seed, f"{gap:.4f}"] for verdict in verdicts for seed, gap in enumerate(verdict.gaps)]
