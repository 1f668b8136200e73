"""Lists the messages of a schema that can have a role."""

from __future__ import annotations

from collections.abc import Iterable

from sessiongen.ir.schema import Message, Schema

_ROLES = ("event", "request", "response")


def unions(schema: Schema) -> list[Message]:
    """Returns the protocol's own messages with a oneof, but for those that only options contain."""
    in_options = schema.option_types | contained(schema, schema.option_types)
    others = contained(schema, schema.messages.keys() - in_options)
    return [
        item
        for item in schema.own_messages()
        if item.oneofs and (item.full_name not in in_options or item.full_name in others)
    ]


def plain_payloads(schema: Schema, union: Message) -> set[str]:
    """Returns the full names of a union's payloads that have no role, although they are named so.

    They are several of one role, such as OpenRequest and SeekRequest, and not all of them are
    unions, as they would be in an envelope.
    """
    names = {arm.value.type_name for oneof in union.oneofs for arm in oneof.arms}
    by_role = [{name for name in names if name.lower().endswith(role)} for role in _ROLES]
    payloads = [schema.messages.get(name) for name in set().union(*by_role)]
    if all(item is not None and item.oneofs for item in payloads):
        return set()
    return {name for of_role in by_role if len(of_role) > 1 for name in of_role}


def contained(schema: Schema, names: Iterable[str]) -> set[str]:
    """Returns the full names of the messages that fields of these messages can contain."""
    pending = [_fields(schema, name) for name in names]
    found: set[str] = set()
    while pending:
        for name in pending.pop():
            if name in schema.messages and name not in found:
                found.add(name)
                pending.append(_fields(schema, name))
    return found


def _fields(schema: Schema, name: str) -> list[str]:
    return [item.value.type_name for item in schema.messages[name].fields]
