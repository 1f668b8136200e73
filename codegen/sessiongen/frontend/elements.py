"""Lists the elements of a file: messages, fields, enums, values and oneofs, with their source paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from google.protobuf import descriptor_pb2

_File = descriptor_pb2.FileDescriptorProto


def elements(file: _File) -> Iterator[tuple[str, tuple[int, ...], Any]]:
    """Yields (full name, source path, descriptor) of each element that can be annotated."""
    prefix = f"{file.package}." if file.package else ""
    for index, message in enumerate(file.message_type):
        yield from _message_elements(message, prefix, (4, index))
    for index, enum in enumerate(file.enum_type):
        yield from _enum_elements(enum, prefix, (5, index))


def _message_elements(
    message: descriptor_pb2.DescriptorProto, prefix: str, path: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...], Any]]:
    name = f"{prefix}{message.name}"
    yield name, path, message
    for index, member in enumerate(message.field):
        yield f"{name}.{member.name}", (*path, 2, index), member
    for index, nested in enumerate(message.nested_type):
        yield from _message_elements(nested, f"{name}.", (*path, 3, index))
    for index, enum in enumerate(message.enum_type):
        yield from _enum_elements(enum, f"{name}.", (*path, 4, index))


def _enum_elements(
    enum: descriptor_pb2.EnumDescriptorProto, prefix: str, path: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...], Any]]:
    name = f"{prefix}{enum.name}"
    yield name, path, enum
    for index, value in enumerate(enum.value):
        yield f"{name}.{value.name}", (*path, 2, index), value


def oneofs(file: _File) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yields (full name, source path) of each oneof."""
    for name, path, holder in elements(file):
        if isinstance(holder, descriptor_pb2.DescriptorProto):
            for index, oneof in enumerate(holder.oneof_decl):
                yield f"{name}.{oneof.name}", (*path, 8, index)
