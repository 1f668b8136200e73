"""The encoders, decoders and models of a generated package, found as a reader would.

In: a package. Out: a Coder for each message that events and responses carry, and which
field of the message each member of its model stands for. Nothing here reads the generator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from package_walk import Modules


@dataclass(frozen=True)
class Coder:
    """One message of a package, and what encodes and decodes it.

    model: its class in models.py, or the alias of a union.
    """

    message: type[Any]
    encode: Callable[[Any], Any]
    fill: Callable[[Any, Any], None]
    decode: Callable[[Any], Any]
    model: Any

    @property
    def bare(self) -> bool:
        """Whether the message is nothing but a choice, which models know as a union."""
        return not isinstance(self.model, type)

    def members(self) -> Iterator[tuple[str, Any]]:
        """Yield each name of the model's class, and its field; None for a choice or a tag."""
        names = [item.name for item in dataclasses.fields(self.model)]
        fields: dict[str, Any] = {}
        for field in self.message.DESCRIPTOR.fields:
            start = f"f{field.name}" if field.name.startswith("__") else field.name
            spellings = (f"{start}{'_' * count}" for count in range(4))
            fields[next((item for item in spellings if item in names), "")] = field
        yield from ((name, fields.get(name)) for name in names)


@dataclass(frozen=True)
class Coders:
    """The coders of a package by the full name of the message, and what enums spell.

    words: by full name of an enum, the numbers that have a word, and the words.
    """

    by_name: Mapping[str, Coder]
    words: Mapping[str, Mapping[int, Any]]


def coders(package: Modules, words: Mapping[str, Mapping[int, Any]] | None = None) -> Coders:
    """Return the coders of a package; by default the words of enums are published names."""
    encoders, decoders = package.module("encoders"), package.module("decoders")
    found = {}
    for name, decode in vars(decoders).items():
        if name.startswith("decode_"):
            hints = get_type_hints(decode)
            part = name.removeprefix("decode_")
            found[hints["message"].DESCRIPTOR.full_name] = Coder(
                hints["message"],
                getattr(encoders, f"encode_{part}"),
                getattr(encoders, f"fill_{part}"),
                decode,
                hints["return"],
            )
    return Coders(found, words or _published(found.values()))


def _published(found: Any) -> dict[str, dict[int, str]]:
    """Return the first name of each number of the enums that messages speak of."""
    return {
        enum.full_name: {item.number: item.name for item in reversed(enum.values)}
        for coder in found
        for field in coder.message.DESCRIPTOR.fields
        for enum in [element(field).enum_type]
        if enum is not None and not is_well_known(enum)
    }


def is_map(field: Any) -> bool:
    """Whether a field is a map."""
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)


def element(field: Any) -> Any:
    """Return what says the type of one value: the field itself, or a map's value."""
    return field.message_type.fields_by_name["value"] if is_map(field) else field


def is_well_known(descriptor: Any) -> bool:
    """Whether a message or enum is one of protobuf's own."""
    return str(descriptor.file.name).startswith("google/protobuf/")
