"""Arguments and options that several commands share, so that each has one name and one meaning."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from hardwire.cli import completion

TRAINED_ON = "[default: the one the model was trained on, if known]"

Model = Annotated[
    Path,
    Argument(
        help="A model file, a circuit file, or a circuit by name (see: hardwire circuit list).",
        autocompletion=completion.models,
    ),
]
Threads = Annotated[int | None, Option("--threads", min=1, help="Number of threads. [default: one per core]")]
Data = Annotated[
    str | None,
    Option(
        "--data",
        help="A dataset by name, or a file. [default: the one the model was trained on]",
        autocompletion=completion.datasets,
    ),
]
TestData = Annotated[
    str | None,
    Option("--data", help=f"A dataset by name, or a file. {TRAINED_ON}", autocompletion=completion.datasets),
]
