"""Finds what Python code fills the fields of messages from."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from sessiongen.vocabulary.model import FieldSource
from sessiongen.vocabulary.python.constructions import ConstructionBuilder
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.python.source_reader import SourceReader
from sessiongen.vocabulary.source_text import SourceText


def field_sources(
    modules: Modules, module: Module, constructions: Iterable[ConstructionBuilder]
) -> Iterator[FieldSource]:
    """Yields the source of each field that a module fills, where it can be described."""
    readers: dict[int, SourceReader] = {}
    for construction in constructions:
        function = construction.function
        if id(function) not in readers:
            readers[id(function)] = SourceReader(modules, module, function)
        reader = readers[id(function)]
        for name, value in construction.assigned:
            source = reader.describe(value)
            if construction.open and (source is None or not (source.is_value or source.constant)):
                # It takes the place of the value that would be copied.
                source = SourceText(constant=ast.unparse(value))
            if source is not None and (source.is_value or source.constant):
                source = source.only_if(reader.conditions(value, construction.node))
                place = module.place(value)
                yield source.of_field(construction.message, name, construction.within, place)
