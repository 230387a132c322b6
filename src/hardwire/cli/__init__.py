"""The command line: `hardwire demo`, `train`, `gap`, `predict`, `playground`, `circuit`, `study` and others.

Each command is one short module, registered here in one line. Surprising: none of them imports torch before it runs, so
help is instant; and `--debug` is removed from the arguments before typer sees them, so it works anywhere.
"""

import os
import sys
import warnings
from importlib.metadata import entry_points
from typing import Annotated

import typer
from typer import rich_utils

from hardwire.cli import bench, circuit, data, gap, gates, info, playground, predict, records, study, train
from hardwire.cli.help import HelpGroup, short_types
from hardwire.cli.stopping import stoppable
from hardwire.console import colours_wanted
from hardwire.errors import HardwireError, missing_package

app = typer.Typer(
    name="hardwire",
    cls=HelpGroup,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,  # `main` decides what is shown
)
for _point in sorted(entry_points(group="hardwire_commands")):  # of other packages: `demo` is one
    app.command(_point.name)(_point.load())
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
short_types(app)


def _version(wanted: bool) -> None:
    if wanted:
        from hardwire.build import version_text

        typer.echo(version_text())
        raise typer.Exit


@app.callback(epilog="New here? Run **hardwire demo**: a minute, no download.")
def hardwire(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_version,
            is_eager=True,
            help="Print the version and what is installed.",
        ),
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error; works anywhere.")] = False,
) -> None:
    """Train the circuit you ship: classifiers made of two-input logic gates.

    Gradient descent chooses the gates; the result is a Boolean circuit. With the hard methods the network in training
    already is that circuit, so nothing is lost when it is deployed.

    Example:

    ```
    hardwire train digits -o digits.safetensors
    hardwire gap digits.safetensors
    hardwire circuit export digits.safetensors digits.c
    ```
    """


def main(arguments: list[str] | None = None) -> None:
    """The entry point: a user's mistake is one line on stderr and exit code 2."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    debug = "--debug" in arguments
    if not debug:
        warnings.formatwarning = lambda message, *_, **__: f"warning: {message}\n"  # one line, as errors are
    if not colours_wanted():
        rich_utils.COLOR_SYSTEM = None  # typer's own help and usage errors
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
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that nothing is flushed into it at the end
        sys.exit(141)  # what a shell reports of a program that this signal ended
    except OSError as error:  # a full disk, a folder that cannot be written
        if debug:
            raise
        _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror or str(error))


def _fail(message: str) -> None:
    typer.echo(f"error: {message}", err=True)
    sys.exit(2)
