"""Request fields: which of them each SDK's host reads and its driver fills.

Fields of nested messages are rows too, named by their path below the request's arm.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.diagnostics import Rule
from sessiongen.parity.matrix import (
    Cell,
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
    """Return the section of request fields; an SDK that lacks the request has its finding."""
    columns = tuple(f"{item.sdk} {side}" for item in vocabularies for side in ("host", "driver"))
    rows = []
    for call in protocol.calls:
        message = protocol.schema.messages.get(call.request.value.type_name)
        for path, field, holder in _leaves(protocol.schema, message, ()):
            cells = [
                cell
                for item in vocabularies
                for cell in (
                    _read(call.request.name, path, field, item),
                    _filled(call.request, message or holder, path, field, holder, item),
                )
            ]
            rows.append(Row(".".join((call.request.name, *path)), tuple(cells)))
    return Section("request fields", columns, tuple(rows))


def _leaves(
    schema: Schema, message: Message | None, above: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], Field, Message]]:
    """Yield the path of each leaf field, with the field and its message."""
    for field in message.fields if message and message.file in schema.own else ():
        inner = schema.messages.get(field.value.type_name)
        if inner is not None and inner.file in schema.own and field.name not in above:
            yield from _leaves(schema, inner, (*above, field.name))
        elif message is not None:
            yield (*above, field.name), field, message


def _read(arm: str, path: tuple[str, ...], field: Field, vocabulary: Vocabulary) -> Cell:
    answers = vocabulary.host.answers if vocabulary.host else ()
    found = [item for item in answers if item.arm == arm]
    if not found:
        return Cell(NOT_COMPARED)
    if any(".".join(path) in item.reads for item in found):
        return Cell("read")
    why = f"its host never reads it ({found[0].place})"
    return _fault(arm, path, field, vocabulary, "host", why)


def _filled(
    arm: Field,
    payload: Message,
    path: tuple[str, ...],
    field: Field,
    holder: Message,
    vocabulary: Vocabulary,
) -> Cell:
    sends = vocabulary.driver.sends if vocabulary.driver else ()
    found = [item for item in sends if item.arm == arm.name]
    if not found:
        return Cell(NOT_COMPARED)
    own, whole = _builds(holder, vocabulary), _builds(payload, vocabulary)
    given = {name for item in whole for name in item.fields}
    open_ = any(item.open for item in (*own, *whole))
    if open_ or ".".join(path) in given or any(field.name in item.fields for item in own):
        return Cell("filled")
    if not own and (not whole or _unseen(".".join(path[:-1]), given)):
        return Cell("in place")
    why = f"its driver never fills it ({(own or whole or found)[0].place})"
    return _fault(arm.name, path, field, vocabulary, "driver", why)


def _unseen(above: str, given: set[str]) -> bool:
    """Whether a message is filled without naming its fields."""
    return above in given and not any(name.startswith(f"{above}.") for name in given)


def _builds(message: Message, vocabulary: Vocabulary) -> list[Construction]:
    path = ".".join(message.path)
    return [item for item in vocabulary.constructions if item.message == path]


def _fault(
    arm: str, path: tuple[str, ...], field: Field, vocabulary: Vocabulary, side: str, why: str
) -> Cell:
    name = ".".join((arm, *path))
    difference_id = f"request field {name}: {side}"
    message = f"{vocabulary.sdk}: request field {name}: {why}"
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_REQUEST, field.span)
    return Cell(MISSING, (finding,))
