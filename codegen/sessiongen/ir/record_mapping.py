"""Finds the SDK class that a message is made from, and the field that fills each of its fields.

Names are compared in snake_case; a unit at the end of the SDK's name is ignored (`delayMs`).
The annotations `sdk_class` and `sdk_field` map names that differ.
"""

from __future__ import annotations

from sessiongen.frontend.annotations import Annotated, Annotation
from sessiongen.ir.name_case import snake
from sessiongen.ir.schema import Field, Message
from sessiongen.vocabulary.model import FieldFact, Record, Vocabulary

# How SDKs that count in other units say so.
_UNITS = ("_ms", "_in_s")


def find_record(message: Message, annotated: Annotated, vocabulary: Vocabulary) -> Record | None:
    """Return the class that a message is made from: of its name, or of that and "Event"."""
    note = annotated.get(message.full_name, "sdk_class")
    name = message.path[-1]
    for candidate in split(note) if note else [name, f"{name}Event"]:
        for record in vocabulary.records:
            if record.name.casefold() == candidate.casefold():
                return record
    return None


def find_field(
    message: Message, field: Field, annotated: Annotated, record: Record | None
) -> FieldFact | None:
    """Return the field of a class that fills a field of its message."""
    names = {snake(name) for name in source_names(message, field, annotated)}
    facts = record.fields if record else ()
    return next((item for item in facts if spellings(item) & names), None)


def source_names(message: Message, field: Field, annotated: Annotated) -> list[str]:
    """Return the names that a field's source may have: its own unless it is annotated."""
    note = annotated.get(f"{message.full_name}.{field.name}", "sdk_field")
    return split(note) if note else [field.name]


def spellings(fact: FieldFact) -> set[str]:
    """Return the names that a field of a class is known by."""
    name = snake(fact.name)
    return {name, *(name.removesuffix(unit) for unit in _UNITS)}


def split(note: Annotation) -> list[str]:
    """Return the names that an annotation joins by commas."""
    return [name.strip() for name in note.value.split(",")]
