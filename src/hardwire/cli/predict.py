"""`hardwire predict`: predicts the rows of a table, in the words of the table that the model was trained on.

Surprising: a circuit file is enough, and torch need not be installed. Tables of any length fit in memory.
"""

from pathlib import Path
from typing import Annotated

import typer

from hardwire.cli.completion import tables
from hardwire.cli.options import Decimal, Missing, Model, Na, Quote, Separator, Threads, Unknown, table_options


def predict(
    model: Model,
    rows: Annotated[
        Path,
        typer.Argument(help="A .csv or .parquet file; it needs no column with the answers.", autocompletion=tables),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="The .csv or .parquet file to write. [default: standard output, as CSV]"),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Add the sum of each class, one column per class.")] = False,
    decimal: Decimal = None,
    separator: Separator = None,
    na: Na = None,
    quote: Quote = None,
    missing: Missing = None,
    unknown: Unknown = None,
    threads: Threads = None,
) -> None:
    """Predict each row of a table: all its columns, and one more named "prediction".

    Columns are matched by name, whatever their order; other columns are copied. A model that was not trained on a
    table reads all columns in order. The table may be longer than the memory. A model remembers how its own table was
    written and what missing values mean; options say where this one differs.

    Example:

    ```
    hardwire predict flowers.circuit rows.csv -o predictions.csv
    ```
    """
    from hardwire.circuit.tables import predict_table
    from hardwire.cli.circuits import open_circuit
    from hardwire.cli.progress import steps
    from hardwire.data.streams import check_suffix
    from hardwire.data.table_options import TableOptions

    for path in (rows, out):
        if path is not None:
            check_suffix(path)  # before anything is loaded
    options = TableOptions(**table_options(decimal, separator, na, quote, missing=missing, unknown=unknown))
    circuit = open_circuit(model)
    with steps("predicting") as step:
        count = predict_table(
            circuit,
            rows,
            out,
            scores=scores,
            options=options,
            threads=threads,
            progress=lambda done, share: step(f"{done:,} rows, {share:.0%}"),
        )
    if out is not None:
        typer.echo(f"wrote {out}: {count:,} rows")
