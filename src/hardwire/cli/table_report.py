"""What `hardwire train` prints of a table: the score with its spread, mistakes, the columns that the circuit reads."""

from typing import TYPE_CHECKING, Any

from rich.table import Table

if TYPE_CHECKING:
    from hardwire.circuit.table_report import TableReport

MOST_CLASSES = 10  # of a confusion matrix; of more classes the most frequent mistakes are listed
MOST_MISTAKES, MOST_COLUMNS, BAR = 5, 12, 30


def tables_of(report: "TableReport") -> list[Any]:
    """The parts of a report, to print one after the other."""
    return [_score(report), _residuals(report) if report.confusion is None else _confusion(report), _importance(report)]


def _score(report: "TableReport") -> str:
    number = report.measure == "R^2"
    score, spread = (report.score, report.spread) if number else (100 * report.score, 100 * report.spread)
    text = f"[bold]{report.measure} {score:.{3 if number else 1}f}{'' if number else '%'}[/] ± "
    text += f"{spread:.{3 if number else 1}f} on {report.rows:,} held-out rows"
    if report.log_loss is not None:
        text += f", log loss {report.log_loss:.3f}"
    if report.absolute_error is not None:
        text += f", mean absolute error {report.absolute_error:.4g}"
    read, bits = report.read
    return f"{text}; the circuit has {report.gates:,} gates and reads {read:,} of {bits:,} thresholds"


def _confusion(report: "TableReport") -> Table:
    confusion = report.confusion
    assert confusion is not None
    labels = [str(label)[:20] for label in report.labels]
    if len(labels) <= MOST_CLASSES:
        table = Table("true / predicted", *labels, title="Held-out rows by class", title_justify="left")
        for label, row in zip(labels, confusion.tolist(), strict=True):
            table.add_row(label, *(f"{count:,}" if count else "" for count in row))
        return table
    table = Table("true", "predicted", "rows", title="Most frequent mistakes", title_justify="left")
    mistakes = confusion.copy()
    mistakes[range(len(labels)), range(len(labels))] = 0
    for place in mistakes.ravel().argsort()[::-1][:MOST_MISTAKES].tolist():
        true, predicted = divmod(place, len(labels))
        if mistakes[true, predicted]:
            table.add_row(labels[true], labels[predicted], f"{mistakes[true, predicted]:,}")
    return table


def _residuals(report: "TableReport") -> Table:
    table = Table("share of rows", *(f"{share:.0%}" for share in report.residuals), title_justify="left")
    table.title = "Truth minus prediction"
    table.add_row("at most", *(f"{value:+.4g}" for value in report.residuals.values()))
    return table


def _importance(report: "TableReport") -> Table:
    table = Table("column", "read by", "", title="Columns by the gate inputs that read them", title_justify="left")
    most = max(report.importance.values(), default=0) or 1
    for name, count in list(report.importance.items())[:MOST_COLUMNS]:
        table.add_row(name[:40], f"{count:,}", "█" * round(BAR * count / most))
    rest = list(report.importance.values())[MOST_COLUMNS:]
    if rest:
        table.add_row(f"and {len(rest)} more", f"{sum(rest):,}", "")
    return table
