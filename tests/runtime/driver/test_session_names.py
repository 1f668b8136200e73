"""A session is a client with a method for each request, and has methods of its own beside them.

A request or an event whose name is one of those could not be asked for, or would break what the
session does itself. mypy says so too, in the words of an override.
"""

from __future__ import annotations

from agent_session import RemoteSession
from agent_session_protocol.client import SessionRequestClient
from agent_session_protocol.events import AgentSessionEventListeners

# What the client leaves to its subclasses, and what each abstract class has.
LEFT_OPEN = {"send", "_abc_impl"}


def names(kind: type) -> set[str]:
    return {name for name in vars(kind) if not name.startswith("__")}


def clashes(session: type, *generated: type) -> set[str]:
    """The names that a session and what it is made of, or two of the latter, both have."""
    owners = [names(session), *map(names, generated)]
    found = set()
    for place, own in enumerate(owners):
        for others in owners[:place]:
            found |= own & others
    return found - LEFT_OPEN


def test_no_request_and_no_event_has_the_name_of_something_else() -> None:
    found = clashes(RemoteSession, SessionRequestClient, AgentSessionEventListeners)
    assert not found, (
        f"{sorted(found)}: RemoteSession needs these names for itself. Give the arms of the "
        "protocol other ones, or rename the methods of RemoteSession"
    )


class Client:
    def start(self) -> None: ...
    def deliver(self) -> None: ...
    def ping(self) -> None: ...
    def send(self) -> None: ...


class Listeners:
    def on_error(self) -> None: ...
    def deliver(self) -> None: ...


class Session(Client, Listeners):
    def start(self) -> None: ...
    def on_error(self) -> None: ...
    def send(self) -> None: ...
    def close(self) -> None: ...


def test_a_clash_is_found_wherever_it_is() -> None:
    assert clashes(Session, Client, Listeners) == {"start", "on_error", "deliver"}
