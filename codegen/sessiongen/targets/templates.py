"""The Jinja environment of a target's templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sessiongen.resources import templates_dir


def environment(
    language: str, filters: Mapping[str, Callable[..., str]], **functions: Callable[..., str]
) -> Environment:
    """Returns the environment of the templates in `templates/<language>/`.

    An undefined name in a template is an error, and texts have LF line ends.

    functions: functions that the templates call, by name.
    """
    result = Environment(
        loader=FileSystemLoader(templates_dir() / language, encoding="utf-8"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        newline_sequence="\n",
        # The templates write code, in which the escapes of HTML would be wrong.
        autoescape=False,
    )
    result.filters.update(filters)
    result.globals.update(functions)
    return result
