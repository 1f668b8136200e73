"""Builds messages with every field set, and the Python arguments that make them.

They are built from protobuf's own descriptors, without the generator.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from datetime import timezone
from typing import Any

from google.protobuf import descriptor_pb2, json_format
from google.protobuf.descriptor import FieldDescriptor

# The depth to which nested messages are filled.
DEPTH = 3
TIMESTAMP, DURATION = "google.protobuf.Timestamp", "google.protobuf.Duration"
STRUCT, ANY = "google.protobuf.Struct", "google.protobuf.Any"
VALUE, LIST = "google.protobuf.Value", "google.protobuf.ListValue"
SINGLE = {TIMESTAMP, DURATION, STRUCT, ANY, VALUE}

_DATA = {"k": 1.0, "deep": {"list": [1.0, "two", None, True, {"x": -0.5}]}, "": "é"}
_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: -(2**31),
    FieldDescriptor.CPPTYPE_INT64: -(2**63),
    FieldDescriptor.CPPTYPE_UINT32: 2**32 - 1,
    FieldDescriptor.CPPTYPE_UINT64: 2**64 - 1,
}


def nested(messages: Iterable[Any]) -> Iterator[Any]:
    """Yields message descriptors and those nested in them, except map entries."""
    for message in messages:
        if not message.GetOptions().map_entry:
            yield message
            yield from nested(message.nested_types)


def synthetic(oneof: Any) -> bool:
    """Whether a oneof is protoc's form of a proto3 `optional` field."""
    proto = descriptor_pb2.DescriptorProto()
    oneof.containing_type.CopyToProto(proto)
    optional = {item.name for item in proto.field if item.proto3_optional}
    return any(item.name in optional for item in oneof.fields)


def union(class_: type[Any]) -> Any:
    """Returns the oneof of a message that is a union."""
    return next(item for item in class_.DESCRIPTOR.oneofs if not synthetic(item))


def filled(class_: type[Any], arm: Any, empty: Any = None) -> Any:
    """Returns a message with every field set, and of `arm`'s oneof that arm.

    empty: a oneof of which no arm is set.
    """
    message = class_()
    message.CopyFrom(_prototype(class_, DEPTH))
    if empty is not None:
        message.ClearField(empty.name)
    if arm is not None:
        message.ClearField(arm.containing_oneof.name)
        _set(message, arm, DEPTH)
    return message


def fill(message: Any, depth: int) -> None:
    """Sets every field of a message; fields that are messages only up to a depth."""
    for item in message.DESCRIPTOR.fields:
        if depth > 0 or item.message_type is None or item.is_required:
            _set(message, item, depth)
    message.SetInParent()


def _set(message: Any, item: Any, depth: int) -> None:
    target = getattr(message, item.name)
    if _is_map(item):
        _set_map(target, item.message_type, depth)
    elif item.message_type is not None:
        for element in [target.add(), target.add()] if item.is_repeated else [target]:
            element.CopyFrom(_prototype(type(element), depth - 1))
    elif item.is_repeated:
        target.extend([scalar(item), scalar(item)])
    else:
        setattr(message, item.name, scalar(item))


def _set_map(target: Any, entry: Any, depth: int) -> None:
    key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
    for map_key in {scalar(key), type(scalar(key))()}:
        if value.message_type is not None:
            target[map_key].CopyFrom(_prototype(type(target[map_key]), depth - 1))
        else:
            target[map_key] = scalar(value)


_prototypes: dict[tuple[type[Any], int], Any] = {}


def _prototype(class_: type[Any], depth: int) -> Any:
    """Returns a filled message, which callers copy."""
    message = _prototypes.get((class_, depth))
    if message is None:
        message = _prototypes[class_, depth] = class_()
        _fill_message(message, depth)
    return message


