"""Finds what TypeScript code fills the fields of messages from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.model import FieldSource
from sessiongen.vocabulary.source_text import SourceText, only
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.conditions import extra_conditions
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.source_reader import SourceReader


def field_sources(
    modules: Modules, file: File, constructions: Iterable[ConstructionBuilder]
) -> Iterator[FieldSource]:
    """Yields the source of each field that a file fills, where it can be described."""
    reader = SourceReader(modules, file)
    for construction in constructions:
        for name, value in construction.assigned:
            source = _describe(modules, reader, construction, value)
            if source is not None and (source.is_value or source.constant):
                source = source.only_if(extra_conditions(value, construction.node))
                place = construction.file_of(value, file).place(value)
                yield source.of_field(construction.message, name, construction.within, place)


def _describe(
    modules: Modules, reader: SourceReader, construction: ConstructionBuilder, value: Node
) -> SourceText | None:
    """Returns the source of a value; one in a called function is that of the call's argument."""
    origin = construction.origins.get(value.id)
    if origin is None or origin.call is None:
        return reader.describe(value)
    source = SourceReader(modules, origin.file).describe(value)
    arguments = [reader.describe(item) for item in syntax.arguments(origin.call)]
    argument = only(arguments)
    return source.inside(argument) if source and source.root and argument else source
