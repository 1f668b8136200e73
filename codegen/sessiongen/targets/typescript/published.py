"""What an npm package has of the protocol: a list of fields, enums and values.

A published package can lag behind the contract. Code for a field that it lacks would not
compile, so a protocol is reduced to what the package has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.ir.protocol import BoundEnum, Protocol
from sessiongen.ir.roles import NO_MESSAGE, RoleMessage, Roles, role_message
from sessiongen.ir.schema import Enum, Message, Oneof, Schema
from sessiongen.paths import display


@dataclass(frozen=True)
class Published:
    """The fields of each message and the values of each enum, by name without the package."""

    messages: Mapping[str, frozenset[str]]
    enums: Mapping[str, frozenset[str]]


def load(path: Path) -> Published:
    """Reads a list.

    Raises:
        InputError: it cannot be read, or is no such list.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return Published(_sets(data["messages"]), _sets(data["enums"]))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        fault = f"the list of published messages cannot be read: {error}"
        help_ = "it is a JSON object with `messages` and `enums`, each a list of names by name"
        raise InputError([Diagnostic(Span(display(path)), Rule.UNREADABLE, fault, help_)]) from None


def _sets(data: Mapping[str, list[str]]) -> dict[str, frozenset[str]]:
    return {name: frozenset(values) for name, values in data.items()}


def restricted(protocol: Protocol, published: Published) -> Protocol:
    """Returns the part of a protocol that a package has."""
    return _Restriction(protocol, published).protocol()


def lacking(protocol: Protocol, published: Published) -> list[str]:
    """Returns the names of what a package lacks, in order of declaration."""
    return list(_Restriction(protocol, published).lacking())


class _Restriction:
    def __init__(self, protocol: Protocol, published: Published) -> None:
        self._protocol = protocol
        self._published = published
        self._own = {item.full_name: item for item in protocol.schema.own_messages()}
        self._own_enums = {item.enum.full_name: item.enum for item in protocol.enums}

    def lacking(self) -> Iterator[str]:
        for message in self._own.values():
            name = ".".join(message.path)
            if name not in self._published.messages:
                yield name
                continue
            published_fields = self._message(message).fields
            yield from (
                f"{name}.{item.name}" for item in message.fields if item not in published_fields
            )
        for enum in self._own_enums.values():
            name = ".".join(enum.path)
            if name not in self._published.enums:
                yield name
                continue
            published_values = self._enum(enum).values
            yield from (
                f"{name}.{item.name}" for item in enum.values if item not in published_values
            )

    def protocol(self) -> Protocol:
        protocol, schema = self._protocol, self._protocol.schema
        messages = {
            name: self._message(item) for name, item in schema.messages.items() if self._has(name)
        }
        enums = {name: self._enum(item) for name, item in schema.enums.items() if self._has(name)}
        arms = {(item.message, arm.name) for item in self._unions(messages) for arm in item.arms}
        roles = self._roles(messages)
        return replace(
            protocol,
            schema=Schema(messages, enums, schema.own),
            roles=roles,
            unions=tuple(self._unions(messages)),
            calls=tuple(
                call
                for call in protocol.calls
                if (roles.request.full_name, call.request.name) in arms
                and (not call.response or (roles.response.full_name, call.response.name) in arms)
            ),
            events=tuple(
                event
                for event in protocol.events
                if (roles.event.full_name, event.arm.name) in arms
            ),
            enums=tuple(
                self._bound(item) for item in protocol.enums if self._has(item.enum.full_name)
            ),
        )

    def _unions(self, messages: Mapping[str, Message]) -> Iterator[Oneof]:
        for union in self._protocol.unions:
            message = messages.get(union.message)
            oneofs = message.oneofs if message else ()
            yield from (item for item in oneofs if item.name == union.name and item.arms)

    def _roles(self, messages: Mapping[str, Message]) -> Roles:
        roles = self._protocol.roles
        event, request, response = (
            self._role(item, messages) for item in (roles.event, roles.request, roles.response)
        )
        envelope = self._role(roles.envelope, messages) if roles.envelope else None
        return replace(roles, envelope=envelope, event=event, request=request, response=response)

    def _role(self, role: RoleMessage, messages: Mapping[str, Message]) -> RoleMessage:
        message = messages.get(role.full_name)
        if message is None:
            return NO_MESSAGE
        oneof = next(item for item in message.oneofs if item.name == role.oneof.name)
        return role_message(message, oneof, tuple(arm for arm in role.arms if arm in oneof.arms))

    def _has(self, full_name: str) -> bool:
        if full_name in self._own:
            return ".".join(self._own[full_name].path) in self._published.messages
        if full_name in self._own_enums:
            return ".".join(self._own_enums[full_name].path) in self._published.enums
        return True

    def _message(self, message: Message) -> Message:
        if message.full_name not in self._own:
            return message
        names = self._published.messages.get(".".join(message.path), frozenset())
        fields = tuple(
            item
            for item in message.fields
            if item.name in names and (not item.value.type_name or self._has(item.value.type_name))
        )
        oneofs = tuple(
            replace(oneof, arms=tuple(arm for arm in oneof.arms if arm in fields))
            for oneof in message.oneofs
        )
        return replace(message, fields=fields, oneofs=oneofs)

    def _enum(self, enum: Enum) -> Enum:
        if enum.full_name not in self._own_enums:
            return enum
        names = self._published.enums.get(".".join(enum.path), frozenset())
        return replace(enum, values=tuple(item for item in enum.values if item.name in names))

    def _bound(self, bound: BoundEnum) -> BoundEnum:
        enum = self._enum(bound.enum)
        numbers = {item.number for item in enum.values}
        bindings = {
            sdk: replace(
                item, pairs=tuple(pair for pair in item.pairs if pair[1].number in numbers)
            )
            for sdk, item in bound.bindings.items()
        }
        fallback = bound.fallback if bound.fallback in enum.values else None
        return BoundEnum(enum, fallback, bindings)
