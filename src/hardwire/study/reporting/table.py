"""`Table`: what every table of a report is made of; HTML, Markdown, CSV and the terminal are all written from it.

A cell holds our text and, where it is compared with something, that beside it with a verdict. Surprising: what a
verdict means is not known here; its tone (good, weak, bad, open) only says how it looks.
"""

from dataclasses import dataclass, field

GOOD, WEAK, BAD, OPEN = "good", "weak", "bad", "open"


@dataclass(frozen=True)
class Entry:
    """One cell. beside: what it is compared with; verdict and its tone: how the comparison ends.

    each: the verdicts on its several numbers, where they are not all the same.
    """

    text: str
    beside: str = ""
    verdict: str = ""
    tone: str = OPEN
    each: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Table:
    """slug: its file name. where: what it repeats, a sentence. notes: rules and remarks below it.

    beside: what `Entry.beside` is.
    """

    slug: str
    title: str
    columns: list[str]
    rows: list[list[Entry]]
    where: str = ""
    notes: list[str] = field(default_factory=list)
    beside: str = "reference"

    @property
    def wordy(self) -> bool:
        """Whether cells hold sentences, which have to wrap."""
        return any(len(entry.text) > 32 for row in self.rows for entry in row)

    def flat(self) -> tuple[list[str], list[list[str]]]:
        """Columns and rows for CSV: what stands beside and the verdicts get columns of their own."""
        parts: list[tuple[str, list[str]]] = []
        for place, name in enumerate(self.columns):
            entries = [row[place] for row in self.rows]
            parts.append((name, [entry.text for entry in entries]))
            if any(entry.beside for entry in entries):
                parts.append((f"{name} ({self.beside})", [entry.beside for entry in entries]))
            if any(entry.verdict for entry in entries):
                parts.append((f"{name} (verdict)", [entry.verdict for entry in entries]))
        return [name for name, _ in parts], [list(row) for row in zip(*(cells for _, cells in parts), strict=True)]


def table(
    slug: str,
    title: str,
    columns: list[str],
    rows: "list[list[Entry | str | int]]",
    *,
    where: str = "",
    notes: list[str] | None = None,
    beside: str = "reference",
) -> Table:
    """A Table of rows whose cells may be plain values."""
    cells = [[cell if isinstance(cell, Entry) else Entry(str(cell)) for cell in row] for row in rows]
    return Table(slug, title, columns, cells, where, notes or [], beside)
