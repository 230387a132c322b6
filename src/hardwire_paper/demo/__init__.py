"""`hardwire demo`: the paper's six methods at a low and a high temperature, in about a minute.

It is a study, the preset `demo`, with a display of its own: `display` shows it, `findings` says what was seen, `figure`
draws it and `deploy` turns the winner into a circuit and C. Surprising: the closing lines are computed from the numbers
of this very run, so they say so when one of the paper's claims did not come out.
"""

from pathlib import Path
from typing import Annotated

from typer import Option

_FILES = {
    "figure": "demo.png",
    "numbers": "demo.sqlite",
    "model": "winner.safetensors",
    "circuit": "winner.circuit",
    "C code": "winner.c",
}


def demo(
    out: Annotated[Path, Option("-o", "--out", help="The folder for the figure, the winner and the numbers.")] = Path(
        "hardwire-demo"
    ),
    seed: Annotated[int, Option(min=0, help="Another seed: other wiring, logits, noise and batches.")] = 0,
    iterations: Annotated[int, Option(min=1, help="Training steps of each run; fewer show less.")] = 1500,
    workers: Annotated[
        int | None, Option(min=1, help="Runs at a time, one thread each. [default: one for each core]")
    ] = None,
) -> None:
    """See the idea at work: twelve small trainings on handwritten digits, a table, a figure, a model.

    Six methods learn which gate each neuron should be. The soft ones train a mixture of gates, the hard ones the
    circuit itself; the selection gap is what a method loses when its network becomes the circuit. Needs no download.
    """
    import shutil

    from hardwire import study
    from hardwire.console import make_console
    from hardwire.files import write_whole
    from hardwire_paper.demo import deploy, display, figure, findings

    console = make_console()
    out.mkdir(parents=True, exist_ok=True)
    files = {name: out / file for name, file in _FILES.items()}
    description = display.describe(seed, iterations)
    display.introduce(console, description)
    with display.Watch(console, description, files["numbers"]) as watch:
        study.run(description, files["numbers"], workers=workers, watcher=watch)
    runs = findings.read(files["numbers"], description)
    write_whole(files["figure"], figure.draw(runs))
    winner = findings.winner(runs)
    shutil.copyfile(winner.model, files["model"])
    circuit = deploy.deploy(files["model"], files["circuit"], files["C code"])
    display.conclude(console, runs, circuit, files)
