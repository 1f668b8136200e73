"""Checks which layers are possible for a protocol."""

from __future__ import annotations

from sessiongen.ir.protocol import Protocol
from sessiongen.ir.roles import RoleMessage
from sessiongen.ir.schema import Field

_FOR_REQUESTS = frozenset({"requests", "client"})
_FOR_EVENTS = frozenset({"events"})
_FOR_HOST_MESSAGES = frozenset({"encoders", "responses", "models", "decoders", "fields"})


def obstacle(layer: str, protocol: Protocol) -> str:
    """Returns why a protocol cannot have a layer, or "" if it can."""
    roles = protocol.roles
    if layer == "peer":
        return _peer(protocol)
    if layer in _FOR_REQUESTS and not roles.request.present:
        return "the protocol has no requests"
    if layer in _FOR_EVENTS and not roles.event.present:
        return "the protocol has no events"
    if layer in _FOR_HOST_MESSAGES and not (roles.event.present or roles.response.present):
        return "the protocol has neither events nor responses"
    return ""


def _peer(protocol: Protocol) -> str:
    roles = protocol.roles
    if not (roles.request.present and roles.response.present):
        return f"the protocol has no {'responses' if roles.request.present else 'requests'}"
    if roles.envelope is None:
        return "the protocol has no envelope that carries requests, responses and events"
    if roles.correlation is None:
        return "the protocol has no field that says which request a response answers"
    for role in roles.messages():
        count = len(carriers(roles.envelope, role))
        if count != 1:
            arms = "several arms" if count else "no arm"
            return f"{roles.envelope.full_name} has {arms} for {role.full_name}"
    required = [item.name for item in roles.envelope.fields if item.required]
    if required:
        return f"{roles.envelope.full_name} has the required field {required[0]}"
    return ""


def carriers(envelope: RoleMessage, role: RoleMessage) -> list[Field]:
    """Returns the arms of the envelope whose payload is the message of a role."""
    return [arm for arm in envelope.arms if arm.value.type_name == role.full_name]
