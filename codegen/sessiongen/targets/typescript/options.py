"""The keys of a TypeScript output and the layers of the generated modules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sessiongen.config.model import OutputOptions
from sessiongen.targets.base import Layer

# The placeholder for the path of a .proto without its suffix in the name of a module.
FILE = "{file}"


@dataclass(frozen=True, kw_only=True)
class TypeScriptOptions(OutputOptions):
    """The keys of a TypeScript output.

    module: the module that exports the messages of protobuf-es; with FILE in its name, each
        .proto has a module of its own.
    protobuf_es: the version of protobuf-es, 1 or 2.
    namespace: the export of the module that holds the classes; None if they are exports
        themselves.
    namespaces: the same for single .proto files, by name.
    messages: the file that lists what the module has of the protocol; None if it has all.
    overrides: a module of handwritten conversions, which becomes one of the output's.
    seconds: the fields, as `Message.field`, whose times the SDK counts in seconds.
    header: lines of comment that each file has below the mark.
    config: the codegen.toml, for diagnostics.
    """

    module: str
    protobuf_es: int
    namespace: str | None
    namespaces: Mapping[str, str]
    messages: Path | None
    overrides: Path | None
    seconds: tuple[str, ...]
    header: tuple[str, ...]
    config: Path


KEYS = ("module", "protobuf_es", "namespace", "messages", "overrides", "seconds", "header")

# The layers by their module, in the order in which the documentation lists them.
LAYERS = {
    "arms": Layer("the arms of each oneof: names, field numbers", ("values",)),
    "requests": Layer("the handler of a host, and `answer`", ("arms", "errors", "values")),
    "client": Layer("a typed method for each request", ("arms", "errors", "values")),
    "events": Layer(
        "`subscribe` for a host, event names and `emitEvent` for a driver",
        ("arms", "sources", "values"),
    ),
    "enums": Layer("enums as the SDK spells them, and as JSON names them", ("errors", "values")),
    "encoders": Layer("the SDK's objects to messages", ("arms", "enums", "sources", "values")),
    "sources": Layer("the types of the objects that encoders read", ("enums", "values")),
    "errors": Layer("what a peer refused, what this build does not know"),
    "values": Layer("times, structs and lists, and helper types"),
}
