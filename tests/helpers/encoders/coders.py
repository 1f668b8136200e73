"""The encoders, decoders and models of a generated package, found by type hints.

Nothing here uses the generator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, get_type_hints

from package_walk import Modules


@dataclass(frozen=True)
class Coder:
    """A message of a package, with its encoder, decoder and model.

    model: its class in models.py, or the alias of a union.
    """

    message: type[Any]
    encode: Callable[[Any], Any]
    fill: Callable[[Any, Any], None]
    decode: Callable[[Any], Any]
    model: Any

    @property
    def bare(self) -> bool:
        """Whether the message is only a oneof, which is a union in models.py."""
        return not isinstance(self.model, type)

    def members(self) -> Iterator[tuple[str, Any]]:
        """Yields each name of the model's class, and its field; None for a oneof or a tag."""
        names = [item.name for item in dataclasses.fields(self.model)]
        fields: dict[str, Any] = {}
        for field in self.message.DESCRIPTOR.fields:
            start = f"f{field.name}" if field.name.startswith("__") else field.name
            spellings = (f"{start}{'_' * count}" for count in range(4))
            fields[next((item for item in spellings if item in names), "")] = field
        yield from ((name, fields.get(name)) for name in names)


@dataclass(frozen=True)
class Coders:
    """The coders of a package by full name of the message, and the literals of its enums.

    literals: the literal of each number, by full name of the enum.
    """

    by_name: Mapping[str, Coder]
    literals: Mapping[str, Mapping[int, Any]]


def coders(package: Modules, literals: Mapping[str, Mapping[int, Any]] | None = None) -> Coders:
    """Returns the coders of a package; by default the literals are the names of the values."""
    encoders, decoders = package.module("encoders"), package.module("decoders")
    by_name = {}
    for name, decode in vars(decoders).items():
        if name.startswith("decode_"):
            hints = get_type_hints(decode)
            part = name.removeprefix("decode_")
            by_name[hints["message"].DESCRIPTOR.full_name] = Coder(
                hints["message"],
                getattr(encoders, f"encode_{part}"),
                getattr(encoders, f"fill_{part}"),
                decode,
                hints["return"],
            )
    return Coders(by_name, literals or _published(by_name.values()))


def _published(coders_: Any) -> dict[str, dict[int, str]]:
    """Returns the first name of each number of the enums in messages."""
    return {
        enum.full_name: {item.number: item.name for item in reversed(enum.values)}
        for coder in coders_
        for field in coder.message.DESCRIPTOR.fields
        for enum in [element(field).enum_type]
        if enum is not None and not is_well_known(enum)
    }


def is_map(field: Any) -> bool:
    """Whether a field is a map."""
    return bool(field.message_type is not None and field.message_type.GetOptions().map_entry)


def element(field: Any) -> Any:
    """Returns the field that has the type of one value: the field itself, or a map's value."""
    return field.message_type.fields_by_name["value"] if is_map(field) else field


def is_well_known(descriptor: Any) -> bool:
    """Whether a message or enum is one of protobuf's own."""
    return str(descriptor.file.name).startswith("google/protobuf/")
