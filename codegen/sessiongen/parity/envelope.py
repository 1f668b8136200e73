"""Compares envelope arms: which of them the code of each SDK sends and receives.

The section is empty if the protocol has no envelope.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessiongen.diagnostics import Rule
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
from sessiongen.ir.schema import Field
from sessiongen.vocabulary.model import DIRECTIONS, Vocabulary


def section(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Section:
    """Returns the section of the envelope's arms; each SDK should send and receive every arm."""
    columns = tuple(f"{item.sdk} {direction}" for item in vocabularies for direction in DIRECTIONS)
    message = protocol.roles.envelope
    rows = [
        Row(
            arm.name,
            tuple(_cell(arm, direction, item) for item in vocabularies for direction in DIRECTIONS),
        )
        for arm in (message.arms if message else ())
    ]
    return Section("messages", columns, tuple(rows))


def _cell(arm: Field, direction: str, vocabulary: Vocabulary) -> Cell:
    # Such an SDK has no host and no driver, which the section of roles reports.
    if not vocabulary.envelope_uses:
        return Cell(NOT_COMPARED)
    uses = [
        item
        for item in vocabulary.envelope_uses
        if (item.arm, item.direction) == (arm.name, direction)
    ]
    if uses:
        owners = dict.fromkeys(item.within.partition(".")[0] for item in uses)
        compared = Compared(vocabulary.sdk, f"message arm {arm.name}: {direction}")
        return Cell(", ".join(owners), compared=(compared,))
    message = f"{vocabulary.sdk}: nothing {direction} the message {arm.name}"
    difference_id = f"message arm {arm.name}: {direction}"
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_REQUEST, arm.span)
    return Cell(MISSING, (finding,))
