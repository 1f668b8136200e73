"""Fills messages field by field from their descriptors.

A message is not filled inside another message of its type, nor below the deepest level, so that
recursive types end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor, OneofDescriptor

from sessiongen.ir.schema import Oneof
from sessiongen.targets.vectors.field_values import Style

# Parsers reject messages at a depth of 100; tests do not need that many levels.
_DEEPEST = 16


class Filler:
    """Fills messages in one style. oneofs: the real oneofs of the protocol."""

    def __init__(self, style: Style, oneofs: Iterable[Oneof]) -> None:
        self._style = style
        self._oneofs = {(item.message, item.name) for item in oneofs}
        self._open: list[str] = []

    def fill(self, message: Any, number: int, arm: FieldDescriptor | None = None) -> None:
        """Fills a message.

        number: the number of the field that contains it.
        arm: the arm to set of its oneof; of any other oneof the first one is set.
        """
        descriptor = message.DESCRIPTOR
        well_known = self._style.well_known.get(descriptor.full_name)
        if well_known is not None:
            well_known(message, number)
            return
        self._open.append(descriptor.full_name)
        for field in self._chosen(descriptor, arm):
            self._fill_field(message, field)
        self._open.pop()

    def _chosen(
        self, descriptor: Descriptor, arm: FieldDescriptor | None
    ) -> Iterator[FieldDescriptor]:
        """Yields the fields to set in order of their numbers."""
        skip = self._style.skips_optional
        for field in sorted(descriptor.fields, key=lambda item: item.number):
            oneof = self._oneof(field)
            if oneof is not None:
                is_arm_oneof = arm is not None and oneof == arm.containing_oneof
                if field == (arm if is_arm_oneof else oneof.fields[0]):
                    yield field
            elif self._style.skips_optional and self._is_optional(field):
                if not skip:
                    yield field
                skip = not skip
            else:
                yield field

    def _fill_field(self, message: Any, field: FieldDescriptor) -> None:
        if _is_map(field):
            self._fill_map(getattr(message, field.name), field)
        elif field.message_type is not None:
            self._fill_messages(message, field)
        elif field.is_repeated and _has_no_json(field):
            return
        elif field.is_repeated:
            getattr(message, field.name).extend(self._style.several(field, field))
        elif self._style.skips_optional and self._is_optional(field):
            setattr(message, field.name, field.default_value)
        else:
            setattr(message, field.name, self._style.single(field, field))

    def _fill_map(self, entries: Any, field: FieldDescriptor) -> None:
        key, value = (message_type(field).fields_by_name[name] for name in ("key", "value"))
        count = self._style.map_entries if key.type == key.TYPE_STRING else 1
        for index, name in enumerate(self._style.several(key, field)[:count]):
            if value.message_type is not None and self._fits(value):
                self.fill(entries[name], field.number)
            elif value.message_type is None and count == 1:
                entries[name] = self._style.single(value, field)
            elif value.message_type is None:
                entries[name] = self._style.several(value, field)[index]

    def _fill_messages(self, message: Any, field: FieldDescriptor) -> None:
        if field.is_repeated:
            if self._fits(field):
                self._fill_list(getattr(message, field.name), field)
            return
        fits = self._fits(field)
        if fits or self._oneof(field):
            getattr(message, field.name).SetInParent()
        if fits:
            self.fill(getattr(message, field.name), field.number)

    def _fill_list(self, elements: Any, field: FieldDescriptor) -> None:
        """Adds a message for each arm of its oneof, or one if it has none."""
        arms: list[FieldDescriptor | None] = [*self._arms(message_type(field))]
        for arm in arms or [None]:
            self.fill(elements.add(), field.number, arm)
        if self._style.unset_arms and arms:
            fill_required(elements.add())

    def _arms(self, descriptor: Descriptor) -> list[FieldDescriptor]:
        """Returns the arms of a message's first oneof."""
        oneofs = [item for item in descriptor.oneofs if self._oneof(item.fields[0])]
        return list(oneofs[0].fields) if oneofs else []

    def _oneof(self, field: FieldDescriptor) -> OneofDescriptor | None:
        """Returns the oneof that declares a field; None for the synthetic one of `optional`."""
        oneof = field.containing_oneof
        if oneof is None or (oneof.containing_type.full_name, oneof.name) not in self._oneofs:
            return None
        return oneof

    def _is_optional(self, field: FieldDescriptor) -> bool:
        """Whether a field is a single scalar that can be absent."""
        can_be_absent = field.has_presence and not field.is_required and self._oneof(field) is None
        return can_be_absent and field.message_type is None

    def _fits(self, field: FieldDescriptor) -> bool:
        """Whether the message of a field may be filled here."""
        name = message_type(field).full_name
        return name not in self._open and len(self._open) < _DEEPEST


def fill_required(message: Any, depth: int = 0) -> None:
    """Sets the required fields of proto2, without which a message is not valid."""
    for field in message.DESCRIPTOR.fields:
        if field.is_required and field.message_type is None:
            setattr(message, field.name, field.default_value)
        elif field.is_required and depth < _DEEPEST:
            getattr(message, field.name).SetInParent()
            fill_required(getattr(message, field.name), depth + 1)


def message_type(field: FieldDescriptor) -> Descriptor:
    """Returns the type of the messages of a field."""
    assert field.message_type is not None
    return field.message_type


def _has_no_json(field: FieldDescriptor) -> bool:
    """Whether JSON parsers reject a list of these elements."""
    enum = field.enum_type
    return enum is not None and enum.full_name == "google.protobuf.NullValue"


def _is_map(field: FieldDescriptor) -> bool:
    """Whether a field is a map."""
    entry = field.message_type
    return entry is not None and bool(entry.GetOptions().map_entry)
