"""Compares the arms of a oneof with the kinds of values for which an SDK's code fills them."""

from __future__ import annotations

from collections.abc import Iterator

from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.name_case import snake
from sessiongen.ir.record_mapping import find_record
from sessiongen.ir.schema import Field, Message, Schema
from sessiongen.vocabulary.behaviours import VARIANT
from sessiongen.vocabulary.model import Behaviour, Record, Vocabulary


class VariantComparison:
    """The kinds of values that fill the arms of a message in one SDK."""

    def __init__(
        self, message: Message, schema: Schema, annotated: Annotated, vocabulary: Vocabulary
    ) -> None:
        path = ".".join(message.path)
        self._schema = schema
        self._annotated = annotated
        self._vocabulary = vocabulary
        self._facts: dict[str, list[Behaviour]] = {}
        for item in vocabulary.behaviours:
            owner, _, field = item.subject.rpartition(".")
            if item.kind == VARIANT and owner == path:
                self._facts.setdefault(field, []).append(item)

    def faults(self, field: Field) -> Iterator[tuple[Behaviour, str]]:
        """Yields each place that fills an arm for another kind of value, and how it differs."""
        record = self._record(field) if field.oneof is not None else None
        for item in self._facts.get(field.name, ()) if record is not None else ():
            names = item.value.split(", ")
            records = [self._named(name) for name in names]
            # A class that is not read, such as a base class, says nothing; a tag is a constant.
            is_known = all(
                each or name.islower() for each, name in zip(records, names, strict=True)
            )
            if record is not None and is_known and set(records) != {record}:
                yield item, f"is filled for {item.value}, not for {record.name}"

    def compared(self, field: Field) -> list[str]:
        """Returns the ids of the differences that were looked for."""
        different = {item for item, _ in self.faults(field)}
        facts = self._facts.get(field.name, ()) if field.oneof is not None else ()
        return [f"variant {it.subject}: {it.within}" for it in facts if it not in different]

    def _record(self, field: Field) -> Record | None:
        message = self._schema.messages.get(field.value.type_name)
        return find_record(message, self._annotated, self._vocabulary) if message else None

    def _named(self, name: str) -> Record | None:
        """Returns the class of a name or a `type`."""
        record = self._vocabulary.record(name) or self._vocabulary.tagged(name)
        if record is not None:
            return record
        tags = (item for item in self._vocabulary.records if item.tag is not None)
        return next((item for item in tags if snake(item.tag or "") == snake(name)), None)
