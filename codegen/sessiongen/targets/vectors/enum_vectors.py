"""The values of the protocol's enums, with the spelling of each SDK that has the enum."""

from __future__ import annotations

from collections.abc import Iterator

from sessiongen.ir.model import Model
from sessiongen.ir.protocol import BoundEnum
from sessiongen.targets.vectors.layout import Entry, json_file

FILE = "enums.json"


def enum_vectors(model: Model) -> dict[str, str]:
    """Returns the file of the enums' values."""
    entries = [entry for item in model.protocol.enums for entry in _values(item)]
    sdks = {item.sdk: item.version for item in model.protocol.vocabularies}
    return {FILE: json_file({"sdks": sdks}, "values", entries)}


def _values(bound: BoundEnum) -> Iterator[Entry]:
    """Yields the values of an enum.

    An alias is read like the value with its number that is declared first. Only that one is
    written, in JSON as well, and only that one has spellings.
    """
    written: dict[int, str] = {}
    for value in bound.enum.values:
        name = written.setdefault(value.number, value.name)
        yield {
            "enum": bound.enum.full_name,
            "name": value.name,
            "number": value.number,
            "json": name,
            "fallback": bound.fallback is not None and value.number == bound.fallback.number,
            "sdk": _spellings(bound, value.number) if name == value.name else {},
        }


def _spellings(bound: BoundEnum, number: int) -> dict[str, str]:
    return {
        sdk: literal
        for sdk, binding in bound.bindings.items()
        for literal, value in binding.pairs
        if value.number == number
    }
