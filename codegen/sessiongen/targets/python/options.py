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
    """

    package: str
    messages: str | None
    config: Path
    overrides: Path | None


# The layers by their module, in the order in which the package's docstring lists them.
LAYERS = {
    "dispatch": Layer("arms, tables and total handler tables of each oneof", ("values",)),
    "requests": Layer("the handler skeleton of a host, and `answer`", ("errors", "values")),
    "events": Layer("the event sink of a host, the listeners of a driver", ("dispatch", "values")),
    "client": Layer("a typed method for each request", ("errors", "values")),
    "peer": Layer(
        "a client and a host over any transport of the envelope",
        ("client", "events", "requests"),
    ),
    "enums": Layer("enums as the SDK spells them, and as JSON names them", ("errors",)),
    "errors": Layer("what a peer refused, what this build does not know"),
    "encoders": Layer(
        "the SDK's objects to messages", ("dispatch", "enums", "fields", "models", "responses")
    ),
    "responses": Layer("a typed dict for each response of a host", ("enums", "values")),
    "models": Layer("the messages as plain frozen dataclasses", ("enums",)),
    "decoders": Layer("messages to plain Python", ("enums", "fields", "models")),
    "fields": Layer("how encoders read and write, and how decoders read", ("values",)),
    "values": Layer("natural Python forms of protobuf's own types", ("errors",)),
}
