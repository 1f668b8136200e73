"""Parses requests that are typed as a name and fields in JSON.

Names, fields and help texts come from the protocol, so that a new request can be typed at once.
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


class NoSuchRequest(Exception):
    """What was typed is no request; the text says why."""


def read_request(line: str) -> tuple[str, pb.SessionRequest]:
    """The request that a line is, and its name: `/NAME {FIELDS}`, or what is said to the agent.

    Raises:
        NoSuchRequest: it is none.
    """
    word, _, fields = line.strip().partition(" ")
    if not word.startswith("/"):
        return "run_input", say(line)
    name = find_request(word[1:])
    return name, make_request(name, fields)


def find_request(word: str) -> str:
    """The request of a name, of which any part will do that no other has.

    Raises:
        NoSuchRequest: there is none, or several have that part.
    """
    if word in _NAMES:
        return word
    found = [name for name in _NAMES if word and word in name]
    if len(found) == 1:
        return found[0]
    if not found:
        raise NoSuchRequest("there is no such request; /help tells what there is")
    raise NoSuchRequest(f"that can be {' or '.join(found)}")


def make_request(name: str, fields: str) -> pb.SessionRequest:
    """Make a request from its name, and its fields as a JSON object, if any.

    Raises:
        NoSuchRequest: these are not its fields.
    """
    request = pb.SessionRequest()
    payload = getattr(request, name)
    payload.SetInParent()
    try:
        given = json.loads(fields or "{}")
        if not isinstance(given, dict):
            raise NoSuchRequest(f"its fields are a JSON object{_takes(payload, ': ')}")
        ParseDict(given, payload)
    except (ValueError, RecursionError, ParseError) as error:
        takes = _takes(payload, ", ")
        raise NoSuchRequest(f"these are not its fields in JSON{takes}: {error}") from None
    return request


def _takes(payload: Message | type[Message], before: str) -> str:
    """The fields that a request takes, in the form in which one types them, behind a text.

    Empty where it takes none.
    """
    fields = ", ".join(f'"{field}": …' for field in payload.DESCRIPTOR.fields_by_name)
    return fields and f"{before}{{{fields}}}"


def say(text: str) -> pb.SessionRequest:
    """The request that says a text to the agent."""
    return pb.SessionRequest(run_input=pb.SessionRequest.RunInput(text=text))


def request_help() -> Iterator[tuple[str, str]]:
    """Each request, with what it means and what it takes."""
    for name, arm in SESSION_REQUEST_ARMS.items():
        # Not the client's, which has methods of its own.
        method: Any = getattr(SessionRequestHandler, name, None)
        paragraph = (inspect.getdoc(method) or "").partition("\n\n")[0]
        sentence = " ".join(paragraph.split()).partition(". ")[0].rstrip(".")
        yield f"/{name}", f"{sentence}{_takes(arm.type, ' ')}"
