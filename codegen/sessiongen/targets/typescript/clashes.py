"""Finds elements of a protocol that have one name in the messages of protobuf-es."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.ir.schema import Enum, Field, Message, Oneof
from sessiongen.targets.typescript.context import Context


def clashes(context: Context) -> list[Diagnostic]:
    """Returns a fault for each definition, field and oneof whose name another one has."""
    messages = list(context.protocol.schema.own_messages())
    inside = [fault for message in messages for fault in _in_message(context, message)]
    return [*_definitions(context, messages), *inside]


def _definitions(context: Context, messages: Iterable[Message]) -> Iterator[Diagnostic]:
    """Yields a fault for each message and enum that the module of messages cannot export.

    Files of several packages may have a definition of one name.
    """
    definitions: list[Message | Enum] = [*messages]
    definitions += [item.enum for item in context.protocol.enums]
    seen: dict[str, str] = {}
    for item in definitions:
        name = context.class_of(item.path)
        first = seen.setdefault(name, item.full_name)
        if first != item.full_name:
            name = name.removeprefix("pb.")
            fault = f"{item.full_name} and {first} have one name in the module of messages: {name}"
            yield _clash(item, fault, "rename one of them", f"{item.full_name} {first}")


def _in_message(context: Context, message: Message) -> Iterator[Diagnostic]:
    """Yields a fault for each property of a message, and arm of a oneof, that there is twice."""
    binding = context.binding
    properties: list[tuple[str, Field | Oneof]] = []
    properties += [(binding.field_property(item), item) for item in message.outside()]
    properties += [(binding.oneof_property(item), item) for item in message.oneofs]
    yield from _repeated(properties, f"the class of {message.full_name}")
    for oneof in message.oneofs:
        arms: list[tuple[str, Field | Oneof]] = [(binding.arm(item), item) for item in oneof.arms]
        yield from _repeated(arms, f"the oneof {message.full_name}.{oneof.name}")


def _repeated(named: Iterable[tuple[str, Field | Oneof]], owner: str) -> Iterator[Diagnostic]:
    seen: dict[str, str] = {}
    for name, item in named:
        first = seen.setdefault(name, item.name)
        if first != item.name:
            fault = f"{item.name!r} and {first!r} both become {name!r} in {owner}"
            yield _clash(item, fault, "rename one of the two in the .proto", f"{item.name} {first}")


def _clash(item: Message | Enum | Field | Oneof, fault: str, help_: str, cause: str) -> Diagnostic:
    return Diagnostic(item.span, Rule.NAME_CLASH, fault, help_, cause=cause)
