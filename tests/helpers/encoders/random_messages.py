"""Hypothesis strategies for messages and models of a generated package.

The fractions of times are multiples of 1/512 second, which floats and nanoseconds represent
exactly. Enum values without a literal are not drawn. Neither are messages of a transparent oneof
without an arm, which a model cannot distinguish from None.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import filled_messages
from coders import Coder, Coders, element, is_map, is_well_known
from google.protobuf import json_format, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import strategies as st

DEPTH = 3
TICKS = 512
NANOS_A_TICK = 1_000_000_000 // TICKS
# The years 1 to 9999, and 10,000 years.
FIRST, LAST = -62_135_596_800, 253_402_300_799
SPAN = 315_576_000_000

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
json = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=5,
)
structs = st.dictionaries(text, json, max_size=3)
ticks = st.integers(0, TICKS - 1)
times = st.builds(lambda seconds, tick: seconds + tick / TICKS, st.integers(FIRST, LAST), ticks)
spans = st.integers(-SPAN * TICKS, SPAN * TICKS).map(lambda total: total / TICKS)

_FREE: dict[str, st.SearchStrategy[Any]] = {
    filled_messages.STRUCT: structs,
    filled_messages.VALUE: json,
    filled_messages.LIST: st.lists(json, max_size=3),
}
_SCALARS = {
    FieldDescriptor.CPPTYPE_INT32: st.integers(-(2**31), 2**31 - 1),
    FieldDescriptor.CPPTYPE_INT64: st.integers(-(2**63), 2**63 - 1),
    FieldDescriptor.CPPTYPE_UINT32: st.integers(0, 2**32 - 1),
    FieldDescriptor.CPPTYPE_UINT64: st.integers(0, 2**64 - 1),
    FieldDescriptor.CPPTYPE_BOOL: st.booleans(),
    FieldDescriptor.CPPTYPE_DOUBLE: st.floats(allow_nan=False),
    FieldDescriptor.CPPTYPE_FLOAT: st.floats(allow_nan=False, width=32),
}


@st.composite
def messages(draw: st.DrawFn, coders: Coders, name: str) -> Any:
    """Draws a message by its full name."""
    return _Messages(draw, coders).message(coders.by_name[name].message, DEPTH)


@st.composite
def models(draw: st.DrawFn, coders: Coders, name: str) -> Any:
    """Draws a model by the full name of its message."""
    return _Models(draw, coders).model(coders.by_name[name], DEPTH)


class _Draws:
    def __init__(self, draw: st.DrawFn, coders: Coders) -> None:
        self.draw = draw
        self.coders = coders

    def count(self) -> int:
        return int(self.draw(st.integers(0, 2)))

    def scalar(self, field: Any) -> Any:
        """Draws a value of a field that is not a message."""
        if field.enum_type is not None:
            return self.draw(st.sampled_from(self.numbers(field.enum_type)))
        if field.type == FieldDescriptor.TYPE_BYTES:
            return self.draw(st.binary(max_size=4))
        return self.draw(_SCALARS.get(field.cpp_type, text))

    def numbers(self, enum: Any) -> list[int]:
        if is_well_known(enum):
            return [item.number for item in enum.values]
        return list(self.coders.literals[enum.full_name])


class _Messages(_Draws):
    """Draws messages by their descriptors."""

    def message(self, class_: type[Any], depth: int) -> Any:
        message = class_()
        message.SetInParent()
        for field in self.chosen(class_.DESCRIPTOR, depth):
            self.set(message, field, depth)
        return message

    def chosen(self, descriptor: Any, depth: int) -> list[Any]:
        """Returns the fields to set: at most one of each oneof, exactly one of a transparent one."""
        coder = self.coders.by_name.get(descriptor.full_name)
        bare = coder is not None and coder.bare
        real = [item for item in descriptor.oneofs if not filled_messages.synthetic(item)]
        arms: list[Any] = [
            self.draw(st.sampled_from([*item.fields, *([] if bare else [None])])) for item in real
        ]
        fields = [item for item in descriptor.fields if item.containing_oneof not in real]
        some = [item for item in fields if self.must(item) or self.draw(st.booleans())]
        return [
            item
            for item in (*arms, *some)
            if item is not None and (bare or item.is_required or _fits(item, depth))
        ]

    def must(self, field: Any) -> bool:
        """Whether a field must be set: it is required, or its zero value has no literal."""
        if field.enum_type is None or field.has_presence or field.is_repeated:
            return bool(field.is_required)
        return 0 not in self.numbers(field.enum_type)

    def set(self, message: Any, field: Any, depth: int) -> None:
        target = getattr(message, field.name)
        if is_map(field):
            self.set_map(target, field.message_type.fields_by_name, depth)
        elif field.is_repeated:
            target.extend(self.value(field, depth) for _ in range(self.count()))
        elif field.message_type is not None:
            target.SetInParent()
            target.CopyFrom(self.submessage(field, depth))
        else:
            setattr(message, field.name, self.scalar(field))

    def set_map(self, target: Any, entry: Any, depth: int) -> None:
        for _ in range(self.count()):
            key, value = self.scalar(entry["key"]), self.value(entry["value"], depth)
            if entry["value"].message_type is not None:
                target[key].CopyFrom(value)
            else:
                target[key] = value

    def value(self, field: Any, depth: int) -> Any:
        return self.scalar(field) if field.message_type is None else self.submessage(field, depth)

    def submessage(self, field: Any, depth: int) -> Any:
        """Draws the message of a field."""
        name = field.message_type.full_name
        class_ = message_factory.GetMessageClass(field.message_type)
        if name == filled_messages.TIMESTAMP:
            seconds = self.draw(st.integers(FIRST, LAST))
            return class_(seconds=seconds, nanos=self.draw(ticks) * NANOS_A_TICK)
        if name == filled_messages.DURATION:
            total = self.draw(st.integers(-SPAN * TICKS, SPAN * TICKS))
            sign = -1 if total < 0 else 1
            seconds, rest = divmod(abs(total), TICKS)
            return class_(seconds=sign * seconds, nanos=sign * rest * NANOS_A_TICK)
        if name in _FREE:
            return json_format.ParseDict(self.draw(_FREE[name]), class_())
        return self.message(class_, depth - 1)


def _fits(field: Any, depth: int) -> bool:
    """Whether a field is set at this depth."""
    return depth > 0 or element(field).message_type is None


class _Models(_Draws):
    """Draws models by their type hints; the fields determine the range of numbers."""

    def model(self, coder: Coder, depth: int) -> Any:
        if coder.bare:
            return self.hinted(coder.model, None, depth)
        hints = get_type_hints(coder.model)
        values: dict[str, Any] = {}
        set_oneofs = set()
        for name, field in coder.members():
            if field is None and get_origin(hints[name]) is Literal:
                continue
            oneof = field.containing_oneof if field is not None else None
            if (
                oneof is not None
                and not filled_messages.synthetic(oneof)
                and oneof.name in set_oneofs
            ):
                values[name] = None
                continue
            values[name] = self.hinted(hints[name], field, depth)
            if oneof is not None and values[name] is not None:
                set_oneofs.add(oneof.name)
        return coder.model(**values)

    def hinted(self, hint: Any, field: Any, depth: int) -> Any:
        """Draws a value that a type hint allows."""
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, types.UnionType):
            return self.one_of(arguments, field, depth)
        if origin is tuple:
            return tuple(self.elements(arguments[0], field, depth))
        if origin is Literal:
            return self.draw(st.sampled_from(arguments))
        if origin is not None and issubclass(origin, Mapping):
            return self.mapping(arguments, field, depth)
        for coder in self.coders.by_name.values():
            if coder.model is hint:
                return self.model(coder, depth - 1)
        if isinstance(hint, type) and issubclass(hint, Message):
            return _Messages(self.draw, self.coders).submessage(element(field), 1)
        return self.single(element(field))

    def one_of(self, hints: tuple[Any, ...], field: Any, depth: int) -> Any:
        options = [item for item in hints if depth > 0 or not is_dataclass(item)]
        chosen = self.draw(st.sampled_from(options))
        return None if chosen is type(None) else self.hinted(chosen, field, depth)

    def elements(self, hint: Any, field: Any, depth: int) -> list[Any]:
        """Draws elements; None only if it is a literal of the enum."""
        if depth <= 0 and any(is_dataclass(item) for item in (hint, *get_args(hint))):
            return []
        drawn = [self.hinted(hint, field, depth) for _ in range(self.count())]
        literal = any(get_origin(item) is Literal for item in get_args(hint))
        return [item for item in drawn if literal or item is not None]

    def mapping(self, hints: tuple[Any, ...], field: Any, depth: int) -> Any:
        if not is_map(field):
            return self.draw(structs)
        entry = field.message_type.fields_by_name
        values = self.elements(hints[1], entry["value"], depth)
        return {self.scalar(entry["key"]): value for value in values}

    def single(self, field: Any) -> Any:
        if field.message_type is not None:
            return self.draw(
                times if field.message_type.full_name == filled_messages.TIMESTAMP else spans
            )
        if field.enum_type is not None and not is_well_known(field.enum_type):
            return self.draw(
                st.sampled_from(list(self.coders.literals[field.enum_type.full_name].values()))
            )
        return self.scalar(field)
