"""Messages of any shape, by chance.

Comes in: a source of chance and a class of messages. Goes out: a message with whatever fields
chance would have it set, or the bytes of one that something has damaged.
"""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

# Beyond it messages stay empty.
_DEPTH = 5
_TEXTS = ["", "x", "grüß dich", "\0", "🎤" * 20, "x" * 300]
_NUMBERS = [0, 1, 2, 5, 77, (1 << 31) - 1]
_FLOATS = [0.0, -1.5, float("inf"), float("nan")]


def fill(message: Any, chance: random.Random, depth: int = _DEPTH) -> None:
    """Set some of a message's fields: of a oneof one arm, or none."""
    message.SetInParent()
    descriptor: Descriptor = message.DESCRIPTOR
    for field in descriptor.fields:
        odds = 0.8 / len(field.containing_oneof.fields) if field.containing_oneof else 0.4
        if chance.random() < odds:
            _set(message, field, chance, depth - 1)


def _set(message: Any, field: FieldDescriptor, chance: random.Random, depth: int) -> None:
    held = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        _set_entry(held, field.message_type, chance, depth)
    elif field.message_type is not None:
        repeated = hasattr(held, "add")
        for _ in range(chance.randint(1, 2) if repeated else 1):
            if depth > 0:
                fill(held.add() if repeated else held, chance, depth)
    elif hasattr(held, "append"):
        held.extend(_scalar(field, chance) for _ in range(chance.randint(0, 3)))
    else:
        setattr(message, field.name, _scalar(field, chance))


def _set_entry(held: Any, entry: Descriptor, chance: random.Random, depth: int) -> None:
    key = _scalar(entry.fields_by_name["key"], chance)
    value = entry.fields_by_name["value"]
    if value.message_type is None:
        held[key] = _scalar(value, chance)
    elif depth > 0:
        fill(held[key], chance, depth)


def _scalar(field: FieldDescriptor, chance: random.Random) -> object:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_STRING:
        text = chance.choice(_TEXTS)
        return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return chance.random() < 0.5
    if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        return chance.choice(_FLOATS)
    return chance.choice(_NUMBERS)


def damaged(body: bytes, chance: random.Random) -> bytes:
    """The same bytes, some of them flipped, cut out, doubled or put in."""
    data = bytearray(body)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(data) + 1)
        change = chance.randrange(4)
        if change == 0 and at < len(data):
            data[at] ^= 1 << chance.randrange(8)
        elif change == 1:
            del data[at : at + chance.randint(1, 8)]
        elif change == 2:
            data[at:at] = data[at : at + chance.randint(1, 16)]
        else:
            data[at:at] = chance.randbytes(chance.randint(1, 4))
    return bytes(data)
