"""Maps messages to the SDK classes that they are encoded from, and fields to their fields.

Names are compared in snake_case; a unit at the end of the SDK's name is ignored (`delayMs`).
The annotations `sdk_class` and `sdk_field` map names that differ.
"""

from __future__ import annotations

from sessiongen.frontend.annotations import Annotated, Annotation
from sessiongen.ir.name_case import snake
from sessiongen.ir.schema import Field, Message
from sessiongen.vocabulary.model import FieldFact, Record, Vocabulary

# Suffixes for units in the names of an SDK's fields.
_UNITS = ("_ms", "_in_s")


def find_record(message: Message, annotated: Annotated, vocabulary: Vocabulary) -> Record | None:
    """Returns the class of a message: with its name, or its name and "Event"."""
    annotation = annotated.get(message.full_name, "sdk_class")
    name = message.path[-1]
    for candidate in split(annotation) if annotation else [name, f"{name}Event"]:
        for record in vocabulary.records:
            if record.name.casefold() == candidate.casefold():
                return record
    return None


def find_field(
    message: Message, field: Field, annotated: Annotated, record: Record | None
) -> FieldFact | None:
    """Returns the field of a class that fills a field of its message."""
    names = {snake(name) for name in source_names(message, field, annotated)}
    facts = record.fields if record else ()
    return next((item for item in facts if spellings(item) & names), None)


def source_names(message: Message, field: Field, annotated: Annotated) -> list[str]:
    """Returns the possible names of a field's source: the field's name, unless annotated."""
    annotation = annotated.get(f"{message.full_name}.{field.name}", "sdk_field")
    return split(annotation) if annotation else [field.name]


def spellings(fact: FieldFact) -> set[str]:
    """Returns the names in snake_case that match a field of a class."""
    name = snake(fact.name)
    return {name, *(name.removesuffix(unit) for unit in _UNITS)}


def split(annotation: Annotation) -> list[str]:
    """Returns the names in an annotation, which are separated by commas."""
    return [name.strip() for name in annotation.value.split(",")]
