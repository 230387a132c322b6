"""`hardwire predict`: what a model or a circuit says of new rows, in the words of the table it was made of.

Surprising: a circuit file is enough, and torch need not be installed.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from hardwire.cli.options import Threads
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit import Circuit

ANSWER = "prediction"


def predict(
    model: Annotated[Path, typer.Argument(help="A model file or a circuit file.")],
    rows: Annotated[Path, typer.Argument(help="A .csv or .parquet file; it needs no column of answers.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="A .csv or .parquet file to write. [default: the screen, as CSV]")
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Add the sum of each class, a column each.")] = False,
    threads: Threads = None,
) -> None:
    """Predict each row of a table: all its columns, and one more named prediction.

    Columns are found by their names, whatever their order; those that the model does not know stay as they are. A model
    that was not made of a table reads all columns in order.
    """
    from hardwire.circuit import Circuit
    from hardwire.data.frames import read_frame

    circuit = Circuit.load(model)
    writer = _writer(out)
    frame = read_frame(_there(rows))
    sums = circuit.scores(_numbers(circuit, rows, frame), raw=circuit.encoder is not None, threads=threads)
    for name, values in _answers(circuit, sums, scores).items():
        if name in frame.columns:
            raise HardwireError(f"{rows} has a column {name!r} already; rename it")
        frame[name] = values
    writer(frame)
    if out is not None:
        typer.echo(f"wrote {out}: {len(frame):,} rows")


def _there(path: Path) -> Path:
    from hardwire.data.kinds import TABLES, check_there
    from hardwire.errors import unknown_name

    if path.suffix.lower() not in TABLES:
        raise unknown_name("kind of table", path.suffix, TABLES)
    return check_there(path)


def _numbers(circuit: "Circuit", path: Path, frame: Any) -> Any:
    """The raw values that the circuit reads, [rows, values]."""
    from hardwire.bits import Columns
    from hardwire.data.frames import finite

    columns = circuit.columns
    if columns is None:
        wanted = circuit.inputs if circuit.encoder is None else circuit.encoder.raw_features
        if len(frame.columns) != wanted:
            raise HardwireError(
                f"{path} has {len(frame.columns)} columns, and {wanted} values are read; give just those, in order"
            )
        columns = Columns(tuple(frame.columns))
    try:
        return finite(columns, frame)
    except HardwireError as error:
        raise HardwireError(f"{path}: {error}") from None


def _answers(circuit: "Circuit", sums: Any, scores: bool) -> dict[str, Any]:
    """The columns to add."""
    said = circuit.answers(sums)
    if circuit.number is not None:
        return {ANSWER: said * circuit.number.step}
    named = circuit.columns.labels if circuit.columns is not None else None
    labels = list(named or range(circuit.classes))
    added: dict[str, Any] = {ANSWER: [labels[number] for number in said.tolist()]}
    return added | ({f"score {label}": sums[:, place] for place, label in enumerate(labels)} if scores else {})


def _writer(out: Path | None) -> Any:
    """What writes the table; a file of another kind is refused before the work."""
    from hardwire.errors import unknown_name
    from hardwire.files import write_whole

    if out is None:
        return lambda frame: typer.echo(frame.to_csv(index=False), nl=False)
    kinds = {
        ".csv": lambda frame: frame.to_csv(index=False).encode(),
        ".parquet": lambda frame: frame.to_parquet(index=False),
    }
    if out.suffix.lower() not in kinds:
        raise unknown_name("kind of table", out.suffix, kinds)
    return lambda frame: write_whole(out, kinds[out.suffix.lower()](frame))
