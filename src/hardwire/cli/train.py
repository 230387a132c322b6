"""`hardwire train`: a dataset in, a model file out.

Surprising: a run always keeps a checkpoint beside its model until it is done, so a run that was killed continues when
the same command is given again. The model's default name carries what tells runs apart, so they do not meet.
"""

import os
from pathlib import Path
from typing import Annotated

import typer
from typer import Option

from hardwire.errors import HardwireError

_NETWORK, _TRAINING, _FILES, _MACHINE = "Network", "Training", "Files", "Machine"


def train(
    dataset: Annotated[str, typer.Argument(help="A dataset by name (see: hardwire data list) or an .npz file.")],
    width: Annotated[
        int | None, Option(min=1, help="Gates in each layer. [default: 2000]", rich_help_panel=_NETWORK)
    ] = None,
    depth: Annotated[int | None, Option(min=1, max=1000, help="Layers. [default: 2]", rich_help_panel=_NETWORK)] = None,
    widths: Annotated[
        str | None, Option(help="Instead: gates of each layer, such as 4000,2000.", rich_help_panel=_NETWORK)
    ] = None,
    method: Annotated[
        str, Option(help="soft-mix, soft-gumbel, hard-st or gumbel-st.", rich_help_panel=_NETWORK)
    ] = "hard-st",
    tau: Annotated[
        float | None,
        Option(help="A constant temperature; the paper uses 0.05 to 2. [default: 1]", rich_help_panel=_NETWORK),
    ] = None,
    cage: Annotated[
        bool | None,
        Option(
            "--cage/--no-cage",
            help="Set the backward temperature by confidence. [default: yes for hard-st and gumbel-st without --tau]",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    iterations: Annotated[int, Option(min=1, help="Training steps.", rich_help_panel=_TRAINING)] = 2000,
    batch_size: Annotated[int, Option(min=1, help="Rows in each step.", rich_help_panel=_TRAINING)] = 128,
    lr: Annotated[float, Option(help="Adam's learning rate.", rich_help_panel=_TRAINING)] = 0.01,
    evaluate_every: Annotated[int, Option(min=1, help="Steps between evaluations.", rich_help_panel=_TRAINING)] = 200,
    seed: Annotated[
        int, Option(min=0, help="Of wiring, initial logits, noise and batch order.", rich_help_panel=_TRAINING)
    ] = 0,
    out: Annotated[
        Path | None, Option(help="The model file. [default: a name made of the settings]", rich_help_panel=_FILES)
    ] = None,
    checkpoint: Annotated[
        Path | None,
        Option(help="Keep the checkpoint here. [default: beside the model until done]", rich_help_panel=_FILES),
    ] = None,
    resume: Annotated[
        bool, Option(help="Continue from the checkpoint if there is one.", rich_help_panel=_FILES)
    ] = True,
    history: Annotated[
        Path | None, Option(help="Write every evaluation to this .json file.", rich_help_panel=_FILES)
    ] = None,
    tensorboard: Annotated[
        Path | None, Option(help="Log to this folder for TensorBoard.", rich_help_panel=_FILES)
    ] = None,
    engine: Annotated[str, Option(help="auto, or an engine by name.", rich_help_panel=_MACHINE)] = "auto",
    threads: Annotated[
        int | None, Option(min=1, help="Threads. [default: one for each core]", rich_help_panel=_MACHINE)
    ] = None,
):
    """Train a network of logic gates and save it as a model.

    Start with `hardwire train digits`: half a minute, no download. A run that is interrupted continues when the same
    command is given again. Afterwards, `hardwire gap MODEL` says how well the circuit keeps what training promised.
    """
    import hardwire as hw
    from hardwire.cli import report
    from hardwire.files import write_whole

    cage = _choose_cage(method, tau, cage)
    report.set_threads(threads)
    hw.engine.check_engine(engine)
    data = hw.data.load(dataset)
    sizes = _widths(width, depth, widths, data.classes)
    _check_memory(sizes, batch_size, data.inputs)
    net = hw.LogicNetwork(
        data.inputs,
        data.classes,
        widths=sizes,
        method=method,
        tau=1.0 if tau is None else tau,
        cage=cage,
        seed=seed,
        encoder=data.encoder,
        engine=engine,
    )
    out = out or Path(_default_name(dataset, net, cage))
    kept = checkpoint or Path(f"{out}.checkpoint")
    _check_distinct(Path(dataset), out, kept, history)
    for path in (out, kept, history):
        _make_room(path)
    callbacks = [hw.TensorBoard(tensorboard)] if tensorboard else []

    console = report.console()
    console.print(report.settings(data, net, iterations, batch_size, lr, seed, {"model": out, "checkpoint": kept}))
    try:
        told = hw.fit(
            net, data, iterations, batch_size, lr, evaluate_every, seed=seed, checkpoint=kept, resume=resume,
            callbacks=callbacks,
        )  # fmt: skip
    except KeyboardInterrupt:
        where = f"the checkpoint is {kept}; the same command continues" if kept.exists() else "there is no checkpoint"
        typer.echo(f"interrupted: {where}", err=True)
        raise typer.Exit(130) from None
    hw.save(net, out, dataset=dataset)
    if history:
        write_whole(history, told.to_json().encode())
    if checkpoint is None:
        kept.unlink(missing_ok=True)
    console.print(report.accuracies(told.final), report.layers(net))
    console.print(f"saved [bold]{out}[/]; next: [bold]{report.program()} gap {out}[/]", soft_wrap=True)


def _choose_cage(method: str, tau: float | None, cage: bool | None) -> bool:
    """CAGE where it can be had and no constant temperature was asked for."""
    from hardwire.selection import get_method

    if cage and tau is not None:
        raise HardwireError("CAGE sets the temperature itself; give either --cage or --tau, not both")
    return get_method(method).hard and tau is None if cage is None else cage


def _widths(width: int | None, depth: int | None, widths: str | None, classes: int) -> list[int]:
    """The gates of each layer; by default 2 layers of 2000, or of the next number that splits into the classes."""
    if widths is None:
        width = -(-2000 // classes) * classes if width is None else width
        return [width] * (2 if depth is None else depth)
    if width is not None or depth is not None:
        raise HardwireError("give either --width and --depth, or --widths, not both")
    try:
        return [int(number) for number in widths.split(",")]
    except ValueError:
        raise HardwireError(f"--widths {widths!r} is not a list of whole numbers such as 4000,2000") from None


def _check_memory(widths: list[int], batch_size: int, inputs: int) -> None:
    """Refuses what the machine cannot hold: asking for it would take the whole machine down, not only this program."""
    if not hasattr(os, "sysconf"):  # Windows does not tell
        return
    logits = 16 * 4 * 4  # bytes a gate: 16 logits, their gradient and Adam's two averages
    needed = sum(widths) * logits + batch_size * (inputs + max(widths)) // 8
    there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise HardwireError(
            f"{sum(widths):,} gates at batch size {batch_size:,} need about {needed / 1e9:,.0f} GB of memory and this "
            f"machine has {there / 1e9:,.0f}; use a smaller --width, --depth or --batch-size"
        )


def _default_name(dataset: str, net, cage: bool) -> str:
    flat = len(set(net.widths)) == 1
    shape = f"{net.widths[0]}x{len(net.widths)}" if flat else "-".join(str(width) for width in net.widths)
    temperature = "cage" if cage else f"tau{net.tau:g}"
    return f"{Path(dataset).stem}-{net.method}-{temperature}-{shape}-seed{net.seed}.safetensors"


def _check_distinct(*paths: Path | None) -> None:
    """The data, the model, the checkpoint and the history must not overwrite each other."""
    places = [path.absolute() for path in paths if path is not None]
    for place in places:
        if places.count(place) > 1:
            raise HardwireError(f"{place} is named twice; data, model, checkpoint and history need a file each")


def _make_room(path: Path | None) -> None:
    """The folder of a file that will be written, made now: a wrong path should not cost a training run."""
    if path is None:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise HardwireError(f"cannot write {path}: {path.parent} is not a folder") from None
    if path.is_dir():
        raise HardwireError(f"cannot write {path}: it is a folder; name a file in it")
