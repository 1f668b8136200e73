"""Annotations: facts about a protocol that its descriptors do not hold.

They are custom options in the .proto or entries of codegen.toml. The options are removed from
the descriptors, so that generated code does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from sessiongen.frontend.compiler import ANNOTATIONS_FILE, Compiled
from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, Rule, Span

_File = descriptor_pb2.FileDescriptorProto
_EXTENDED = {
    "google.protobuf.MessageOptions": "message",
    "google.protobuf.FieldOptions": "field",
    "google.protobuf.EnumOptions": "enum",
    "google.protobuf.EnumValueOptions": "enum value",
}


@dataclass(frozen=True)
class Annotation:
    """One annotation.

    element: the full name of what is annotated. kind: such as "field" or "enum value".
    span: the element in its file, or the key in codegen.toml.
    """

    element: str
    kind: str
    name: str
    value: str
    span: Span


@dataclass(frozen=True)
class Annotated:
    """The annotations of a protocol.

    found: by full name of the element and name of the annotation.
    files: the descriptors without annotations.
    """

    found: dict[tuple[str, str], Annotation]
    files: tuple[_File, ...]
    diagnostics: tuple[Diagnostic, ...]

    def get(self, element: str, name: str) -> Annotation | None:
        """Return an element's annotation, or None."""
        return self.found.get((element, name))


Place = Callable[[str, tuple[int, ...]], Span]


def read(compiled: Compiled, config: Config, place: Place) -> Annotated:
    """Collect the annotations of a protocol and strip them from its descriptors."""
    reader = _OptionReader(compiled)
    found: dict[tuple[str, str], Annotation] = {}
    files = []
    for original in compiled.files:
        if original.name == ANNOTATIONS_FILE:
            continue
        item = original
        # Options may come through an import that imports the annotations publicly.
        if original.name in compiled.own and reader.known:
            item = _File()
            item.CopyFrom(original)
            for annotation in reader.strip(item, place):
                found[annotation.element, annotation.name] = annotation
            if ANNOTATIONS_FILE in item.dependency:
                _drop_import(item)
        files.append(item)
    diagnostics = _overlay(found, files, config)
    return Annotated(found, tuple(files), tuple(diagnostics))


class _OptionReader:
    """Reads custom options with the extensions' own descriptors.

    The options of the default pool keep ours as unknown fields; a pool of its own
    lets this process run beside any other user of the same extension numbers.
    """

    def __init__(self, compiled: Compiled) -> None:
        by_name = {item.name: item for item in compiled.files}
        self._classes: dict[str, type[Message]] = {}
        self._extensions: dict[str, list[Any]] = {}
        if ANNOTATIONS_FILE not in by_name:
            return
        pool = descriptor_pool.DescriptorPool()
        for name in ("google/protobuf/descriptor.proto", ANNOTATIONS_FILE):
            pool.Add(by_name[name])
        extensions = pool.FindFileByName(ANNOTATIONS_FILE).extensions_by_name.values()
        for full_name in _EXTENDED:
            descriptor = pool.FindMessageTypeByName(full_name)
            self._classes[full_name] = message_factory.GetMessageClass(descriptor)
            self._extensions[full_name] = [
                item for item in extensions if item.containing_type == descriptor
            ]

    @property
    def known(self) -> bool:
        """Whether the protocol imports the annotations at all."""
        return bool(self._classes)

    def strip(self, file: _File, place: Place) -> list[Annotation]:
        """Take our options out of a file's elements and return them."""
        found = []
        for element, path, holder in elements(file):
            full_name = holder.options.DESCRIPTOR.full_name
            if not holder.HasField("options"):
                continue
            options: Any = self._classes[full_name].FromString(holder.options.SerializeToString())
            for extension in self._extensions[full_name]:
                if options.HasExtension(extension):
                    value = options.Extensions[extension]
                    options.ClearExtension(extension)
                    span = place(file.name, path)
                    kind = _EXTENDED[full_name]
                    found.append(Annotation(element, kind, extension.name, value, span))
            data = options.SerializeToString()
            holder.options.ParseFromString(data)
            if not data:
                holder.ClearField("options")
        return found


def elements(file: _File) -> Iterator[tuple[str, tuple[int, ...], Any]]:
    """Yield (full name, source path, descriptor) of each element that can be annotated."""
    prefix = f"{file.package}." if file.package else ""
    for index, message in enumerate(file.message_type):
        yield from _of_message(message, prefix, (4, index))
    for index, enum in enumerate(file.enum_type):
        yield from _of_enum(enum, prefix, (5, index))


def _of_message(
    message: descriptor_pb2.DescriptorProto, prefix: str, path: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...], Any]]:
    name = f"{prefix}{message.name}"
    yield name, path, message
    for index, member in enumerate(message.field):
        yield f"{name}.{member.name}", (*path, 2, index), member
    for index, nested in enumerate(message.nested_type):
        yield from _of_message(nested, f"{name}.", (*path, 3, index))
    for index, enum in enumerate(message.enum_type):
        yield from _of_enum(enum, f"{name}.", (*path, 4, index))


def _of_enum(
    enum: descriptor_pb2.EnumDescriptorProto, prefix: str, path: tuple[int, ...]
) -> Iterator[tuple[str, tuple[int, ...], Any]]:
    name = f"{prefix}{enum.name}"
    yield name, path, enum
    for index, value in enumerate(enum.value):
        yield f"{name}.{value.name}", (*path, 2, index), value


def _drop_import(file: _File) -> None:
    """Remove the import of the annotations; other files are named by their index."""
    gone = list(file.dependency).index(ANNOTATIONS_FILE)
    del file.dependency[gone]
    for indexes in (file.public_dependency, file.weak_dependency):
        kept = [index - (index > gone) for index in indexes if index != gone]
        del indexes[:]
        indexes.extend(kept)


_KINDS = {
    "response": "field",
    "sdk_event": "field",
    "sdk_class": "message",
    "sdk_field": "field",
    "sdk_enum": "enum",
    "unknown": "enum",
    "sdk_value": "enum value",
}


def _overlay(
    found: dict[tuple[str, str], Annotation], files: list[_File], config: Config
) -> list[Diagnostic]:
    """Add codegen.toml's annotations; one that names nothing is a fault."""
    if not config.annotations:
        return []
    kinds = {
        name: _EXTENDED[holder.options.DESCRIPTOR.full_name]
        for file in files
        for name, _, holder in elements(file)
    }
    faults = []
    for (element, name), given in config.annotations.items():
        kind, wanted = kinds.get(element), _KINDS[name]
        if kind == wanted:
            span = config.span(given.key_path)
            found[element, name] = Annotation(element, wanted, name, given.value or "", span)
            continue
        fault = (
            f"the annotation names {element!r}, which is not in the protocol"
            if kind is None
            else f"{element!r} is {_article(kind)}; {name!r} belongs on {_article(wanted)}"
        )
        help_ = "write the full name, with the proto package: package.Message.field"
        faults.append(Diagnostic(config.span(given.key_path), Rule.ANNOTATION, fault, help_))
    return faults


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
