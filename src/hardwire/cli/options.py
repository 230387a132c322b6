"""Options that several commands share, so that they have one name and one meaning everywhere."""

from typing import Annotated

from typer import Option

TRAINED_ON = "[default: of what the model was trained on, if known]"

Threads = Annotated[int | None, Option("--threads", min=1, help="Threads. [default: one for each core]")]
Data = Annotated[
    str | None, Option("--data", help="A dataset by name or file. [default: the one the model was trained on]")
]
