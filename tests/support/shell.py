"""The command line as tests call it, in this process."""

import pytest
from typer.testing import CliRunner

from hardwire import cli


def call(*arguments):
    """How a command ends and what it prints, well or not."""
    return CliRunner().invoke(cli.app, [str(argument) for argument in arguments])


def run(*arguments):
    """What a command prints; it has to end well."""
    result = call(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output


def fail(capsys, *arguments):
    """Runs `main` on a mistake; gives the one line it says."""
    with pytest.raises(SystemExit) as stop:
        cli.main([str(argument) for argument in arguments])
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    return error
