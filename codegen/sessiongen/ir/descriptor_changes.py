"""Compares two versions of a protocol's descriptors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    EnumDescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)


def changes(old: Iterable[FileDescriptorProto], new: Iterable[FileDescriptorProto]) -> list[str]:
    """Returns a line for each element that was added, removed or changed.

    Elements inside an added or removed message are not listed.
    """
    before, after = _elements(old), _elements(new)
    lines = []
    for name in sorted({*before, *after}):
        if _outer(name) in before.keys() ^ after.keys():
            continue
        if name not in before:
            lines.append(f"added   {name}: {after[name]}")
        elif name not in after:
            lines.append(f"removed {name}: {before[name]}")
        elif before[name] != after[name]:
            lines.append(f"changed {name}: {before[name]} -> {after[name]}")
    return lines


def _outer(name: str) -> str:
    return name.rpartition(".")[0]


def _elements(files: Iterable[FileDescriptorProto]) -> dict[str, str]:
    """Returns a description of each message, field, enum and value by its full name."""
    elements: dict[str, str] = {}
    for file in files:
        prefix = f"{file.package}." if file.package else ""
        for message in file.message_type:
            elements.update(_message(message, prefix))
        for enum in file.enum_type:
            elements.update(_enum(enum, prefix))
    return elements


def _message(message: DescriptorProto, prefix: str) -> Iterator[tuple[str, str]]:
    name = f"{prefix}{message.name}"
    yield name, "message"
    entries = {item.name: item for item in message.nested_type if item.options.map_entry}
    for field in message.field:
        yield f"{name}.{field.name}", _field(field, message, entries)
    for nested in message.nested_type:
        if not nested.options.map_entry:
            yield from _message(nested, f"{name}.")
    for enum in message.enum_type:
        yield from _enum(enum, f"{name}.")


def _field(
    field: FieldDescriptorProto, message: DescriptorProto, entries: dict[str, DescriptorProto]
) -> str:
    entry = entries.get(field.type_name.rpartition(".")[2])
    if entry is not None:
        kind = f"map<{', '.join(_type(item) for item in entry.field)}>"
    else:
        kind = f"{_label(field)}{_type(field)}"
    location = ""
    if field.HasField("oneof_index") and not field.proto3_optional:
        location = f" in oneof {message.oneof_decl[field.oneof_index].name}"
    return f"{kind}, number {field.number}{location}"


def _label(field: FieldDescriptorProto) -> str:
    if field.label == field.LABEL_REPEATED:
        return "repeated "
    if field.label == field.LABEL_REQUIRED:
        return "required "
    return "optional " if field.proto3_optional else ""


def _type(field: FieldDescriptorProto) -> str:
    name = FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower()
    return field.type_name.removeprefix(".") or name


def _enum(enum: EnumDescriptorProto, prefix: str) -> Iterator[tuple[str, str]]:
    name = f"{prefix}{enum.name}"
    yield name, "enum"
    for value in enum.value:
        yield f"{name}.{value.name}", f"value {value.number}"
