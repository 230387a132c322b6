"""The command line: `hardwire demo`, `train`, `gap`, `predict`, `playground`, `circuit`, `study` and others.

Each command is one short module, registered here in one line. Surprising: none of them imports torch before it runs, so
that help is instant; and `--debug` is taken out of the arguments before typer sees them, so that it works anywhere.
"""

import sys
from typing import Annotated

import typer

from hardwire.cli import bench, circuit, data, demo, gap, gates, info, playground, predict, records, study, train
from hardwire.cli.help import Group, plain_flags
from hardwire.cli.stopping import stoppable
from hardwire.errors import HardwireError, missing_package

app = typer.Typer(
    name="hardwire",
    cls=Group,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,  # `main` decides what is shown
)
app.command()(demo.demo)
app.command()(train.train)
app.command()(gap.gap)
app.command()(predict.predict)
app.command()(playground.playground)
app.command()(gates.gates)
app.add_typer(circuit.app, name="circuit")
app.command()(bench.bench)
app.add_typer(data.app, name="data")
app.add_typer(study.app, name="study")
app.add_typer(records.app, name="records")
app.command()(info.info)
plain_flags(app)


def _version(wanted: bool) -> None:
    if wanted:
        from hardwire import __version__

        typer.echo(f"hardwire {__version__}")
        raise typer.Exit


@app.callback(epilog="New here? Run **hardwire demo**: a minute, no download.")
def hardwire(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error; works anywhere.")] = False,
) -> None:
    """Train the circuit you ship: classifiers made of two-input logic gates.

    The gates are found by gradient descent; what is left at the end is a Boolean circuit. With the hard methods the
    network in training already is that circuit, so nothing is lost when it is deployed.
    """


def main(arguments: list[str] | None = None) -> None:
    """The entry point: a user's mistake is one line on stderr and exit code 2."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in arguments
    try:
        with stoppable():
            app([argument for argument in arguments if argument != "--debug"], prog_name="hardwire")
    except HardwireError as error:
        if debug:
            raise
        _fail(str(error))
    except ModuleNotFoundError as error:
        if debug:
            raise
        _fail(str(missing_package(error, "this command")))
    except OSError as error:  # a full disk, a folder that cannot be written
        if debug:
            raise
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))


def _fail(message: str) -> None:
    typer.echo(f"error: {message}", err=True)
    sys.exit(2)
