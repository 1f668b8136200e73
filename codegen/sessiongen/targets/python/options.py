"""The keys of a Python output and the layers of a generated package."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sessiongen.config.model import OutputOptions
from sessiongen.targets.base import Layer


@dataclass(frozen=True, kw_only=True)
class PythonOptions(OutputOptions):
    """The keys of a Python output.

    package: the dotted name of the generated package.
    messages: an installed module of messages to use instead of generating them.
    config: the codegen.toml, for diagnostics and as the place to import `messages` from.
    overrides: a module of handwritten encoders, which becomes part of the package.
    header: lines of comment that each file has below the mark.
    line_length: the number of characters from which lines are broken.
    """

    package: str
    messages: str | None
    config: Path
    overrides: Path | None
    header: tuple[str, ...]
    line_length: int


KEYS = ("package", "messages", "overrides", "header", "line_length")

# The layers by their module, in the order in which the package's docstring lists them.
LAYERS = {
    "dispatch": Layer(
        "the arms of each oneof, and a function that calls one handler for each", ("values",)
    ),
    "requests": Layer("the abstract request handler of a host, and `answer`", ("errors", "values")),
    "events": Layer(
        "the event sink and the SDK events of a host, the listeners of a driver",
        ("dispatch", "values"),
    ),
    "client": Layer("a method for each request", ("errors", "values")),
    "peer": Layer(
        "a client and a host over any transport of the envelope",
        ("client", "connection", "events", "requests"),
    ),
    "connection": Layer("what the client and the host of `peer` share"),
    "enums": Layer("the SDK's value and the JSON name of each enum value", ("errors",)),
    "errors": Layer("the exceptions of the package"),
    "encoders": Layer(
        "functions that make messages from the SDK's objects", ("dispatch", "enums", "fields")
    ),
    "responses": Layer("a typed dict for each response of a host", ("enums", "values")),
    "models": Layer("a frozen dataclass for each message that a host sends", ("enums",)),
    "decoders": Layer("functions that make dataclasses from messages", ("enums", "models")),
    "fields": Layer("how encoders read sources and set fields", ("values",)),
    "values": Layer("conversions of Timestamp, Duration and Struct", ("errors",)),
}
