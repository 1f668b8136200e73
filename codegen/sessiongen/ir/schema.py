"""The schema: the elements of the descriptors with docs and positions, as immutable values.

Synthetic oneofs (proto3 `optional`) are not oneofs here, and map entries are not messages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum as PythonEnum
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    FileDescriptor,
    OneofDescriptor,
)

from sessiongen.diagnostics import Span
from sessiongen.frontend.source_map import SourceMap

Path = tuple[int, ...]


class Kind(str, PythonEnum):
    """The kind of a single value of a field."""

    BOOL = "bool"
    INT = "int"
    FLOAT = "float"
    STRING = "string"
    BYTES = "bytes"
    ENUM = "enum"
    MESSAGE = "message"


@dataclass(frozen=True)
class Value:
    """One value: its kind, and the full name of its enum or message type.

    range: the values that an integer can have, as the name of a type such as "int32".
    """

    kind: Kind
    type_name: str = ""
    range: str = field(default="", compare=False)


@dataclass(frozen=True)
class Field:
    """A field.

    value: the value of one element if the field is repeated or a map.
    presence: whether an absent field differs from one with the default value.
    required: a proto2 `required` field.
    implicit_presence: declared with implicit presence, like single scalars in proto3.
    checked_utf8: whether protobuf refuses a string that is not UTF-8, as in proto3.
    key: the kind of a map's keys; None if the field is not a map.
    """

    name: str
    number: int
    value: Value
    repeated: bool
    key: Kind | None
    presence: bool
    required: bool
    implicit_presence: bool
    checked_utf8: bool
    oneof: str | None
    docs: str
    span: Span


@dataclass(frozen=True)
class Oneof:
    """A real oneof: its arms in order of declaration, and its message.

    main: whether it is the first oneof of the message. Generated names of the first oneof are
        made from the message's name alone, so that adding a second oneof renames nothing.
    """

    name: str
    message: str
    arms: tuple[Field, ...]
    main: bool
    docs: str
    span: Span


@dataclass(frozen=True)
class Message:
    """A message. path: the names from the outermost message to this one."""

    full_name: str
    path: tuple[str, ...]
    file: str
    fields: tuple[Field, ...]
    oneofs: tuple[Oneof, ...]
    docs: str
    span: Span

    def outside(self) -> tuple[Field, ...]:
        """Returns the fields that are in no real oneof."""
        return tuple(item for item in self.fields if item.oneof is None)


@dataclass(frozen=True)
class EnumValue:
    """A value of an enum. Aliases are separate values with an equal number."""

    name: str
    number: int
    docs: str
    span: Span


@dataclass(frozen=True)
class Enum:
    """An enum. path: the names from the outermost message to this enum."""

    full_name: str
    path: tuple[str, ...]
    file: str
    values: tuple[EnumValue, ...]
    docs: str
    span: Span


@dataclass(frozen=True)
class Schema:
    """Every message and enum by full name.

    own: the protocol's own files, in order.
    option_types: the full names of the types of custom options.
    """

    messages: Mapping[str, Message]
    enums: Mapping[str, Enum]
    own: tuple[str, ...]
    option_types: frozenset[str] = frozenset()

    def zero_values(self) -> frozenset[str]:
        """Returns the names of the values of enums whose number is zero."""
        values = (value for enum in self.enums.values() for value in enum.values)
        return frozenset(value.name for value in values if value.number == 0)

    def own_messages(self) -> list[Message]:
        """Returns the protocol's own messages in order of declaration."""
        return [item for item in self.messages.values() if item.file in self.own]


def build(
    files: tuple[descriptor_pb2.FileDescriptorProto, ...],
    own: tuple[str, ...],
    source_map: SourceMap,
) -> Schema:
    """Returns the schema of descriptors that link."""
    pool = descriptor_pool.DescriptorPool()
    reader = _SchemaReader(source_map)
    for item in files:
        pool.Add(item)
        reader.file(pool.FindFileByName(item.name), item)
    return Schema(reader.messages, reader.enums, own, frozenset(reader.option_types))


