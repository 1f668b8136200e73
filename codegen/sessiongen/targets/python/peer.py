"""The model of peer.py: a client and a host of the protocol over any transport.

The layer needs an envelope with one arm each for requests, responses and events, and a
correlation field.
"""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.roles import RoleMessage
from sessiongen.ir.schema import Kind
from sessiongen.targets.python.context import Context
from sessiongen.targets.python.layout import imported
from sessiongen.targets.python.obstacles import carriers
from sessiongen.targets.python.naming import access
from sessiongen.targets.python.references import SCALAR_TYPES
from sessiongen.targets.python.requests import (
    assign,
    copy_correlation,
    set_error,
    unchecked_correlation,
)

# The expression of a correlation id made from a number, by the kind of the field. A number is
# at most 2**31 - 1, which each integer type of protobuf can hold.
_ID_FROM_NUMBER = {
    Kind.STRING: "str(self._last_number)",
    Kind.INT: "self._last_number",
    Kind.BYTES: 'self._last_number.to_bytes(4, "big")',
}

# What peer.py uses of connection.py.
_CONNECTION_NAMES = (
    "Connection",
    "GRACE",
    "Outgoing",
    "PeerClosed",
    "PeerTransport",
    "RequestTimedOut",
    "check_timeout",
)


@dataclass(frozen=True)
class EnvelopeArm:
    """The envelope's arm for one role: its name, and the expression that reads it."""

    name: str
    read: str


@dataclass(frozen=True)
class PeerModel:
    """peer.py.

    layer_imports: the statements that import from other layers.
    id_type, new_id: the type of a correlation id, and the expression that makes one.
    request_id, response_id: the expressions that read the correlation field.
    set_id: the statement that sets a request's correlation id.
    copy_correlation: the statements that give a response its request's correlation id.
    set_error: the statement that sets a response's error text, or "".
    oneway: the request arms that nothing answers.
    event: "" if the protocol has no events.
    """

    imports: list[str]
    layer_imports: list[str]
    aliases: list[tuple[str, str, str]]
    envelope: str
    envelope_name: str
    envelope_oneof: str
    request: str
    request_oneof: str
    response: str
    event: str
    request_arm: EnvelopeArm
    response_arm: EnvelopeArm
    event_arm: EnvelopeArm | None
    client: str
    handler: str
    listeners: str
    sink: str
    id_type: str
    new_id: str
    request_id: str
    response_id: str
    set_id: str
    copy_correlation: list[str]
    set_error: str
    oneway: list[str]


def peer_model(context: Context) -> PeerModel:
    """Returns the model of peer.py."""
    roles = context.protocol.roles
    envelope, correlation = roles.envelope, roles.correlation
    assert envelope is not None and correlation is not None, "a protocol with this layer has both"
    references = context.references()
    request = context.flat(roles.request.full_name)
    event = context.flat(roles.event.full_name) if roles.event.present else ""
    copying = ["copy_correlation"] if unchecked_correlation(roles) else []
    return PeerModel(
        envelope=references.message(envelope.full_name),
        request=references.message(roles.request.full_name),
        request_oneof=roles.request.oneof.name,
        response=references.message(roles.response.full_name),
        event=references.message(roles.event.full_name) if event else "",
        imports=references.imports,
        layer_imports=[
            imported(".client", [f"{request}Client"]),
            imported(".connection", [*_CONNECTION_NAMES, *(["EventStream"] if event else [])]),
            imported(".events", [f"{event}Listeners", f"{event}Sink"] if event else []),
            imported(".requests", [f"{request}Handler", "answer", *copying]),
        ],
        aliases=references.aliases,
        envelope_name=envelope.full_name,
        envelope_oneof=envelope.oneof.name,
        request_arm=_arm(envelope, roles.request),
        response_arm=_arm(envelope, roles.response),
        event_arm=_arm(envelope, roles.event) if event else None,
        client=f"{request}Client",
        handler=f"{request}Handler",
        listeners=f"{event}Listeners",
        sink=f"{event}Sink",
        id_type=SCALAR_TYPES[correlation.value.kind],
        new_id=_ID_FROM_NUMBER[correlation.value.kind],
        request_id=access("request", correlation.name),
        response_id=access("response", correlation.name),
        set_id=assign("request", correlation.name, "request_id"),
        copy_correlation=copy_correlation(roles),
        set_error=set_error(roles, "text"),
        oneway=[item.request.name for item in context.protocol.calls if item.response is None],
    )


def _arm(envelope: RoleMessage, role: RoleMessage) -> EnvelopeArm:
    name = carriers(envelope, role)[0].name
    return EnvelopeArm(name, access("message", name))
