"""Finds what TypeScript code fills the fields of messages from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from sessiongen.vocabulary.model import FieldSource
from sessiongen.vocabulary.typescript.conditions import extra_conditions
from sessiongen.vocabulary.typescript.constructions import ConstructionBuilder
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
            source = reader.describe(value)
            if source is not None and (source.path or source.constant):
                source = source.only_if(extra_conditions(value, construction.node))
                place = file.place(value)
                yield source.of_field(construction.message, name, construction.within, place)
