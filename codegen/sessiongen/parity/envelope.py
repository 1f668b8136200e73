"""The outermost message: which of its arms any code of each SDK sends, and which it takes.

In: a Protocol and vocabularies. Out: a Section of the arms; none if the protocol has no
outermost message.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessiongen.diagnostics import Rule
from sessiongen.parity.matrix import NOTHING, Cell, Finding, Row, Section
from sessiongen.ir.protocol import Protocol
from sessiongen.ir.roles import union
from sessiongen.ir.schema import Field
from sessiongen.vocabulary.model import WAYS, Vocabulary


def section(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Section:
    """Return the section of the arms: each should be sent by one side, and taken by one."""
    columns = tuple(f"{item.sdk} {way}" for item in vocabularies for way in WAYS)
    message = protocol.roles.envelope
    rows = [
        Row(arm.name, tuple(_cell(arm, way, item) for item in vocabularies for way in WAYS))
        for arm in (union(message).arms if message else ())
    ]
    return Section("messages", columns, tuple(rows))


def _cell(arm: Field, way: str, vocabulary: Vocabulary) -> Cell:
    # An SDK without these facts has no host or driver, which is said once.
    if not vocabulary.carries:
        return Cell(NOTHING)
    found = [item for item in vocabulary.carries if (item.arm, item.way) == (arm.name, way)]
    if found:
        owners = dict.fromkeys(item.within.partition(".")[0] for item in found)
        return Cell(", ".join(owners))
    message = f"{vocabulary.sdk}: nothing {way} the message {arm.name}"
    difference_id = f"message arm {arm.name}: {way}"
    finding = Finding(vocabulary.sdk, difference_id, message, Rule.PARITY_REQUEST, arm.span)
    return Cell(NOTHING, (finding,))
