"""Finds elements of a protocol that have one name in the messages of protobuf-es."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.ir.schema import Enum, Field, Message, Oneof
from sessiongen.targets.typescript.context import Context, definitions
from sessiongen.targets.typescript.message_imports import name_clashes
from sessiongen.targets.typescript.options import FILE


def clashes(context: Context) -> list[Diagnostic]:
    """Returns a fault for each definition, field and oneof with the name of another one."""
    messages = list(context.protocol.schema.own_messages())
    inside = [fault for message in messages for fault in _in_message(context, message)]
    return [*name_clashes(context.message_imports), *_definitions(context), *inside]


def _definitions(context: Context) -> Iterator[Diagnostic]:
    """Yields a fault for each message and enum that the module of messages cannot export.

    Files of several packages may have a definition of one name.
    """
    first: dict[str, Message | Enum] = {}
    for item in definitions(context.protocol):
        other = first.setdefault(context.class_of(item), item)
        if other.full_name != item.full_name:
            name = context.binding.message_class(item.path)
            names = f"{item.full_name} and {other.full_name}"
            fault = f"{names} have one name in the module of messages: {name}"
            help_ = "rename one of them"
            if other.file != item.file:
                help_ += f", or give each file a module of its own, with {FILE} in `module`"
            yield _clash(item, fault, help_, f"{item.full_name} {other.full_name}")


def _in_message(context: Context, message: Message) -> Iterator[Diagnostic]:
    """Yields a fault for each repeated property of a message, and each repeated arm of a oneof."""
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
