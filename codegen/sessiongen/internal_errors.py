"""Diagnostics for faults of the generator itself.

Each names the element of the protocol, the output, and the place in the generator or in the
generated module.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING

from sessiongen import resources
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.paths import display

if TYPE_CHECKING:
    from sessiongen.config.model import Output
    from sessiongen.ir.model import Model
    from sessiongen.ir.schema import Enum, Message

_REPORT = "nothing was written; please report this with the protocol"


@dataclass(frozen=True)
class InvalidModule:
    """A fault of syntax in a generated module: its line, which counts from 1, and a reason.

    source: the handwritten file that the module is a copy of, which has the fault in this line.
    """

    line: int
    reason: str
    source: Path | None = None


class InvalidModules(Exception):
    """Generated modules are invalid before they are complete. faults: by file, with their texts."""

    def __init__(self, faults: list[tuple[str, str, InvalidModule]]) -> None:
        self.faults = faults
        super().__init__(", ".join(name for name, _, _ in faults))


def unexpected(error: Exception, span: Span) -> Diagnostic:
    """Returns the diagnostic of an exception that no input should raise.

    span: the position if the exception does not show which element was handled.
    """
    name, place = _element_in(error.__traceback__) or ("", span)
    fault = f"internal error{f' at {name}' if name else ''}: {_described(error)}"
    return Diagnostic(place, Rule.INTERNAL, fault, f"{_REPORT}{_place(error)}")


def in_generation(error: Exception, model: Model, output: Output) -> list[Diagnostic]:
    """Returns the diagnostics of an exception that a target raised for an output."""
    if isinstance(error, InvalidModules):
        return [invalid_module(*fault, model, output) for fault in error.faults]
    main = model.protocol.roles.main
    name, span = _element_in(error.__traceback__) or (main.full_name, main.span)
    fault = (
        f"internal error: the {output.language} output {display(output.folder)} cannot be "
        f"generated for {name}: {_described(error)}"
    )
    return [Diagnostic(span, Rule.INTERNAL, fault, f"{_REPORT}{_place(error)}")]


def invalid_module(
    path: str, text: str, fault: InvalidModule, model: Model, output: Output
) -> Diagnostic:
    """Returns the diagnostic of a generated module that is not valid code.

    path: the module in the output folder.
    """
    if fault.source is not None:
        span = Span(display(fault.source), fault.line)
        reason = f"the overrides are not valid: {fault.reason}"
        return Diagnostic(span, Rule.OVERRIDE, reason, "fix the module")
    element = _element_of(text, fault.line, model)
    lines = text.split("\n")
    code = lines[fault.line - 1].strip() if fault.line <= len(lines) else ""
    message = (
        f"internal error: the module {display(output.folder / path)}, generated for "
        f"{element.full_name}, is not valid code in line {fault.line}: {fault.reason}"
    )
    help_ = f"{_REPORT} and this line: {code[:120]}" if code else _REPORT
    return Diagnostic(element.span, Rule.INTERNAL, message, help_)


def _described(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200]}" if lines else type(error).__name__


def _place(error: Exception) -> str:
    """Returns where in the generator or its templates an exception was raised."""
    package, templates = Path(__file__).parent, resources.templates_dir()
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = Path(frame.filename)
        for folder in (templates, package):
            if path.is_relative_to(folder):
                name = f"{folder.name}/{path.relative_to(folder).as_posix()}"
                return f"; it was raised in {name}, line {frame.lineno}"
    return ""


def _element_in(trace: TracebackType | None) -> tuple[str, Span] | None:
    """Returns the name and the position of the element that the innermost function handled."""
    frames = [frame for frame, _ in traceback.walk_tb(trace)]
    return next((item for frame in reversed(frames) for item in _elements(frame)), None)


def _elements(frame: FrameType) -> Iterator[tuple[str, Span]]:
    """Yields the elements among the local values of a function and their attributes."""
    # The last one is the most likely to be that of a loop.
    values = list(reversed(frame.f_locals.values()))
    # The roles are in most functions, whatever they handle.
    inner = [
        item
        for value in values
        if type(value).__name__ != "Roles"
        for item in _attributes(value).values()
    ]
    for value in (*values, *inner):
        attributes = _attributes(value)
        span, name = attributes.get("span"), attributes.get("full_name") or attributes.get("name")
        if isinstance(span, Span) and span.file and isinstance(name, str) and name:
            yield name, span


def _attributes(value: object) -> dict[str, object]:
    return vars(value) if is_dataclass(value) and not isinstance(value, type) else {}


def _element_of(text: str, line: int, model: Model) -> Message | Enum:
    """Returns the message or enum whose name is in the definition around a line.

    It is the one with the longest name; the main message if there is none.
    """
    schema = model.protocol.schema
    elements: list[Message | Enum] = [*schema.own_messages()]
    elements += [item.enum for item in model.protocol.enums]
    definition = _squashed(_definition_around(text, line))
    named = [item for item in elements if _squashed("".join(item.path)) in definition]
    main: Message = model.protocol.roles.main
    return max(named, key=lambda item: len("".join(item.path)), default=main)


def _definition_around(text: str, line: int) -> str:
    """Returns the first line of the definition that a line is in, and the line itself."""
    lines = text.split("\n")[:line]
    heads = [
        item for item in lines if re.match(r"(@|class|def|async|export|function|const)\b", item)
    ]
    return " ".join([*heads[-1:], *lines[-1:]])


def _squashed(name: str) -> str:
    """Returns the letters and digits of a name, which are the same in snake_case and CamelCase."""
    return re.sub(r"[\W_]", "", name).lower()
