"""Carried messages: what the arms of a role can hold, at any depth.

In: a Protocol. Out: the protocol's own messages, in order of declaration.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessiongen.ir.protocol import Protocol
from sessiongen.ir.roles import union
from sessiongen.ir.schema import Message


def carried(protocol: Protocol) -> list[Message]:
    """Return the protocol's own messages that events and responses can hold, in order."""
    names = reached(protocol, [protocol.roles.event, protocol.roles.response])
    return [item for item in protocol.schema.own_messages() if item.full_name in names]


def reached(protocol: Protocol, roles: Sequence[Message]) -> set[str]:
    """Return the names of the protocol's own messages that the arms of roles can hold."""
    schema = protocol.schema
    own = {item.full_name for item in schema.own_messages()}
    todo = [arm.value.type_name for role in roles for arm in union(role).arms]
    found: set[str] = set()
    while todo:
        name = todo.pop()
        if name in own and name not in found:
            found.add(name)
            todo += [field.value.type_name for field in schema.messages[name].fields]
    return found
