"""Compares the protobuf package that each SDK depends on: what of the protocol it lacks.

There is a column for the lowest version that the SDK allows, and one for the newest. Rows are the
messages, fields, enums and values that a version lacks, or has under another name. What the newest
version lacks is a finding of the newest one alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sessiongen.diagnostics import Rule, Span
from sessiongen.ir.protocol import Protocol
from sessiongen.parity.matrix import MISSING, Cell, Finding, Row, Section
from sessiongen.vocabulary.model import Vocabulary
from sessiongen.vocabulary.protobuf_packages import (
    Numbers,
    ProtobufPackage,
    PublishedMessages,
    load,
    messages_file,
)

_LOWEST, _NEWEST = "minimum", "newest"


class _Element(NamedTuple):
    """An element of the protocol. number: None for a message or an enum."""

    name: str
    holder: str
    number: int | None
    span: Span


class _Column(NamedTuple):
    vocabulary: Vocabulary
    distribution: str
    published: PublishedMessages
    label: str
    newest: PublishedMessages


def section(
    protocol: Protocol, vocabularies: Sequence[Vocabulary], files: Mapping[str, Path]
) -> Section:
    """Returns the section of the protobuf packages; empty if no SDK has a list of messages."""
    packages = [(item, load(messages_file(files[item.sdk]))) for item in vocabularies]
    columns = [
        column for item, package in packages if package for column in _columns(item, package)
    ]
    rows = []
    for element in _elements(protocol):
        cells = tuple(_cell(element, column) for column in columns)
        if any(cell.text not in ("yes", "") for cell in cells):
            rows.append(Row(element.name, cells))
    rows += _outdated(protocol, packages, columns)
    titles = tuple(f"{item.distribution} {item.published.version}" for item in columns)
    return Section("protobuf packages", titles, tuple(rows))


def unknown_event_arms(
    protocol: Protocol, vocabularies: Sequence[Vocabulary], files: Mapping[str, Path]
) -> dict[str, set[str]]:
    """Returns the event arms that the newest messages of each SDK lack, if these are known."""
    event = protocol.roles.event
    missing = {}
    for item in vocabularies:
        package = load(messages_file(files[item.sdk]))
        if package is not None:
            members = package.versions[-1].messages.get(".".join(event.path), {})
            numbers = set(members.values())
            missing[item.sdk] = {arm.name for arm in event.arms if arm.number not in numbers}
    return missing


def _columns(vocabulary: Vocabulary, package: ProtobufPackage) -> Iterator[_Column]:
    for published in package.versions:
        last = package.versions[-1]
        label = _NEWEST if published is last else _LOWEST
        yield _Column(vocabulary, package.distribution, published, label, last)


def _elements(protocol: Protocol) -> Iterator[_Element]:
    """Yields the messages and enums of the protocol, each followed by its fields or values."""
    schema = protocol.schema
    for message in schema.own_messages():
        path = ".".join(message.path)
        yield _Element(path, path, None, message.span)
        for field in message.fields:
            yield _Element(f"{path}.{field.name}", path, field.number, field.span)
    for enum in schema.enums.values():
        if enum.file in schema.own:
            path = ".".join(enum.path)
            yield _Element(path, path, None, enum.span)
            for value in {item.number: item for item in reversed(enum.values)}.values():
                yield _Element(f"{path}.{value.name}", path, value.number, value.span)


def _cell(element: _Element, column: _Column) -> Cell:
    text = _text(element, column.published)
    if text in ("yes", "") or column.label == _LOWEST and text == _text(element, column.newest):
        return Cell(text)
    version = "newest" if column.label == _NEWEST else "lowest allowed"
    lacks = "lacks it" if text == MISSING else f"calls it {text}"
    why = f"{element.name}: the {version} {column.distribution} {lacks}"
    required = column.vocabulary.requirement
    place = f" ({required.place})" if required else ""
    sdk = column.vocabulary.sdk
    difference_id = f"published {element.name}: {column.label}"
    message = f"{sdk}: {why}{place}"
    return Cell(text, (Finding(sdk, difference_id, message, Rule.PARITY_FIELD, element.span),))


def _members(element: _Element, published: PublishedMessages) -> Numbers | None:
    """Returns the numbers of the fields of the message or the values of the enum, if it exists."""
    return published.messages.get(element.holder, published.enums.get(element.holder))


def _text(element: _Element, published: PublishedMessages) -> str:
    """Returns `yes`, the mark for a missing element, or the name of the one with its number.

    The text is "" for a member of a message or enum that is missing, which has a row itself.
    """
    members = _members(element, published)
    if element.number is None:
        return MISSING if members is None else "yes"
    if members is None:
        return ""
    names = [name for name, number in members.items() if number == element.number]
    if not names:
        return MISSING
    return "yes" if element.name.rpartition(".")[2] in names else names[0]


def _outdated(
    protocol: Protocol,
    packages: Sequence[tuple[Vocabulary, ProtobufPackage | None]],
    columns: Sequence[_Column],
) -> Iterator[Row]:
    """Yields a row for each SDK whose list is not of the version that it requires now."""
    for vocabulary, package in packages:
        required = vocabulary.requirement
        if package is None or required is None or not required.minimum:
            continue
        if any(item.version == required.minimum for item in package.versions):
            continue
        message = (
            f"{vocabulary.sdk}: it allows another lowest {package.distribution} than the list of "
            f"its messages has; run `sessiongen vocabulary packages` ({required.place})"
        )
        span = protocol.roles.span("event")
        finding = Finding(vocabulary.sdk, "published *", message, Rule.PARITY_FIELD, span)
        cell = Cell(required.minimum, (finding,))
        cells = [cell if item.vocabulary is vocabulary else Cell("") for item in columns]
        yield Row("(lowest allowed version)", tuple(cells))