class Locations:
    """Docs and positions of a file's elements by source path."""

    def __init__(self, file: descriptor_pb2.FileDescriptorProto, source_map: SourceMap) -> None:
        self.file = file
        self._source_map = source_map
        self._by_path = {tuple(item.path): item for item in file.source_code_info.location}

    def span(self, path: Path) -> Span:
        """Returns the position of an element's declaration."""
        location = self._by_path.get(path)
        if location is None or len(location.span) < 2:
            return self._source_map.span(self.file.name)
        return self._source_map.span(self.file.name, location.span[0], location.span[1])

    def docs(self, path: Path) -> str:
        """Returns the leading comment of an element, or its trailing one if there is none."""
        location = self._by_path.get(path)
        if location is None:
            return ""
        return clean(location.leading_comments or location.trailing_comments)


def clean(comment: str) -> str:
    """Returns a comment without common indentation, trailing spaces and outer blank lines."""
    lines = [line.rstrip() for line in comment.replace("\r\n", "\n").split("\n")]
    indents = [len(line) - len(line.lstrip(" ")) for line in lines if line]
    indent = min(indents, default=0)
    return "\n".join(line[indent:] for line in lines).strip("\n")


class _SchemaReader:
    """Reads linked descriptors; collects messages and enums in order of declaration."""

    def __init__(self, source_map: SourceMap) -> None:
        self.source_map = source_map
        self.messages: dict[str, Message] = {}
        self.enums: dict[str, Enum] = {}
        self.option_types: set[str] = set()

    def file(self, file: FileDescriptor, proto: descriptor_pb2.FileDescriptorProto) -> None:
        locations = Locations(proto, self.source_map)
        self.option_types.update(_option_types(file.extensions_by_name.values()))
        for index, enum in enumerate(proto.enum_type):
            self._enum(file.enum_types_by_name[enum.name], (5, index), locations, ())
        for index, message in enumerate(proto.message_type):
            descriptor = file.message_types_by_name[message.name]
            self._message(descriptor, message, (4, index), locations, ())

    def _message(
        self,
        message: Descriptor,
        proto: descriptor_pb2.DescriptorProto,
        path: Path,
        locations: Locations,
        outer: tuple[str, ...],
    ) -> None:
        names = (*outer, message.name)
        self.option_types.update(_option_types(message.extensions))
        synthetic = {item.oneof_index for item in proto.field if item.proto3_optional}
        real = [item for item in message.oneofs if item.index not in synthetic]
        oneofs = {item.name for item in real}
        fields = tuple(
            _field(
                item,
                proto.field[index],
                oneofs,
                locations,
                (*path, 2, index),
            )
            for index, item in enumerate(message.fields)
        )
        self.messages[message.full_name] = Message(
            full_name=message.full_name,
            path=names,
            file=message.file.name,
            fields=fields,
            oneofs=tuple(
                _oneof(item, fields, locations, (*path, 8, item.index), item is real[0])
                for item in real
            ),
            docs=locations.docs(path),
            span=locations.span(path),
        )
        for index, enum in enumerate(message.enum_types):
            self._enum(enum, (*path, 4, index), locations, names)
        for index, nested in enumerate(proto.nested_type):
            if not nested.options.map_entry:
                descriptor = message.nested_types_by_name[nested.name]
                self._message(descriptor, nested, (*path, 3, index), locations, names)

    def _enum(
        self, enum: EnumDescriptor, path: Path, locations: Locations, outer: tuple[str, ...]
    ) -> None:
        values = tuple(
            EnumValue(
                item.name, item.number, locations.docs(value_path), locations.span(value_path)
            )
            for index, item in enumerate(enum.values)
            for value_path in [(*path, 2, index)]
        )
        self.enums[enum.full_name] = Enum(
            full_name=enum.full_name,
            path=(*outer, enum.name),
            file=enum.file.name,
            values=values,
            docs=locations.docs(path),
            span=locations.span(path),
        )


def _option_types(extensions: Iterable[FieldDescriptor]) -> Iterator[str]:
    """Yields the full names of the messages that are values of custom options."""
    for item in extensions:
        extended = item.containing_type
        is_option = extended is not None and extended.full_name.startswith("google.protobuf.")
        if is_option and item.message_type is not None:
            yield item.message_type.full_name


