"""Finds the messages and enums that are reachable from the arms of a role."""

from __future__ import annotations

from collections.abc import Sequence

from sessiongen.ir.protocol import Protocol
from sessiongen.ir.roles import RoleMessage
from sessiongen.ir.schema import Kind, Message


def sent_by_host(protocol: Protocol) -> list[Message]:
    """Returns the messages reachable from events and responses, in order of declaration."""
    names = reachable(protocol, [protocol.roles.event, protocol.roles.response])
    return [item for item in protocol.schema.own_messages() if item.full_name in names]


def reachable(protocol: Protocol, roles: Sequence[RoleMessage]) -> set[str]:
    """Returns the full names of the protocol's own messages reachable from the arms of roles."""
    schema = protocol.schema
    own = {item.full_name for item in schema.own_messages()}
    pending = [arm.value.type_name for role in roles for arm in role.arms]
    names: set[str] = set()
    while pending:
        name = pending.pop()
        if name in own and name not in names:
            names.add(name)
            pending += [field.value.type_name for field in schema.messages[name].fields]
    return names


def reachable_enums(protocol: Protocol) -> set[str]:
    """Returns the full names of the enums in messages reachable from the roles."""
    roles = protocol.roles
    holders = [*roles.messages(), *([roles.envelope] if roles.envelope else [])]
    schema = protocol.schema
    messages = [schema.messages[name] for name in reachable(protocol, holders)]
    fields = [field for item in (*holders, *messages) for field in item.fields]
    return {field.value.type_name for field in fields if field.value.kind is Kind.ENUM}
