"""`Table`: what every table of a report is made of; HTML, Markdown, CSV and the terminal are all written from it.

A cell holds our text and, if it is compared with something, a reference and a verdict. Surprising: what a verdict
means is not known here; its tone (good, weak, bad, open) only says how it looks.
"""

from dataclasses import dataclass, field

GOOD, WEAK, BAD, OPEN = "good", "weak", "bad", "open"


@dataclass(frozen=True)
class TableCell:
    """One cell of a table.

    Attributes:
        text: Ours.
        reference: What it is compared with.
        verdict: How the comparison ends.
        tone: How the verdict looks.
        details: The verdicts on its numbers one by one, if they are not all the same.
    """

    text: str
    reference: str = ""
    verdict: str = ""
    tone: str = OPEN
    details: str = ""

    def __str__(self) -> str:
        return self.text


Cells = list[TableCell | str | int]  # a row, whose cells may be plain values


@dataclass(frozen=True)
class Table:
    """A table of a report.

    Attributes:
        slug: Its file name.
        title: Its title.
        columns: The headings.
        rows: The cells.
        where: What it repeats, in a sentence.
        notes: Rules and remarks below it.
        reference: What `TableCell.reference` is, such as "paper".
        ids: A name for each row, if rows have one.
        folded: Whether a page shows it only on request.
    """

    slug: str
    title: str
    columns: list[str]
    rows: list[list[TableCell]]
    where: str = ""
    notes: list[str] = field(default_factory=list)
    reference: str = "reference"
    ids: list[str] = field(default_factory=list)
    folded: bool = False

    @property
    def wordy(self) -> bool:
        """Whether cells hold sentences, which have to wrap."""
        return any(len(cell.text) > 32 for row in self.rows for cell in row)

    def flat(self) -> tuple[list[str], list[list[str]]]:
        """Returns columns and rows for CSV; ids, references and verdicts get columns of their own."""
        parts: list[tuple[str, list[str]]] = [("id", self.ids)] if self.ids else []
        for place, name in enumerate(self.columns):
            cells = [row[place] for row in self.rows]
            parts.append((name, [cell.text for cell in cells]))
            if any(cell.reference for cell in cells):
                parts.append((f"{name} ({self.reference})", [cell.reference for cell in cells]))
            if any(cell.verdict for cell in cells):
                parts.append((f"{name} (verdict)", [cell.verdict for cell in cells]))
        return [name for name, _ in parts], [list(row) for row in zip(*(cells for _, cells in parts), strict=True)]


def table(
    slug: str,
    title: str,
    columns: list[str],
    rows: list[Cells],
    *,
    where: str = "",
    notes: list[str] | None = None,
    reference: str = "reference",
    ids: list[str] | None = None,
    folded: bool = False,
) -> Table:
    """Returns a Table from rows whose cells may be plain values; see `Table` for the arguments."""
    cells = [[cell if isinstance(cell, TableCell) else TableCell(str(cell)) for cell in row] for row in rows]
    return Table(slug, title, columns, cells, where, notes or [], reference, ids or [], folded)
