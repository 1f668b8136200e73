"""Reads annotations: facts about a protocol that its descriptors do not contain.

Annotations are custom options in the .proto or entries of codegen.toml. The options are
removed from the descriptors, so that generated code does not depend on them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

from sessiongen.frontend.compiler import ANNOTATIONS_FILE, Compiled
from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.frontend.elements import elements

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

    by_element: by full name of the element and name of the annotation.
    files: the descriptors without annotations.
    """

    by_element: dict[tuple[str, str], Annotation]
    files: tuple[_File, ...]
    diagnostics: tuple[Diagnostic, ...]

    def get(self, element: str, name: str) -> Annotation | None:
        """Returns an element's annotation, or None."""
        return self.by_element.get((element, name))


SpanOf = Callable[[str, tuple[int, ...]], Span]


def read(compiled: Compiled, config: Config, span_of: SpanOf) -> Annotated:
    """Collects the annotations of a protocol and strip them from its descriptors."""
    reader = _OptionReader(compiled)
    by_element: dict[tuple[str, str], Annotation] = {}
    files = []
    for original in compiled.files:
        if original.name == ANNOTATIONS_FILE:
            continue
        file = original
        # A file may import the annotations through another file that imports them publicly.
        if original.name in compiled.own and reader.has_annotations:
            file = _File()
            file.CopyFrom(original)
            for annotation in reader.strip(file, span_of):
                by_element[annotation.element, annotation.name] = annotation
            if ANNOTATIONS_FILE in file.dependency:
                _remove_annotations_import(file)
        files.append(file)
    return configured(Annotated(by_element, tuple(files), ()), config)


def configured(annotated: Annotated, config: Config) -> Annotated:
    """Returns annotations with those of a configuration added."""
    by_element = dict(annotated.by_element)
    diagnostics = _add_configured(by_element, list(annotated.files), config)
    return Annotated(by_element, annotated.files, tuple(diagnostics))


class _OptionReader:
    """Reads custom options with a descriptor pool of its own.

    In the default pool the options are unknown fields, and other packages may have
    registered extensions with the same numbers.
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
    def has_annotations(self) -> bool:
        """Whether the protocol imports the annotations."""
        return bool(self._classes)

    def strip(self, file: _File, span_of: SpanOf) -> list[Annotation]:
        """Removes the annotations from a file's elements and returns them."""
        annotations = []
        for element, path, holder in elements(file):
            full_name = holder.options.DESCRIPTOR.full_name
            if not holder.HasField("options"):
                continue
            options: Any = self._classes[full_name].FromString(holder.options.SerializeToString())
            for extension in self._extensions[full_name]:
                if options.HasExtension(extension):
                    value = options.Extensions[extension]
                    options.ClearExtension(extension)
                    span = span_of(file.name, path)
                    kind = _EXTENDED[full_name]
                    annotations.append(Annotation(element, kind, extension.name, value, span))
            data = options.SerializeToString()
            holder.options.ParseFromString(data)
            if not data:
                holder.ClearField("options")
        return annotations


def _remove_annotations_import(file: _File) -> None:
    """Removes the import of the annotations and correct the indexes of other imports."""
    removed = list(file.dependency).index(ANNOTATIONS_FILE)
    del file.dependency[removed]
    for indexes in (file.public_dependency, file.weak_dependency):
        remaining = [index - (index > removed) for index in indexes if index != removed]
        del indexes[:]
        indexes.extend(remaining)


_KINDS = {
    "response": "field",
    "role": "field",
    "sdk_event": "field",
    "sdk_class": "message",
    "sdk_field": "field",
    "sdk_enum": "enum",
    "unknown": "enum",
    "sdk_value": "enum value",
}


def _add_configured(
    by_element: dict[tuple[str, str], Annotation], files: list[_File], config: Config
) -> list[Diagnostic]:
    """Adds the annotations of codegen.toml; reports those of unknown elements."""
    if not config.annotations:
        return []
    kinds = {
        name: _EXTENDED[holder.options.DESCRIPTOR.full_name]
        for file in files
        for name, _, holder in elements(file)
    }
    siblings = {_sibling_name(name): name for name, kind in kinds.items() if kind == "enum value"}
    faults = []
    for (element, name), configured in config.annotations.items():
        if element not in kinds:
            element = siblings.get(element, element)
        kind, allowed_kind = kinds.get(element), _KINDS[name]
        if kind == allowed_kind:
            span = config.span(configured.key_path)
            by_element[element, name] = Annotation(
                element, allowed_kind, name, configured.value or "", span
            )
            continue
        fault = (
            f"the annotation names {element!r}, which the protocol does not have"
            if kind is None
            else f"{element!r} is {_with_article(kind)}; "
            f"{name!r} is for {_with_article(allowed_kind)}"
        )
        help_ = "write the full name, with the proto package: package.Message.field"
        if kind is None and config.input.messages is not None:
            help_ += f"; or install a version of {config.input.messages} that has it"
        faults.append(Diagnostic(config.span(configured.key_path), Rule.ANNOTATION, fault, help_))
    return faults


def _sibling_name(value: str) -> str:
    """Returns the name that protobuf gives an enum value: values are siblings of their enum."""
    scope, _, name = value.rpartition(".")
    package = scope.rpartition(".")[0]
    return f"{package}.{name}" if package else name


def _with_article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
