"""Compares what SDKs do beside filling messages: fixed values, and errors beside results.

A value that the protocol fixes, such as a topic or a timeout, is compared with the value that
the SDK's scope expects. Whether a response with an error also has its result is compared among
the SDKs, as the protocol allows both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.diagnostics import Rule
from sessiongen.ir.pairing import Call
from sessiongen.ir.protocol import Protocol
from sessiongen.parity import code_behaviour
from sessiongen.parity.matrix import Cell, Compared, Finding, NOT_COMPARED, Row, Section
from sessiongen.vocabulary.model import Vocabulary

_BESIDE = {True: "with an error", False: "without an error"}


def section(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Section:
    """Returns the section of fixed values and of results beside errors."""
    rows = [
        *_constant_rows(protocol, vocabularies),
        *_result_rows(protocol, vocabularies),
        *code_behaviour.rows(protocol, vocabularies),
    ]
    return Section("behaviour", tuple(item.sdk for item in vocabularies), tuple(rows))


def _constant_rows(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Iterator[Row]:
    for name in sorted({item.name for each in vocabularies for item in each.constants}):
        yield Row(name, tuple(_constant_cell(protocol, name, item) for item in vocabularies))


def _constant_cell(protocol: Protocol, name: str, vocabulary: Vocabulary) -> Cell:
    constant = next((item for item in vocabulary.constants if item.name == name), None)
    if constant is None:
        return Cell(NOT_COMPARED)
    difference_id = f"constant {name}"
    if constant.value == constant.expected:
        return Cell(constant.value, compared=(Compared(vocabulary.sdk, difference_id),))
    place = f" ({constant.place})" if constant.place else ""
    why = f"is {constant.value}, not {constant.expected}" if constant.value else "cannot be read"
    message = f"{vocabulary.sdk}: {name}: {constant.definition} {why}{place}"
    span = protocol.roles.span("request")
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_REQUEST, span)
    return Cell(constant.value or "unverified", (finding,))


def _result_rows(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Iterator[Row]:
    for call in protocol.calls:
        beside = {item.sdk: _error_beside_result(call, item) for item in vocabularies}
        if any(beside.values()):
            cells = tuple(_result_cell(call, item, beside) for item in vocabularies)
            yield Row(f"{call.request.name} result", cells)


def _error_beside_result(call: Call, vocabulary: Vocabulary) -> bool | None:
    """Whether the host may send an error beside the result of a request; None if unknown."""
    answers = vocabulary.host.answers if vocabulary.host else ()
    known = [item.error_beside_result for item in answers if item.arm == call.request.name]
    if not known or None in known:
        return None
    return any(known)


def _result_cell(call: Call, vocabulary: Vocabulary, beside: dict[str, bool | None]) -> Cell:
    own = beside[vocabulary.sdk]
    if own is None:
        return Cell(NOT_COMPARED)
    difference_id = f"request result {call.request.name}: host"
    others = [sdk for sdk, value in beside.items() if value is not None and value != own]
    if not others:
        known = [value for value in beside.values() if value is not None]
        # Without a second SDK whose code can be read, nothing was compared.
        same = (Compared(vocabulary.sdk, difference_id),) if len(known) > 1 else ()
        return Cell(_BESIDE[own], compared=same)
    message = (
        f"{vocabulary.sdk}: request {call.request.name}: its host sends the result "
        f"{_BESIDE[own]}, {', '.join(others)} {_BESIDE[not own]}"
    )
    span = call.request.span
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_REQUEST, span)
    return Cell(_BESIDE[own], (finding,))
