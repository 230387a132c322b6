"""Help without noise: flags stand without the "<bool>" that typer prints behind them."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


class _PlainFlags:
    """In front of typer's own class: an empty name of a value hides it."""

    def get_params(self, context: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(context)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
        return parameters


class _Command(_PlainFlags, TyperCommand):
    pass


class Group(_PlainFlags, TyperGroup):
    """For the app itself; `plain_flags` sees to its commands."""


def plain_flags(app: typer.Typer) -> None:
    """Makes the flags of all commands that are registered, also of apps inside the app, stand alone."""
    for command in app.registered_commands:
        command.cls = _Command
    for group in app.registered_groups:
        group.cls = Group
        if group.typer_instance is not None:
            plain_flags(group.typer_instance)
