"""Parses requests that are typed as a name and fields in JSON.

Names, fields and help texts come from the protocol, so that new requests need no edit here.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any, Final

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import SESSION_REQUEST_ARMS
from agent_session_protocol.requests import SessionRequestHandler
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import Message

_NAMES: Final = tuple(str(arm) for arm in SESSION_REQUEST_ARMS)


class InvalidRequest(Exception):
    """The line is not a valid request. The text says why."""


def parse_request(line: str) -> tuple[str, pb.SessionRequest]:
    """Returns the name and the request of a line.

    A line is `/NAME {FIELDS}`; any other line is the text of a run_input.

    Raises:
        InvalidRequest: the line is not a valid request.
    """
    command, _, fields = line.strip().partition(" ")
    if not command.startswith("/"):
        return "run_input", run_input_request(line)
    name = find_request(command[1:])
    return name, make_request(name, fields)


def find_request(part: str) -> str:
    """Returns the name of the request whose name contains a text.

    Raises:
        InvalidRequest: no name contains the text, or several do.
    """
    if part in _NAMES:
        return part
    matches = [name for name in _NAMES if part and part in name]
    if len(matches) == 1:
        return matches[0]
    if not matches:
        raise InvalidRequest("unknown request; /help lists all requests")
    raise InvalidRequest(f"ambiguous name: {' or '.join(matches)}")


def make_request(name: str, fields: str) -> pb.SessionRequest:
    """Returns a request with fields from a JSON object. An empty text sets no fields.

    Raises:
        InvalidRequest: the fields are not valid.
    """
    request = pb.SessionRequest()
    payload = getattr(request, name)
    payload.SetInParent()
    try:
        values = json.loads(fields or "{}")
        if not isinstance(values, dict):
            raise InvalidRequest(f"the fields must be a JSON object{_usage(payload, ': ')}")
        ParseDict(values, payload)
    except (ValueError, RecursionError, ParseError) as error:
        usage = _usage(payload, ", expected ")
        raise InvalidRequest(f"the fields are not valid{usage}: {error}") from None
    return request


def _usage(payload: Message | type[Message], prefix: str) -> str:
    """Returns a prefix and the form of a request's fields; an empty text if it has no fields."""
    fields = ", ".join(f'"{field}": …' for field in payload.DESCRIPTOR.fields_by_name)
    return fields and f"{prefix}{{{fields}}}"


def run_input_request(text: str) -> pb.SessionRequest:
    """Returns the request that runs a text as the user's input."""
    return pb.SessionRequest(run_input=pb.SessionRequest.RunInput(text=text))


def request_help() -> Iterator[tuple[str, str]]:
    """Yields the name and fields of each request with its description."""
    for name, arm in SESSION_REQUEST_ARMS.items():
        # Not the client, since a request can have the name of another method of it, such as `send`.
        method: Any = getattr(SessionRequestHandler, name, None)
        # None has a docstring of its own since Python 3.13.
        doc = inspect.getdoc(method) if method else None
        paragraph = (doc or "").partition("\n\n")[0]
        sentence = " ".join(paragraph.split()).partition(". ")[0].rstrip(".")
        yield f"/{name}", f"{sentence}{_usage(arm.type, ' ')}"
