"""Compares request fields: which of them each SDK's host reads and its driver fills.

Fields of nested messages are rows too, named by their path below the request's arm.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from sessiongen.diagnostics import Rule
from sessiongen.parity.field_sources import request_faults, sources_of
from sessiongen.parity.matrix import (
    Cell,
    Compared,
    Finding,
    MISSING,
    NOT_COMPARED,
    Row,
    Section,
)
from sessiongen.ir.protocol import Protocol
from sessiongen.ir.schema import Field, Message, Schema
from sessiongen.vocabulary.model import Construction, Vocabulary


def section(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Section:
    """Returns the section of request fields; an SDK that lacks the request has its finding."""
    columns = tuple(f"{item.sdk} {side}" for item in vocabularies for side in ("host", "driver"))
    rows = []
    for call in protocol.calls:
        message = protocol.schema.messages.get(call.request.value.type_name)
        fields = list(_leaf_fields(protocol.schema, message, ()))
        leaves = {"_".join(path) for path, _, _ in fields}
        for path, field, holder in fields:
            cells = [
                cell
                for item in vocabularies
                for cell in (
                    _host_cell(call.request.name, path, field, item),
                    _with_sources(
                        _driver_cell(call.request, message or holder, path, field, holder, item),
                        (message or holder, holder),
                        path,
                        field,
                        leaves,
                        item,
                    ),
                )
            ]
            rows.append(Row(".".join((call.request.name, *path)), tuple(cells)))
    return Section("request fields", columns, tuple(rows))


def _leaf_fields(
    schema: Schema, message: Message | None, parents: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Field, Message]]:
    """Yields the path of each leaf field, with the field and its message."""
    for field in message.fields if message and message.file in schema.own else ():
        inner = schema.messages.get(field.value.type_name)
        if inner is not None and inner.file in schema.own and field.name not in parents:
            yield from _leaf_fields(schema, inner, (*parents, field.name))
        elif message is not None:
            yield (*parents, field.name), field, message


def _host_cell(arm: str, path: tuple[str, ...], field: Field, vocabulary: Vocabulary) -> Cell:
    answers = vocabulary.host.answers if vocabulary.host else ()
    matching = [item for item in answers if item.arm == arm]
    if not matching:
        return Cell(NOT_COMPARED)
    if any(".".join(path) in item.reads for item in matching):
        return Cell("read", compared=(_compared(arm, path, vocabulary, "host"),))
    parents = {".".join(path[:length]) for length in range(len(path))}
    if any(parents & set(item.reads) for item in matching):
        return Cell("passed on")
    why = f"its host never reads it ({matching[0].place})"
    return _difference(arm, path, field, vocabulary, "host", why)


def _driver_cell(
    arm: Field,
    payload: Message,
    path: tuple[str, ...],
    field: Field,
    holder: Message,
    vocabulary: Vocabulary,
) -> Cell:
    sends = vocabulary.driver.sends if vocabulary.driver else ()
    sendings = [item for item in sends if item.arm == arm.name]
    if not sendings:
        return Cell(NOT_COMPARED)
    own = _constructions(holder, vocabulary)
    payloads = _constructions(payload, vocabulary)
    filled = {name for item in payloads for name in item.fields}
    open_ = any(item.open for item in (*own, *payloads))
    if open_ or ".".join(path) in filled or any(field.name in item.fields for item in own):
        # Fields that are copied by name cannot be told apart.
        read = () if open_ else (_compared(arm.name, path, vocabulary, "driver"),)
        return Cell("filled", compared=read)
    if not own and (not payloads or _filled_whole(".".join(path[:-1]), filled)):
        return Cell("in place", compared=(_compared(arm.name, path, vocabulary, "driver"),))
    why = f"its driver never fills it ({(own or payloads or sendings)[0].place})"
    return _difference(arm.name, path, field, vocabulary, "driver", why)


def _with_sources(
    cell: Cell,
    messages: tuple[Message, Message],
    path: tuple[str, ...],
    field: Field,
    leaves: Collection[str],
    vocabulary: Vocabulary,
) -> Cell:
    """Returns the cell of a field with a finding for each value that it should not have.

    messages: that of the request, and the one inside it that has the field.
    """
    payload, holder = messages
    name = ".".join((*payload.path, *path))
    sources = list(sources_of(payload, vocabulary).get(".".join(path), ()))
    if holder is not payload:
        sources += sources_of(holder, vocabulary).get(field.name, ())
    findings = [
        Finding(
            vocabulary.sdk,
            f"source {name}: {source.within}",
            f"{vocabulary.sdk}: {name} {why} in {source.within} ({source.place})",
            Rule.PARITY_REQUEST,
            field.span,
        )
        for source, why in request_faults(path, leaves, sources)
    ]
    different = {item.id for item in findings}
    ids = [f"source {name}: {item.within}" for item in sources]
    compared = [Compared(vocabulary.sdk, item) for item in ids if item not in different]
    return cell._replace(findings=(*cell.findings, *findings), compared=(*cell.compared, *compared))


def _filled_whole(parent: str, filled: set[str]) -> bool:
    """Whether a message is filled, but none of its fields is named."""
    return parent in filled and not any(name.startswith(f"{parent}.") for name in filled)


def _constructions(message: Message, vocabulary: Vocabulary) -> list[Construction]:
    path = ".".join(message.path)
    return [item for item in vocabulary.constructions if item.message == path]


def _compared(arm: str, path: tuple[str, ...], vocabulary: Vocabulary, side: str) -> Compared:
    return Compared(vocabulary.sdk, f"request field {'.'.join((arm, *path))}: {side}")


def _difference(
    arm: str, path: tuple[str, ...], field: Field, vocabulary: Vocabulary, side: str, why: str
) -> Cell:
    name = ".".join((arm, *path))
    difference_id = f"request field {name}: {side}"
    message = f"{vocabulary.sdk}: request field {name}: {why}"
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_REQUEST, field.span)
    return Cell(MISSING, (finding,))
