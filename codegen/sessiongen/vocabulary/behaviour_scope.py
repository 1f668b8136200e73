"""Reads the part of a scope file that says where an SDK's other behaviour is defined."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.config.tables import Table, TableReader
from sessiongen.ir.roles import Roles

BEHAVIOUR_KEYS = ("parts", "timeouts", "texts")
# The units of a timeout, with the number of them in a second.
UNITS = {"s": 1.0, "ms": 1000.0}


@dataclass(frozen=True)
class Parts:
    """A class of texts with several parts.

    class_name: the class. names: its parts. fields: the fields of messages that such a text
    fills, as `Message.field`.
    """

    class_name: str
    names: tuple[str, ...]
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Timeout:
    """The timeout of a request: the parameter's name, and the unit of its value."""

    parameter: str
    unit: str


@dataclass(frozen=True)
class WrittenText:
    """A text in a document that the SDK writes, such as a report.

    name: what it is. definition: the function, or `Class.method`, that writes the document.
    key: the text's key in it. enum: the proto enum whose names the text may be.
    """

    name: str
    definition: str
    key: str
    enum: str


@dataclass(frozen=True)
class BehaviourScope:
    """What is read beside the fields of messages.

    message_fields: the fields of the protocol's messages, as `Message.field`.
    repeated: the repeated ones among them.
    zero_values: the values of the protocol's enums whose number is zero.
    timeout: None if the timeouts of requests are not read.
    """

    message_fields: frozenset[str]
    repeated: frozenset[str]
    parts: tuple[Parts, ...] = ()
    timeout: Timeout | None = None
    texts: tuple[WrittenText, ...] = ()
    zero_values: frozenset[str] = frozenset()


def behaviour_scope(tables: TableReader, data: Table, roles: Roles) -> BehaviourScope:
    """Returns the behaviour that a scope file describes."""
    return BehaviourScope(
        roles.message_fields,
        roles.repeated,
        tuple(_parts(tables, tables.table(data, "parts"))),
        _timeout(tables, data),
        tuple(_texts(tables, tables.table(data, "texts"))),
        roles.zero_values,
    )


def _parts(tables: TableReader, table: Table) -> Iterator[Parts]:
    for name in table:
        path = ("parts", name)
        entry = tables.table(table, name, ("parts",))
        tables.only(entry, path, ("names", "fields"))
        names, fields = (tuple(tables.strings(entry, (*path, key))) for key in ("names", "fields"))
        yield Parts(name, names, fields)


def _timeout(tables: TableReader, data: Table) -> Timeout | None:
    if "timeouts" not in data:
        return None
    table = tables.table(data, "timeouts")
    tables.only(table, ("timeouts",), ("parameter", "unit"))
    parameter = tables.required_string(table, ("timeouts", "parameter"))
    unit = tables.required_string(table, ("timeouts", "unit"))
    if unit and unit not in UNITS:
        path = ("timeouts", "unit")
        tables.fault(path, f"unknown unit {unit!r}", f"units: {', '.join(UNITS)}")
        return None
    return Timeout(parameter, unit)


def _texts(tables: TableReader, table: Table) -> Iterator[WrittenText]:
    for name in table:
        path = ("texts", name)
        entry = tables.table(table, name, ("texts",))
        tables.only(entry, path, ("definition", "key", "enum"))
        definition, key, enum = (
            tables.required_string(entry, (*path, item)) for item in ("definition", "key", "enum")
        )
        yield WrittenText(name, definition, key, enum)
