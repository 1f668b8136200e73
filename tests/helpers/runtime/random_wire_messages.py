"""Random messages, and random damage to encoded messages."""

from __future__ import annotations

import random
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

# Messages nested more deeply stay empty.
_DEPTH = 5
_TEXTS = ["", "x", "grüß dich", "\0", "🎤" * 20, "x" * 300]
_NUMBERS = [0, 1, 2, 5, 77, (1 << 31) - 1]
_FLOATS = [0.0, -1.5, float("inf"), float("nan")]


def fill(message: Any, rng: random.Random, depth: int = _DEPTH) -> None:
    """Sets random fields of a message, at most one of each oneof."""
    message.SetInParent()
    descriptor: Descriptor = message.DESCRIPTOR
    for field in descriptor.fields:
        odds = 0.8 / len(field.containing_oneof.fields) if field.containing_oneof else 0.4
        if rng.random() < odds:
            _set(message, field, rng, depth - 1)


def _set(message: Any, field: FieldDescriptor, rng: random.Random, depth: int) -> None:
    current = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        _set_entry(current, field.message_type, rng, depth)
    elif field.message_type is not None:
        repeated = hasattr(current, "add")
        for _ in range(rng.randint(1, 2) if repeated else 1):
            if depth > 0:
                fill(current.add() if repeated else current, rng, depth)
    elif hasattr(current, "append"):
        current.extend(_scalar(field, rng) for _ in range(rng.randint(0, 3)))
    else:
        setattr(message, field.name, _scalar(field, rng))


def _set_entry(current: Any, entry: Descriptor, rng: random.Random, depth: int) -> None:
    key = _scalar(entry.fields_by_name["key"], rng)
    value = entry.fields_by_name["value"]
    if value.message_type is None:
        current[key] = _scalar(value, rng)
    elif depth > 0:
        fill(current[key], rng, depth)


def _scalar(field: FieldDescriptor, rng: random.Random) -> object:
    kind = field.cpp_type
    if kind == FieldDescriptor.CPPTYPE_STRING:
        text = rng.choice(_TEXTS)
        return text.encode() if field.type == FieldDescriptor.TYPE_BYTES else text
    if kind == FieldDescriptor.CPPTYPE_BOOL:
        return rng.random() < 0.5
    if kind in (FieldDescriptor.CPPTYPE_DOUBLE, FieldDescriptor.CPPTYPE_FLOAT):
        return rng.choice(_FLOATS)
    return rng.choice(_NUMBERS)


def damaged(body: bytes, rng: random.Random) -> bytes:
    """Returns bytes with some of them flipped, removed, repeated or inserted."""
    data = bytearray(body)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data) + 1)
        change = rng.randrange(4)
        if change == 0 and at < len(data):
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            del data[at : at + rng.randint(1, 8)]
        elif change == 2:
            data[at:at] = data[at : at + rng.randint(1, 16)]
        else:
            data[at:at] = rng.randbytes(rng.randint(1, 4))
    return bytes(data)
