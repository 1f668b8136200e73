"""The values of single fields in saturated and in edge messages.

A saturated value depends on the field's number or name, so that a value in the wrong field is
noticed. All floating-point values are exact in binary and short in decimal, so that their JSON
is the same in each language.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import FieldDescriptor

# Letters of one, two, three and four bytes in UTF-8.
UNICODE = "z\u00e9\u20ac\U0001f642"

_F = FieldDescriptor
# The smallest value of signed types and the largest of unsigned ones: the longest varints.
_EXTREME = {
    _F.TYPE_INT32: -(2**31),
    _F.TYPE_SINT32: -(2**31),
    _F.TYPE_SFIXED32: -(2**31),
    _F.TYPE_INT64: -(2**63),
    _F.TYPE_SINT64: -(2**63),
    _F.TYPE_SFIXED64: -(2**63),
    _F.TYPE_UINT32: 2**32 - 1,
    _F.TYPE_FIXED32: 2**32 - 1,
    _F.TYPE_UINT64: 2**64 - 1,
    _F.TYPE_FIXED64: 2**64 - 1,
    _F.TYPE_DOUBLE: 5e-324,
    _F.TYPE_FLOAT: float("-inf"),
    _F.TYPE_STRING: UNICODE,
    _F.TYPE_BYTES: b"\x00\xff",
}


@dataclass(frozen=True)
class Style:
    """How the fields of a kind of message are filled.

    single: the value of a field, or of a map's key or value; it may depend on the number and
        name of the second field, which for a map is the map's own.
    several: the two elements of a list, or the keys and the values of a map.
    map_entries: how many entries a map with text as its keys has. Other maps have one, since
        not all languages keep the order of such keys.
    skips_optional: leave out every second scalar field that can be absent, beginning with the
        first, and give the others their default.
    unset_arms: add a message with no arm set to a list of messages with a oneof.
    well_known: the contents of messages with a special JSON form, by full name; they may depend
        on the number of the field.
    """

    single: Callable[[FieldDescriptor, FieldDescriptor], Any]
    several: Callable[[FieldDescriptor, FieldDescriptor], Sequence[Any]]
    map_entries: int
    skips_optional: bool
    unset_arms: bool
    well_known: Mapping[str, Callable[[Any, int], None]]


def _saturated(field: FieldDescriptor, named: FieldDescriptor) -> Any:
    if field.cpp_type == _F.CPPTYPE_STRING:
        return named.name.encode() if field.type == _F.TYPE_BYTES else named.name
    return _saturated_pair(field, named)[0]


def _saturated_pair(field: FieldDescriptor, named: FieldDescriptor) -> Sequence[Any]:
    if field.type == _F.TYPE_BOOL:
        return True, False
    if field.enum_type is not None:
        values = field.enum_type.values
        return values[-1].number, values[0].number
    texts = (f"{named.name} 1", f"{named.name} 2")
    if field.type == _F.TYPE_STRING:
        return texts
    if field.type == _F.TYPE_BYTES:
        return [text.encode() for text in texts]
    fraction = 0.5 if field.cpp_type in (_F.CPPTYPE_DOUBLE, _F.CPPTYPE_FLOAT) else 0
    return 1000 + named.number + fraction, 2000 + named.number + fraction


def _edge(field: FieldDescriptor, named: FieldDescriptor) -> Any:
    return _EXTREME[field.type] if field.type in _EXTREME else _zero(field)


def _edge_pair(field: FieldDescriptor, named: FieldDescriptor) -> Sequence[Any]:
    return _zero(field), _edge(field, named)


def _zero(field: FieldDescriptor) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values[0].number
    if field.cpp_type == _F.CPPTYPE_STRING:
        return b"" if field.type == _F.TYPE_BYTES else ""
    return False if field.type == _F.TYPE_BOOL else 0


def _saturated_timestamp(message: Any, number: int) -> None:
    message.seconds, message.nanos = 1_700_000_000 + number, 123_456_789


def _edge_timestamp(message: Any, number: int) -> None:
    """One nanosecond before a whole second, before 1970."""
    message.seconds, message.nanos = -2, 999_999_999


def _saturated_duration(message: Any, number: int) -> None:
    message.seconds, message.nanos = number, 250_000_000


def _edge_duration(message: Any, number: int) -> None:
    message.seconds, message.nanos = -1, -1


def _saturated_struct(message: Any, number: int) -> None:
    message.fields["flag"].bool_value = True
    message.fields["list"].list_value.values.add().string_value = "item"
    message.fields["nothing"].null_value = 0
    message.fields["number"].number_value = number + 0.5
    message.fields["object"].struct_value.fields["inside"].string_value = "text"


def _edge_struct(message: Any, number: int) -> None:
    inside = message.fields[""].struct_value.fields
    inside[UNICODE].list_value.SetInParent()


def _null(message: Any, number: int) -> None:
    message.null_value = 0


def _number(message: Any, number: int) -> None:
    message.number_value = number + 0.5


def _one_text(message: Any, number: int) -> None:
    message.values.add().string_value = "item"


def _one_null(message: Any, number: int) -> None:
    message.values.add().null_value = 0


def _paths(message: Any, number: int) -> None:
    message.paths.extend(["first", "second.third"])


def _nothing(message: Any, number: int) -> None:
    """Leaves a message as it is: any content of it would need more than the schema."""


SATURATED = Style(
    _saturated,
    _saturated_pair,
    map_entries=2,
    skips_optional=False,
    unset_arms=False,
    well_known={
        "google.protobuf.Any": _nothing,
        "google.protobuf.Duration": _saturated_duration,
        "google.protobuf.FieldMask": _paths,
        "google.protobuf.ListValue": _one_text,
        "google.protobuf.Struct": _saturated_struct,
        "google.protobuf.Timestamp": _saturated_timestamp,
        "google.protobuf.Value": _number,
    },
)
EDGE = Style(
    _edge,
    _edge_pair,
    # Implementations differ in whether they sort a text before one that begins with it.
    map_entries=1,
    skips_optional=True,
    unset_arms=True,
    well_known={
        "google.protobuf.Any": _nothing,
        "google.protobuf.Duration": _edge_duration,
        "google.protobuf.FieldMask": _nothing,
        "google.protobuf.ListValue": _one_null,
        "google.protobuf.Struct": _edge_struct,
        "google.protobuf.Timestamp": _edge_timestamp,
        "google.protobuf.Value": _null,
    },
)
