"""Help without noise: typer prints "<bool>" after every flag and "<int range>" after numbers; here they are short."""

from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

_METAVARS = {"int": "N", "integer": "N", "float": "X", "path": "FILE", "str": "TEXT", "text": "TEXT"}


def _type_name(parameter: Any) -> str:
    """The name of a parameter's type, which versions of typer keep in different places; empty if in neither."""
    described = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    name = getattr(described, "__name__", None) or getattr(getattr(parameter, "type", None), "name", "")
    return str(name).lower().removesuffix(" range")


class _ShortTypes:
    """Mixed into typer's classes: flags show no type, and other options a short one."""

    def get_params(self, context: Any) -> list[Any]:
        parameters: list[Any] = super().get_params(context)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = ""
            elif parameter.param_type_name == "option":
                parameter.metavar = parameter.metavar or _METAVARS.get(_type_name(parameter))
        return parameters


class _Command(_ShortTypes, TyperCommand):
    pass


class HelpGroup(_ShortTypes, TyperGroup):
    """The class of the app itself; `short_types` takes care of its commands."""


def short_types(app: typer.Typer) -> None:
    """Shortens the types of the options of all registered commands, also of apps inside the app."""
    for command in app.registered_commands:
        command.cls = _Command
    for group in app.registered_groups:
        group.cls = HelpGroup
        if group.typer_instance is not None:
            short_types(group.typer_instance)