def _oneof(
    oneof: OneofDescriptor, fields: tuple[Field, ...], locations: Locations, path: Path, main: bool
) -> Oneof:
    return Oneof(
        name=oneof.name,
        message=oneof.containing_type.full_name,
        arms=tuple(item for item in fields if item.oneof == oneof.name),
        main=main,
        docs=locations.docs(path),
        span=locations.span(path),
    )


def _has_implicit_presence(
    file: descriptor_pb2.FileDescriptorProto, field: descriptor_pb2.FieldDescriptorProto
) -> bool:
    """Whether a field's declaration, or its file's features, give it implicit presence."""
    if file.syntax == "editions":
        return _features(file, field).field_presence == descriptor_pb2.FeatureSet.IMPLICIT
    single = field.label != field.LABEL_REPEATED and field.type != field.TYPE_MESSAGE
    return file.syntax == "proto3" and single and not field.proto3_optional


def _has_checked_utf8(
    file: descriptor_pb2.FileDescriptorProto, field: descriptor_pb2.FieldDescriptorProto
) -> bool:
    if file.syntax == "editions":
        return _features(file, field).utf8_validation != descriptor_pb2.FeatureSet.NONE
    return file.syntax == "proto3"


def _features(
    file: descriptor_pb2.FileDescriptorProto, field: descriptor_pb2.FieldDescriptorProto
) -> descriptor_pb2.FeatureSet:
    """Returns the features that the file and the field set."""
    features = descriptor_pb2.FeatureSet()
    features.CopyFrom(file.options.features)
    features.MergeFrom(field.options.features)
    return features


def _field(
    field: FieldDescriptor,
    proto: descriptor_pb2.FieldDescriptorProto,
    oneofs: set[str],
    locations: Locations,
    path: Path,
) -> Field:
    entry = field.message_type if field.type == FieldDescriptor.TYPE_MESSAGE else None
    is_map = entry is not None and entry.GetOptions().map_entry
    element = entry.fields_by_name["value"] if is_map and entry is not None else field
    key = _kind(entry.fields_by_name["key"]) if is_map and entry is not None else None
    oneof = field.containing_oneof
    return Field(
        name=field.name,
        number=field.number,
        value=_value(element),
        repeated=field.is_repeated and not is_map,
        key=key,
        presence=field.has_presence,
        required=field.is_required,
        implicit_presence=_has_implicit_presence(locations.file, proto),
        checked_utf8=_has_checked_utf8(locations.file, proto),
        oneof=oneof.name if oneof is not None and oneof.name in oneofs else None,
        docs=locations.docs(path),
        span=locations.span(path),
    )


def _value(field: FieldDescriptor) -> Value:
    if field.message_type is not None:
        return Value(Kind.MESSAGE, field.message_type.full_name)
    if field.enum_type is not None:
        return Value(Kind.ENUM, field.enum_type.full_name)
    return Value(_kind(field), range=_RANGES.get(field.cpp_type, ""))


_RANGES: dict[Any, str] = {
    FieldDescriptor.CPPTYPE_INT32: "int32",
    FieldDescriptor.CPPTYPE_INT64: "int64",
    FieldDescriptor.CPPTYPE_UINT32: "uint32",
    FieldDescriptor.CPPTYPE_UINT64: "uint64",
}
_KINDS: dict[Any, Kind] = {
    FieldDescriptor.CPPTYPE_BOOL: Kind.BOOL,
    FieldDescriptor.CPPTYPE_DOUBLE: Kind.FLOAT,
    FieldDescriptor.CPPTYPE_FLOAT: Kind.FLOAT,
    FieldDescriptor.CPPTYPE_INT32: Kind.INT,
    FieldDescriptor.CPPTYPE_INT64: Kind.INT,
    FieldDescriptor.CPPTYPE_UINT32: Kind.INT,
    FieldDescriptor.CPPTYPE_UINT64: Kind.INT,
}


def _kind(field: FieldDescriptor) -> Kind:
    if field.type == FieldDescriptor.TYPE_BYTES:
        return Kind.BYTES
    return _KINDS.get(field.cpp_type, Kind.STRING)
