"""`hardwire train`: a dataset in, a model file out.

Surprising: a run always keeps a checkpoint next to its model until it is done, so a run that was killed continues when
the same command is given again. Given once more, it says that the run is finished.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from hardwire.cli import completion
from hardwire.cli.options import Decimal, Missing, Na, Quote, Separator, Threads, Unknown, table_options
from hardwire.cli.output import Json, Output
from hardwire.errors import HardwireError
from hardwire.gates import LEAST_ARITY, MOST_ARITY
from hardwire.recipes import BITS, IMAGES, TABLES

if TYPE_CHECKING:
    from hardwire.circuit.table_report import TableReport
    from hardwire.training.job import TrainingJob


def _default(name: str) -> str:
    """The default of a setting for each kind of data, as help quotes it."""
    images, tables, other = (getattr(defaults, name) for defaults in (IMAGES, TABLES, BITS))
    tables = {"width": "by rows and classes", "iterations": "by rows"}.get(name, tables)
    if images == tables:
        return f"[default: {images}" + (f"; for small data {other}]" if other != images else "]")
    if tables == other:
        return f"[default: {images} for images, otherwise {other}]"
    return f"[default: {images} for images, {tables} for tables, otherwise {other}]"


_TABLE, _NETWORK, _LOOP, _TRAINING, _SELECTING, _FILES = (
    "Tables", "Network", "Loops, which read each row step by step and keep a state", "Training",
    "Selecting on validation rows", "Files",
)  # fmt: skip


def train(
    dataset: Annotated[
        str | None,
        typer.Argument(
            help="A dataset by name (see: hardwire data list), or an .npz, .csv or .parquet file. "
            "[default: the recipe's]",
            autocompletion=completion.datasets,
        ),
    ] = None,
    recipe: Annotated[
        str | None,
        Option(
            help="Train with the settings of a recipe (see: hardwire records list) or a TOML file; other options "
            "replace its entries.",
            autocompletion=completion.recipes,
        ),
    ] = None,
    show_settings: Annotated[
        bool, Option("--show-settings", help="Print the settings as a recipe, defaults included, and stop.")
    ] = False,
    target: Annotated[
        str | None, Option(help="The column of a table to predict: classes, or a number.", rich_help_panel=_TABLE)
    ] = None,
    bits: Annotated[
        int | None, Option(min=1, help="Thresholds per column of a table. [default: 16]", rich_help_panel=_TABLE)
    ] = None,
    drop: Annotated[
        str | None, Option(help="Columns of a table to leave out, such as id,name.", rich_help_panel=_TABLE)
    ] = None,
    missing: Missing = None,
    unknown: Unknown = None,
    decimal: Decimal = None,
    separator: Separator = None,
    na: Na = None,
    quote: Quote = None,
    width: Annotated[
        int | None,
        Option(
            min=1,
            help=f"Gates or tables per layer; the last is rounded up to a multiple of the classes. {_default('width')}",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    depth: Annotated[
        int | None, Option(min=1, max=1000, help=f"Layers. {_default('depth')}", rich_help_panel=_NETWORK)
    ] = None,
    widths: Annotated[
        str | None, Option(help="Those of each layer instead, such as 4000,2000.", rich_help_panel=_NETWORK)
    ] = None,
    arity: Annotated[
        int | None,
        Option(
            min=LEAST_ARITY,
            max=MOST_ARITY,
            help="Layers of look-up tables with this many inputs each, as FPGAs have them. [default: two-input gates]",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    method: Annotated[
        str | None,
        Option(
            help=f"soft-mix, soft-gumbel, hard-st or gumbel-st; the last two also with +cage. {_default('method')}",
            rich_help_panel=_NETWORK,
            autocompletion=completion.methods,
        ),
    ] = None,
    tau: Annotated[
        float | None,
        Option(help="A constant temperature; the paper uses 0.05 to 2. [default: 1]", rich_help_panel=_NETWORK),
    ] = None,
    cage: Annotated[
        bool | None,
        Option("--cage/--no-cage", help="Same as +cage: confidence sets the temperature.", rich_help_panel=_NETWORK),
    ] = None,
    straight_through: Annotated[
        str | None,
        Option(
            help="What the backward pass of a hard method differentiates: output, the noise-free mixture at a neuron's "
            "output (the paper's Proposition 8); weights, as gumbel_softmax(hard=True); noisy-output; clean-weights. "
            "[default: output for gumbel-st, weights for hard-st]",
            rich_help_panel=_NETWORK,
            autocompletion=completion.estimators,
        ),
    ] = None,
    wiring: Annotated[
        str | None,
        Option(
            help="structured, random (the paper's), learned, or another by name. auto: structured for images, random "
            f"otherwise. {_default('wiring')}",
            rich_help_panel=_NETWORK,
            autocompletion=completion.wirings,
        ),
    ] = None,
    candidates: Annotated[
        int | None,
        Option(
            min=2, help="Wires that each input of a gate or table chooses from, if learned.", rich_help_panel=_NETWORK
        ),
    ] = None,
    redraw: Annotated[
        int | None,
        Option(
            min=1,
            help="Replace the worse half of the candidates every N steps, in the first half of the run.",
            rich_help_panel=_NETWORK,
        ),
    ] = None,
    start: Annotated[
        str | None, Option(help=f"Initial logits: normal or residual. {_default('start')}", rich_help_panel=_NETWORK)
    ] = None,
    state: Annotated[
        int | None,
        Option(
            min=1,
            help="Train a loop with so many bits of state. The layers are its cell, which reads the state and one "
            "step, and makes the next state and votes. [default: no loop; with one, 3 layers of twice the state, "
            "learned wires, residual start, lr 0.05]",
            rich_help_panel=_LOOP,
        ),
    ] = None,
    steps: Annotated[
        int | None,
        Option(
            min=1,
            help="The steps of a row. [default: T where x_train is [rows, T, values], as the rows of an image]",
            rich_help_panel=_LOOP,
        ),
    ] = None,
    curriculum: Annotated[
        str | None,
        Option(
            help="Shorter lengths to learn first, such as 2,4,8; --iterations for each at most. A shorter sequence "
            "is the end of a row, or its beginning where y_train [rows, T] has a label after each step.",
            rich_help_panel=_LOOP,
        ),
    ] = None,
    outputs: Annotated[
        str | None,
        Option(
            help="Whose votes count: those of the last step, or the sum of all. [default: last]", rich_help_panel=_LOOP
        ),
    ] = None,
    initial: Annotated[
        str | None,
        Option(help="The state before the first step: zeros or learned. [default: zeros]", rich_help_panel=_LOOP),
    ] = None,
    iterations: Annotated[
        int | None, Option(min=1, help=f"Training steps. {_default('iterations')}", rich_help_panel=_TRAINING)
    ] = None,
    epochs: Annotated[
        float | None, Option(help="Passes over the training rows instead.", rich_help_panel=_TRAINING)
    ] = None,
    batch_size: Annotated[
        int | None, Option(min=1, help=f"Rows per batch. {_default('batch_size')}", rich_help_panel=_TRAINING)
    ] = None,
    accumulate: Annotated[
        int | None, Option(min=1, help="Batches per training step. [default: 1]", rich_help_panel=_TRAINING)
    ] = None,
    lr: Annotated[
        float | None, Option(help=f"Learning rate of Adam. {_default('lr')}", rich_help_panel=_TRAINING)
    ] = None,
    schedule: Annotated[
        str | None,
        Option(
            help=f"Learning rate over time: constant, cosine or cooldown. {_default('schedule')}",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    evaluate_every: Annotated[
        int | None,
        Option(min=1, help="Steps between evaluations. [default: 200, or an epoch]", rich_help_panel=_TRAINING),
    ] = None,
    seed: Annotated[
        int | None,
        Option(
            min=0,
            help="Seed of wiring, initial logits, noise and batch order. [default: 0, or the recipe's]",
            rich_help_panel=_TRAINING,
        ),
    ] = None,
    validation: Annotated[
        bool, Option("--validation", help="Hold out a sixth of the training rows.", rich_help_panel=_SELECTING)
    ] = False,
    stop_early: Annotated[
        int | None,
        Option(min=1, help="Stop after this many evaluations without a better one.", rich_help_panel=_SELECTING),
    ] = None,
    keep_best: Annotated[
        bool, Option("--keep-best", help="Save the network of the best evaluation.", rich_help_panel=_SELECTING)
    ] = False,
    out: Annotated[
        Path | None,
        Option("--out", "-o", help="The model file. [default: a name made of the settings]", rich_help_panel=_FILES),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        Option(
            help="Keep the checkpoint in this file. [default: next to the model until done]", rich_help_panel=_FILES
        ),
    ] = None,
    resume: Annotated[
        bool,
        Option(help="Continue from the checkpoint; or start over and replace the model.", rich_help_panel=_FILES),
    ] = True,
    history: Annotated[
        Path | None, Option(help="Write every evaluation to this .json file.", rich_help_panel=_FILES)
    ] = None,
    plot: Annotated[
        Path | None,
        Option(help="Draw which columns of a table the circuit reads to this .svg or .png.", rich_help_panel=_FILES),
    ] = None,
    tensorboard: Annotated[
        Path | None, Option(help="Log to this folder for TensorBoard.", rich_help_panel=_FILES)
    ] = None,
    engine: Annotated[
        str, Option(help="auto, or an engine by name: native or reference.", autocompletion=completion.engines)
    ] = "auto",
    threads: Threads = None,
    json: Json = False,
) -> None:
    """Train a network of logic gates and save it as a model.

    A run that is stopped continues when the same command is given again. Afterwards `hardwire gap MODEL` measures what
    the circuit loses, and `hardwire circuit build MODEL FILE` makes it a circuit.

    Half a minute without a download; look-up tables instead of gates; a table of your own; a loop over sequences;
    98.6% of MNIST in ten minutes:

    ```
    hardwire train digits -o digits.safetensors
    hardwire train digits --width 200 --depth 1 --arity 6 --wiring learned --candidates 16 --lr 0.1
    hardwire train flowers.csv --target species -o flowers.safetensors
    hardwire train sequences.npz --state 64 --curriculum 2,4,8 -o loop.safetensors
    hardwire train --recipe mnist-8k
    ```
    """
    from hardwire import data, recipes

    if dataset is not None:
        options = table_options(decimal, separator, na, quote, drop=drop, missing=missing, unknown=unknown)
        dataset = _table(dataset, target, bits, options)
        data.check(dataset)  # before torch is imported
    if recipe is not None:
        recipes.load(recipe)
    import hardwire as hw
    from hardwire.cli import report
    from hardwire.files import write_whole
    from hardwire.files.figure import check_figure
    from hardwire.training.recipe_settings import recipe_of
    from hardwire.training.train import choose_settings

    output = Output(json)
    report.set_threads(threads)
    hw.engine.check_engine(engine)
    settings = choose_settings(
        dataset,
        recipe,
        width=width,
        depth=depth,
        widths=_numbers("--widths", widths, "4000,2000"),
        arity=arity,
        method=method,
        tau=tau,
        cage=cage,
        options=None if straight_through is None else {"straight_through": straight_through},
        wiring=wiring,
        candidates=candidates,
        redraw=redraw,
        loop=_loop(state, steps, curriculum, outputs, initial),
        start=start,
        iterations=iterations,
        epochs=epochs,
        batch_size=batch_size,
        accumulate=accumulate,
        lr=lr,
        schedule=schedule,
        evaluate_every=evaluate_every,
        validation=validation or None,
        stop_early=stop_early,
        keep_best=keep_best or None,
        seed=seed,
        engine=engine,
    )
    if show_settings:
        rows = settings.load()
        settings = settings.completed(rows)
        output.line(recipe_of(settings, rows.classes).text().rstrip())
        output.document(settings)
        return
    if plot is not None and settings.kind != "table":
        raise HardwireError("--plot draws the columns of a table, and this is none")
    if plot is not None:
        check_figure(plot)  # before anything is trained
    job = settings.prepare(out, checkpoint, [history] if history else [])
    if resume and job.finished():
        output.line(
            f"{job.out} is finished: it was trained with exactly these settings; --no-resume trains it again.\n"
            f"next: {report.program()} gap {job.out}"
        )
        output.document({"model": job.out, "finished_before": True})
        return
    callbacks = [hw.TensorBoard(tensorboard)] if tensorboard else []
    output.console.print(report.settings(job))
    try:
        evaluations = job.run(resume, callbacks, progress=True)
    except KeyboardInterrupt:
        _say_interrupted(job)
        raise typer.Exit(130) from None
    if history:
        write_whole(history, evaluations.to_json())
    tested = evaluations.final if evaluations.split == "test" else hw.measure_gap(job.net, job.data.test)
    output.console.print(report.accuracies(tested, job.data.number is not None), report.layers(job.net))
    judged = _judge_table(job, plot)
    if judged is not None:
        from hardwire.cli.table_report import tables_of

        output.console.print(*tables_of(judged))
    _say_next(job, output)
    output.document(
        {
            "model": job.out,
            "finished_before": False,
            "settings": job.record,
            "seconds": evaluations.final.seconds,
            "measure": "squared error" if job.data.number is not None else "accuracy",
            "test": report.gap_numbers(tested),
            "layers": report.layer_numbers(job.net),
            **({} if judged is None else {"table": judged}),
        }
    )


def _judge_table(job: "TrainingJob", plot: Path | None) -> "TableReport | None":
    """What the circuit is worth on the held-out rows of a table; None for other data."""
    if job.data.columns is None:
        return None
    import hardwire as hw
    from hardwire.circuit.table_report import table_report

    circuit = hw.Circuit.from_network(job.net).simplify(check=False)
    judged = table_report(circuit, job.data, job.net.head().temperature)
    if plot is not None:
        judged.plot(plot)
    return judged


def _say_next(job: "TrainingJob", output: Output) -> None:
    """The model, and the commands that one probably wants next."""
    from hardwire.cli import report

    program, stem = report.program(), job.out.with_suffix("")
    saved = f"saved [bold]{job.out}[/]; next: [bold]{program} gap {job.out}[/]"
    if job.settings.loop is not None:
        saved += f"\n  with its state in registers:  {program} circuit build {job.out} {stem}.circuit --state"
    if job.data.columns is None:
        output.console.print(saved, soft_wrap=True)
        return
    output.console.print(
        f"{saved}\n  predict rows:  {program} predict {job.out} rows.csv -o predictions.csv"
        f"\n  as a circuit:  {program} circuit build {job.out} {stem}.circuit"
        f"\n  as C:          {program} circuit export {job.out} {stem}.c",
        soft_wrap=True,
    )


def _table(dataset: str, target: str | None, bits: int | None, options: dict[str, Any]) -> str:
    """The name of a dataset, with the target, the thresholds and the options of a table appended."""
    from hardwire.data.kinds import is_table
    from hardwire.data.table_options import with_options

    if target is None and bits is None and not options:
        return dataset
    if not is_table(dataset):
        raise HardwireError(
            f"--target, --bits and the options of tables are for .csv and .parquet; {dataset} is neither"
        )
    path, _, named = dataset.partition("#")
    name = path + (f"@{bits}" if bits else "") + (f"#{target or named}" if target or named else "")
    return with_options(name, **options) if options else name


def _loop(
    state: int | None, steps: int | None, curriculum: str | None, outputs: str | None, initial: str | None
) -> dict[str, Any] | None:
    """The table of a loop, if the options ask for one."""
    given = {
        "steps": steps,
        "curriculum": _numbers("--curriculum", curriculum, "2,4,8"),
        "outputs": outputs,
        "initial": initial,
    }
    given = {name: value for name, value in given.items() if value is not None}
    if state is not None:
        return {"state": state, **given}
    if given:
        raise HardwireError(f"--{next(iter(given))} is for loops; add --state, the bits that go from step to step")
    return None


def _numbers(option: str, text: str | None, example: str) -> tuple[int, ...] | None:
    """The whole numbers of an option."""
    from hardwire.data.kinds import parse_count

    if text is None:
        return None
    numbers = [parse_count(number.strip()) for number in text.split(",")]
    if None in numbers:
        raise HardwireError(f"{option} {text[:80]!r} is not a list of whole numbers such as {example}")
    return tuple(number for number in numbers if number is not None)


def _say_interrupted(job: "TrainingJob") -> None:
    there = [path for path in job.checkpoints if path.exists()]
    where = f"the checkpoint is {there[-1]}; the same command continues" if there else "nothing was trained yet"
    typer.echo(f"interrupted: {where}", err=True)
