"""`hardwire train`: a dataset in, a model file out.

Surprising: a run always keeps a checkpoint beside its model until it is done, so a run that was killed continues when
the same command is given again; given once more, it says that the run is finished.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from hardwire.cli.options import Threads
from hardwire.errors import HardwireError

if TYPE_CHECKING:
    from hardwire.training.settings import Job

_TABLE, _NETWORK, _TRAINING, _CHOOSING, _FILES = (
    "Tables", "Network", "Training", "Choosing, on validation rows", "Files"
)  # fmt: skip


def train(
    dataset: Annotated[
        str, typer.Argument(help="A dataset by name (see: hardwire data list), an .npz, .csv or .parquet file.")
    ],
    target: Annotated[
        str | None, Option(help="The column of a table to predict: classes, or a number.", rich_help_panel=_TABLE)
    ] = None,
    bits: Annotated[
        int | None, Option(min=1, help="Thresholds of each column of a table. [default: 16]", rich_help_panel=_TABLE)
    ] = None,
    width: Annotated[
        int | None, Option(min=1, help="Gates in each layer. [default: 2000; tables: 4000]", rich_help_panel=_NETWORK)
    ] = None,
    depth: Annotated[int | None, Option(min=1, max=1000, help="Layers. [default: 2]", rich_help_panel=_NETWORK)] = None,
    widths: Annotated[
        str | None, Option(help="Instead: gates of each layer, such as 4000,2000.", rich_help_panel=_NETWORK)
    ] = None,
    method: Annotated[
        str | None,
        Option(
            help="soft-mix, soft-gumbel, hard-st, gumbel-st; +cage behind the hard two. [default: hard-st; tables: "
            "hard-st+cage]",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    tau: Annotated[
        float | None,
        Option(help="A constant temperature; the paper uses 0.05 to 2. [default: 1]", rich_help_panel=_NETWORK),
    ] = None,
    cage: Annotated[
        bool | None,
        Option(
            "--cage/--no-cage", help="The same as +cage: confidence sets the temperature.", rich_help_panel=_NETWORK
        ),
    ] = None,
    wiring: Annotated[
        str | None,
        Option(
            help="structured, random (the paper's), learned, or another by name. [default: structured for images, "
            "random where they have no shape; tables: learned]",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    candidates: Annotated[
        int | None, Option(min=2, help="Wires that each input of a gate chooses from.", rich_help_panel=_NETWORK)
    ] = None,
    redraw: Annotated[
        int | None,
        Option(
            min=1,
            help="Every so many steps of the first half, exchange the half of the candidates that lost for new ones.",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    start: Annotated[
        str | None, Option(help="Of the logits: normal or residual. [default: normal]", rich_help_panel=_NETWORK)
    ] = None,
    iterations: Annotated[
        int | None, Option(min=1, help="Training steps. [default: 2000; tables: 1000]", rich_help_panel=_TRAINING)
    ] = None,
    epochs: Annotated[
        float | None, Option(help="Instead: passes over the training rows.", rich_help_panel=_TRAINING)
    ] = None,
    batch_size: Annotated[
        int | None, Option(min=1, help="Rows of a batch. [default: 128; tables: 256]", rich_help_panel=_TRAINING)
    ] = None,
    accumulate: Annotated[int, Option(min=1, help="Batches that make one step.", rich_help_panel=_TRAINING)] = 1,
    lr: Annotated[
        float | None, Option(help="Adam's learning rate. [default: 0.01; tables: 0.03]", rich_help_panel=_TRAINING)
    ] = None,
    evaluate_every: Annotated[
        int | None,
        Option(min=1, help="Steps between evaluations. [default: 200, or an epoch]", rich_help_panel=_TRAINING),
    ] = None,
    seed: Annotated[
        int, Option(min=0, help="Of wiring, initial logits, noise and batch order.", rich_help_panel=_TRAINING)
    ] = 0,
    validation: Annotated[
        bool, Option("--validation", help="Take validation rows out of train.", rich_help_panel=_CHOOSING)
    ] = False,
    stop_early: Annotated[
        int | None,
        Option(min=1, help="Stop after so many evaluations without a better one.", rich_help_panel=_CHOOSING),
    ] = None,
    keep_best: Annotated[
        bool, Option("--keep-best", help="Save the best evaluation's network.", rich_help_panel=_CHOOSING)
    ] = False,
    out: Annotated[
        Path | None,
        Option("--out", "-o", help="The model file. [default: a name made of the settings]", rich_help_panel=_FILES),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        Option(help="Keep the checkpoint here. [default: beside the model until done]", rich_help_panel=_FILES),
    ] = None,
    resume: Annotated[
        bool, Option(help="Go on from the checkpoint; or start over, and replace the model.", rich_help_panel=_FILES)
    ] = True,
    history: Annotated[
        Path | None, Option(help="Write every evaluation to this .json file.", rich_help_panel=_FILES)
    ] = None,
    tensorboard: Annotated[
        Path | None, Option(help="Log to this folder for TensorBoard.", rich_help_panel=_FILES)
    ] = None,
    engine: Annotated[str, Option(help="auto, or an engine by name.")] = "auto",
    threads: Threads = None,
) -> None:
    """Train a network of logic gates and save it as a model.

    Start with `hardwire train digits`: half a minute, no download. A run that is stopped continues when the same
    command is given again. Afterwards, `hardwire gap MODEL` says how well the circuit keeps what training promised.
    Of your own table: `hardwire train table.csv --target COLUMN`, and then `hardwire predict MODEL rows.csv`.
    """
    from hardwire import data

    dataset = _table(dataset, target, bits)
    data.check(dataset)
    import hardwire as hw
    from hardwire.cli import report
    from hardwire.files import write_whole
    from hardwire.training.settings import Settings

    report.set_threads(threads)
    hw.engine.check_engine(engine)
    settings = Settings.usual(
        dataset,
        width=width,
        depth=depth,
        widths=_numbers(widths),
        method=method,
        tau=tau,
        cage=cage,
        wiring=wiring,
        candidates=candidates,
        redraw=redraw,
        start=start,
        iterations=iterations,
        epochs=epochs,
        batch_size=batch_size,
        accumulate=accumulate,
        lr=lr,
        evaluate_every=evaluate_every,
        validation=validation,
        stop_early=stop_early,
        keep_best=keep_best,
        seed=seed,
        engine=engine,
    )
    job = settings.prepare(out, checkpoint, [history] if history else [])
    if resume and job.finished():
        typer.echo(
            f"{job.out} is finished: it was trained with these very settings; --no-resume would train it anew.\n"
            f"next: {report.program()} gap {job.out}"
        )
        return
    callbacks = [hw.TensorBoard(tensorboard)] if tensorboard else []
    console = report.console()
    console.print(report.settings(job))
    try:
        told = job.run(resume, callbacks, progress=True)
    except KeyboardInterrupt:
        _say_interrupted(job)
        raise typer.Exit(130) from None
    if history:
        write_whole(history, told.to_json())
    tested = told.final if told.split == "test" else hw.measure_gap(job.net, job.data.test)
    console.print(report.accuracies(tested, job.data.number is not None), report.layers(job.net))
    console.print(f"saved [bold]{job.out}[/]; next: [bold]{report.program()} gap {job.out}[/]", soft_wrap=True)


def _table(dataset: str, target: str | None, bits: int | None) -> str:
    """The name of a table's dataset, with what its options say."""
    from hardwire.data.kinds import is_table

    if target is None and bits is None:
        return dataset
    if not is_table(dataset):
        raise HardwireError(f"--target and --bits are for tables, .csv or .parquet; {dataset} is none")
    path, _, named = dataset.partition("#")
    return path + (f"@{bits}" if bits else "") + (f"#{target or named}" if target or named else "")


def _numbers(widths: str | None) -> tuple[int, ...] | None:
    if widths is None:
        return None
    try:
        return tuple(int(number) for number in widths.split(","))
    except ValueError:
        raise HardwireError(f"--widths {widths!r} is not a list of whole numbers such as 4000,2000") from None


def _say_interrupted(job: "Job") -> None:
    there = job.checkpoint.exists()
    where = f"the checkpoint is {job.checkpoint}; the same command continues" if there else "nothing was trained yet"
    typer.echo(f"interrupted: {where}", err=True)
