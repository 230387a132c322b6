"""`hardwire circuit run`: the accuracy and the speed of a circuit on a test set, or on a table of any length."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from hardwire.cli.circuits import dataset_for, open_circuit
from hardwire.cli.completion import datasets
from hardwire.cli.options import Model, Threads
from hardwire.cli.output import Json, Output
from hardwire.cli.progress import steps
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.circuit import Circuit
    from hardwire.circuit.tables import TableScore

Write = Callable[[Any], object]


def run(
    file: Model,
    data: Annotated[
        str,
        typer.Option(
            help="A dataset by name, an .npz, or a table; its test set is run, and all rows of another table.",
            autocompletion=datasets,
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the classes to this file, one a line.")] = None,
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Measure a circuit on a test set: its accuracy, and images per second.

    A table, .csv or .parquet, may be longer than the memory. A circuit with state reads each row as a sequence, step by
    step, and its answer after the last one counts.

    Example:

    ```
    hardwire circuit run digits.circuit --data digits
    hardwire circuit run loop.circuit --data sequences.npz
    ```
    """
    from hardwire.data.kinds import is_table

    output, circuit = Output(json), open_circuit(file)
    with _answers_file(out) as write:
        # the table that it was trained on is read whole, because its test rows are a random fifth of it
        streamed = is_table(data) and data != circuit.provenance.dataset
        chosen = _run_sequences if circuit.state is not None else _run_table if streamed else _run_test_set
        score = chosen(circuit, data, write, threads)
    rate, what = score.rows / score.seconds, "images" if circuit.state is None else "sequences"
    output.line(f"{score.measure} {score.value:.4f} on {score.rows:,} {what}, {rate / 1e6:.2f} million {what}/s")
    output.document({"file": file, "data": data, **vars(score), "images_per_second": rate})


@contextmanager
def _answers_file(out: Path | None) -> Iterator[Write]:
    """A function that appends answers to a file, which is written whole or not at all."""
    from hardwire.files.whole import open_whole

    if out is None:
        yield lambda answers: None
        return
    with open_whole(out) as file:
        yield lambda answers: file.write("".join(f"{answer}\n" for answer in answers).encode())


def _run_table(circuit: "Circuit", data: str, write: Write, threads: int | None) -> "TableScore":
    from hardwire.circuit.tables import score_table
    from hardwire.data.kinds import split_name

    path, options = split_name(data)
    with steps("running") as step:

        def progress(rows: int, done: float) -> None:
            step(f"{rows:,} rows, {done:.0%}")

        given = {"options": options["options"]} if "options" in options else {}
        return score_table(
            circuit, path, options.get("target"), write=write, threads=threads, progress=progress, **given
        )


def _run_test_set(circuit: "Circuit", data: str, write: Write, threads: int | None) -> "TableScore":
    from hardwire.circuit.evaluate import test_set
    from hardwire.circuit.tables import Tally

    images, labels = test_set(dataset_for(circuit, data))
    circuit.predict(images[:1])  # so that scheduling is not timed
    start = time.perf_counter()
    answers = circuit.predict(images, threads=threads)
    seconds = time.perf_counter() - start
    write(answers)
    tally = Tally(circuit.number is not None)
    tally.add(answers, labels)
    return tally.score(seconds)


def _run_sequences(circuit: "Circuit", data: str, write: Write, threads: int | None) -> "TableScore":
    from hardwire.circuit.evaluate import test_set
    from hardwire.circuit.sequential.state import sequences
    from hardwire.circuit.tables import Tally

    if threads is not None:
        raise HardwireError("a circuit with state runs on one thread; leave out --threads")
    rows, labels = test_set(dataset_for(circuit, data))
    xs = sequences(circuit, rows)
    start = time.perf_counter()
    answers = circuit.run(xs)[:, -1]
    seconds = time.perf_counter() - start
    answers = answers if answers.ndim == 1 else answers @ (1 << np.arange(answers.shape[1]))
    write(answers)
    tally = Tally(False)
    tally.add(answers, labels)
    return tally.score(seconds)
