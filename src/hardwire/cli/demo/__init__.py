"""`hardwire demo`: the paper's six methods at a low and a high temperature, in about a minute.

Here is the command; `trials` trains, `display` shows, `findings` says what was seen, `figure` draws it and `deploy`
turns the winner into a circuit and C. Surprising: the closing lines are computed from the numbers of this very run, so
they say so when one of the paper's claims did not come out.
"""

from pathlib import Path
from typing import Annotated

from typer import Option

_FILES = {
    "figure": "demo.png",
    "numbers": "histories.json",
    "model": "winner.safetensors",
    "circuit": "winner.circuit",
    "C code": "winner.c",
}


def demo(
    out: Annotated[Path, Option(help="The folder for the figure, the winner and the numbers.")] = Path("hardwire-demo"),
    seed: Annotated[int, Option(min=0, help="Another seed: other wiring, logits, noise and batches.")] = 0,
    iterations: Annotated[int, Option(min=1, help="Training steps of each run; fewer show less.")] = 1500,
    processes: Annotated[
        int | None, Option(min=1, help="Runs at a time, one thread each. [default: one for each core]")
    ] = None,
):
    """See the idea at work: twelve small trainings on handwritten digits, a table, a figure, a model.

    Six methods learn which gate each neuron should be. The soft ones train a mixture of gates, the hard ones the
    circuit itself; the selection gap is what a method loses when its network becomes the circuit. Needs no download.
    """
    from hardwire.cli import report
    from hardwire.cli.demo import deploy, display, figure, findings, trials
    from hardwire.files import write_whole

    console = report.console()
    out.mkdir(parents=True, exist_ok=True)
    files = {name: out / file for name, file in _FILES.items()}
    settings = trials.Settings(seed=seed, iterations=iterations)
    display.introduce(console, settings)
    with display.Watch(console, settings) as watch:
        results = trials.train_all(settings, processes, watch)
    figure.draw(results, files["figure"])
    write_whole(files["model"], findings.winner(results).model)
    trials.save_numbers(results, files["numbers"])
    circuit = deploy.deploy(files["model"], files["circuit"], files["C code"])
    display.conclude(console, results, circuit, files)
