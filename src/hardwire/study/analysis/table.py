"""`Table`: what every table of a report is made of, and the rule by which a figure agrees with the paper's.

A cell holds our text and, where the paper has one, the paper's beside it; HTML, Markdown and CSV are all written from
this. Surprising: the rule looks at how the paper prints a number. 16.7 claims a tenth of a percent, ~2 claims less.
"""

import re
from dataclasses import dataclass, field

AGREE, DIFFER, NOT_COMPARABLE = "agree", "differ", "not comparable"
PRINTED_RULE = (
    "agree: our figure is within half a unit of the last digit that the paper prints (one unit where the paper "
    "writes ~); differ: it is not"
)
SCALE_RULE = (
    "verdicts on runs are given only where width, iterations, batch size and learning rate are the paper's; there, "
    "agree means within 1 point or two standard errors of our seeds, whichever is larger; elsewhere: not comparable"
)


@dataclass(frozen=True)
class Entry:
    """One cell of a table."""

    text: str
    paper: str = ""
    verdict: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Table:
    """slug: its file name. where: the table of the paper that it repeats. notes: rules and remarks below it.

    ours, theirs: the scale of our runs and of the paper's.
    """

    slug: str
    title: str
    columns: list[str]
    rows: list[list[Entry]]
    where: str = ""
    ours: str = ""
    theirs: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def has_paper(self) -> list[bool]:
        """For each column whether any cell has a figure of the paper's."""
        return [any(row[place].paper for row in self.rows) for place in range(len(self.columns))]

    @property
    def wordy(self) -> bool:
        """Whether cells hold sentences, which have to wrap."""
        return any(len(entry.text) > 32 for row in self.rows for entry in row)

    def flat(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows for CSV: the paper's figures and the verdicts get columns of their own."""
        judged = [any(row[place].verdict for row in self.rows) for place in range(len(self.columns))]
        columns = []
        for name, paper, verdict in zip(self.columns, self.has_paper, judged, strict=True):
            columns += [name, *([f"{name} (paper)"] if paper else []), *([f"{name} (verdict)"] if verdict else [])]
        rows = []
        for row in self.rows:
            cells = []
            for entry, paper, verdict in zip(row, self.has_paper, judged, strict=True):
                cells += [entry.text, *([entry.paper] if paper else []), *([entry.verdict] if verdict else [])]
            rows.append(cells)
        return columns, rows


def entry(text, paper: str = "", verdict: str = "") -> Entry:
    return text if isinstance(text, Entry) else Entry(str(text), paper, verdict)


def table(slug: str, title: str, columns: list[str], rows, **rest) -> Table:
    """A Table of rows whose cells may be plain values."""
    return Table(slug, title, list(columns), [[entry(cell) for cell in row] for row in rows], **rest)


def printed(text: str) -> tuple[float, float] | None:
    """A number as the paper prints it: its value, and how far an agreeing figure may be off."""
    match = re.match(r"(~?)([+-]?\d*\.?\d+)", text.replace(",", "").replace("−", "-"))
    if match is None:
        return None
    about, digits = match.groups()
    unit = 10.0 ** -len(digits.partition(".")[2])
    return float(digits), unit if about else unit / 2


def judge_printed(ours: float, theirs: str) -> str:
    """agree or differ, by PRINTED_RULE."""
    value, slack = printed(theirs)
    return AGREE if abs(ours - value) <= slack * (1 + 1e-9) else DIFFER


def judge_runs(ours: float, error: float, theirs: str, comparable: bool) -> str:
    """agree, differ or not comparable, by SCALE_RULE; in points."""
    stated = printed(theirs)
    if stated is None:
        return ""
    if not comparable:
        return NOT_COMPARABLE
    value, slack = stated
    return AGREE if abs(ours - value) <= max(1.0, 2 * error, slack) else DIFFER
