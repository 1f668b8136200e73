"""How generated code uses the messages of each version of protobuf-es.

Version 1 has a class for each message: `new pb.Ping({…})`. Version 2 has a type and a schema:
`create(pb.PingSchema, {…})`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sessiongen.ir.schema import Field, Oneof
from sessiongen.targets.typescript import naming

_RUNTIME = "@bufbuild/protobuf"


@dataclass(frozen=True)
class Exports:
    """What a module of the library exports: types, and what is also used as a value."""

    types: tuple[str, ...]
    values: tuple[str, ...] = ()


@dataclass(frozen=True)
class Binding:
    """A version of protobuf-es.

    library: the modules of the library with what generated code uses of each.
    classes: the names of the messages and enums in generated code, which the name of a schema
        may not repeat.
    """

    version: int
    library: Mapping[str, Exports]
    classes: frozenset[str] = field(default=frozenset())
    # Properties that each message has beside its fields.
    own_properties: tuple[str, ...] = ()

    def message_class(self, path: tuple[str, ...]) -> str:
        """Returns the name of the class or type of a message or enum."""
        raise NotImplementedError

    def field_property(self, item: Field) -> str:
        """Returns the property of a field outside of oneofs."""
        raise NotImplementedError

    def oneof_property(self, item: Oneof) -> str:
        """Returns the property of a oneof."""
        raise NotImplementedError

    def arm(self, item: Field) -> str:
        """Returns the name of a field as an arm of its oneof, where no name is reserved."""
        return naming.camel(item.name)

    def schema(self, type_: str) -> str:
        """Returns the schema of a message; only version 2 has it."""
        raise NotImplementedError

    def opened(self, type_: str) -> str:
        """Returns the start of the expression that makes a message of an object, up to that."""
        raise NotImplementedError

    def is_message(self, type_: str) -> str:
        """Returns the expression that is true if `value` is a message of a type."""
        raise NotImplementedError

    def empty(self, type_: str) -> str:
        """Returns the expression of an empty message."""
        return self.opened(type_).removesuffix(", ") + ")"

    def made(self, type_: str, value: str) -> str:
        """Returns the expression of a message made of an object."""
        return f"{self.opened(type_)}{value})"


class _Version1(Binding):
    def message_class(self, path: tuple[str, ...]) -> str:
        return naming.identifier(path, of_objects=True)

    def field_property(self, item: Field) -> str:
        return naming.message_property(naming.camel(item.name), with_methods=True)

    def oneof_property(self, item: Oneof) -> str:
        return naming.message_property(naming.camel(item.name), with_methods=True)

    def opened(self, type_: str) -> str:
        return f"new {type_}("

    def is_message(self, type_: str) -> str:
        return f"value instanceof {type_}"


class _Version2(Binding):
    def message_class(self, path: tuple[str, ...]) -> str:
        return naming.identifier(path, of_objects=False)

    def field_property(self, item: Field) -> str:
        return naming.message_property(naming.camel(item.name), with_methods=False)

    def oneof_property(self, item: Oneof) -> str:
        return naming.message_property(naming.camel(item.name), with_methods=False)

    def schema(self, type_: str) -> str:
        # protobuf-es adds a `$` to a word of the language, and to a name that is taken.
        schema = f"{type_.removesuffix('$')}Schema"
        return f"{schema}$" if schema in self.classes else schema

    def opened(self, type_: str) -> str:
        return f"create({self.schema(type_)}, "

    def is_message(self, type_: str) -> str:
        return f"isMessage(value, {self.schema(type_)})"


_LIBRARY_1 = {
    _RUNTIME: Exports(
        ("JsonObject", "Message", "PartialMessage", "PlainMessage"),
        ("Duration", "Struct", "Timestamp"),
    ),
}
_LIBRARY_2 = {
    _RUNTIME: Exports(
        ("JsonObject", "Message", "MessageInitShape"), ("create", "isFieldSet", "isMessage")
    ),
    f"{_RUNTIME}/codegenv2": Exports(("GenMessage",)),
    f"{_RUNTIME}/wkt": Exports(("Duration", "Timestamp"), ("DurationSchema", "TimestampSchema")),
}


def binding(version: int, classes: frozenset[str]) -> Binding:
    """Returns the binding of a version of protobuf-es.

    classes: the names of the messages and enums of the protocol, such as `pb.Ping`.
    """
    if version == 1:
        return _Version1(version, _LIBRARY_1, classes)
    return _Version2(version, _LIBRARY_2, classes, ("$typeName", "$unknown"))