def _fill_message(message: Any, depth: int) -> None:
    name = message.DESCRIPTOR.full_name
    if name == TIMESTAMP:
        message.seconds, message.nanos = 1_700_000_000, 123_456_000
    elif name == DURATION:
        message.seconds, message.nanos = -5, -250_000_000
    elif name == STRUCT:
        json_format.ParseDict(_DATA, message)
    elif name == VALUE:
        message.string_value = "free"
    elif name == LIST:
        message.values.add().number_value = 1.0
        message.values.add().string_value = "two"
    elif name == ANY:
        message.type_url, message.value = "type.example.org/x", b"\x01"
    else:
        fill(message, depth)
    message.SetInParent()


def scalar(item: Any) -> Any:
    """Returns a value of a field's type that differs from the default."""
    if item.enum_type is not None:
        return item.enum_type.values[-1].number
    if item.type == FieldDescriptor.TYPE_BYTES:
        return b"\x00\xff\"'\\"
    if item.cpp_type == FieldDescriptor.CPPTYPE_STRING:
        return f'{item.name} "\\ é 🎙\n'
    if item.cpp_type == FieldDescriptor.CPPTYPE_BOOL:
        return True
    return _INTEGERS.get(item.cpp_type, 0.25)


def value_of(descriptor: Any, name: str) -> Any:
    """Returns a value for the scalar field of a name."""
    return scalar(descriptor.fields_by_name[name])


def _is_map(item: Any) -> bool:
    return bool(item.message_type is not None and item.message_type.GetOptions().map_entry)


# ---------------------------------------------------------------------------------------
# Natural Python values.


def natural(message: Any, item: Any) -> Any:
    """Returns a field's value as a Python argument; None if it is not set."""
    if item.has_presence and not message.HasField(item.name):
        return None
    value = getattr(message, item.name)
    if _is_map(item):
        return {key: plain(element) for key, element in value.items()}
    if item.is_repeated:
        return [plain(element) for element in value]
    return plain(value)


def plain(value: Any) -> Any:
    """Returns a single value in its natural form."""
    name = value.DESCRIPTOR.full_name if hasattr(value, "DESCRIPTOR") else ""
    if name == TIMESTAMP:
        return value.ToDatetime(tzinfo=timezone.utc)
    if name == DURATION:
        return value.ToTimedelta()
    if name == STRUCT:
        return json_format.MessageToDict(value)
    return value


def arguments(
    method: Any, message: Any, arm: Any, special: set[Any], own: frozenset[str] = frozenset()
) -> dict[str, Any]:
    """Returns the keyword arguments with which a generated method builds `message`.

    special: fields of the message for which the method has no parameter.
    own: parameters of the method that are not fields.
    """
    names = set(inspect.signature(method).parameters) - own
    keywords: dict[str, Any] = {}
    for item in message.DESCRIPTOR.fields:
        outside = item.containing_oneof is None or item.containing_oneof != arm.containing_oneof
        if outside and item.name not in special:
            keywords[_parameter(item.name, names, keywords)] = natural(message, item)
    payload = getattr(message, arm.name)
    if arm.message_type is None or arm.message_type.full_name in SINGLE:
        keywords[_parameter("value", names, keywords)] = plain(payload)
        return keywords
    for item in payload.DESCRIPTOR.fields:
        keywords[_parameter(item.name, names, keywords)] = natural(payload, item)
    assert names == set(keywords)
    return keywords


def _parameter(name: str, names: set[str], used: dict[str, Any]) -> str:
    start = f"f{name}" if name.startswith("__") else name
    free = (f"{start}{'_' * count}" for count in range(4))
    return next(item for item in free if item in names and item not in used)


# ---------------------------------------------------------------------------------------
# The wire format.


def varint(number: int) -> bytes:
    """Returns a base-128 varint."""
    parts = []
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes([*parts, number])


def delimited(number: int, payload: bytes) -> bytes:
    """Returns a length-delimited field."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def free_number(class_: type[Any]) -> int:
    """Returns a large field number that no field of a message has."""
    used = {item.number for item in class_.DESCRIPTOR.fields}
    return next(item for item in range(500_000_007, 500_000_099) if item not in used)
