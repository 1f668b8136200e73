"""Finds the session, host and driver class of each SDK.

Without these classes nothing else of an SDK can be compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessiongen.diagnostics import Rule
from sessiongen.parity.matrix import (
    ANY,
    Cell,
    Compared,
    Finding,
    MISSING,
    Row,
    Section,
)
from sessiongen.ir.protocol import Protocol
from sessiongen.vocabulary.model import Vocabulary

_GENERATED_KINDS = (
    "constant",
    "default",
    "event field",
    "field",
    "key",
    "map",
    "message",
    "omission",
    "order",
    "part",
    "parts",
    "unknown",
    "unverified",
)
ROLE_CLASSES = ("session", "host", "driver")


def section(protocol: Protocol, vocabularies: Sequence[Vocabulary]) -> Section:
    """Returns the section of roles; an SDK without a class for one has a finding."""
    rows = [
        Row(role, tuple(_cell(protocol, role, item) for item in vocabularies))
        for role in ROLE_CLASSES
    ]
    return Section("roles", tuple(item.sdk for item in vocabularies), tuple(rows))


def _cell(protocol: Protocol, role: str, vocabulary: Vocabulary) -> Cell:
    role_class = getattr(vocabulary, role)
    # Generated code converts values and fills fields as the protocol has it.
    kinds = _GENERATED_KINDS if vocabulary.generated is not None else ()
    generated = tuple(Compared(vocabulary.sdk, f"{kind} {ANY}") for kind in kinds)
    if role_class is not None:
        # Each event and request of a role that was read is compared.
        ids = (role, f"event {ANY}: {role}", f"request {ANY}: {role}")
        compared = tuple(Compared(vocabulary.sdk, item) for item in ids)
        return Cell(role_class.name, compared=(*compared, *generated))
    message = (
        f"{vocabulary.sdk} has no class for the role {role}, so its behaviour cannot be compared"
    )
    span = protocol.roles.span("event")
    return Cell(MISSING, (Finding(vocabulary.sdk, role, message, Rule.PARITY_EVENT, span),))
