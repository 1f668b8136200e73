"""Runs a conversation between a host and a driver, and records the result.

The result has the response to each request, the events that the driver received, and the state of
the host's session. Requests for which the driver has no method are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from interop_subprocesses import PeerError, PeerExited
from interop_expected import SDK_EVENTS, RUNS, expected_events
from interop_peers import GENERATED, Pair, RoomAccess, paired
from interop_raw_host import UNKNOWN_REQUEST

VERDICT = "too slow"

_FIRST_REQUESTS = (
    "ping",
    "get_chat_history",
    "get_agent_info",
    "get_session_state",
    "get_rtc_stats",
    "get_session_usage",
    "get_framework_info",
)
_LAST_REQUESTS = ("get_chat_history", "get_agent_info", "get_session_usage")
_SWITCHES = {
    "input": {"audio_enabled": False},
    "output": {"audio_enabled": False, "transcription_enabled": False},
}
# How long to wait for late events, in seconds. The tests report those that are missing last.
_EVENT_TIMEOUT = 10.0


@dataclass
class Conversation:
    """The result of a conversation.

    Attributes:
        answers: the responses and errors, by the name of the request followed by "first", "last"
            or the text of a run.
        initial_facts: the state of the host's session at the start.
        final_facts: the state of the host's session after the runs.
        unknown: the error of a request that the host does not know.
        first_event: the number of events before the first run.
    """

    host: str
    driver: str
    in_room: bool
    pair: Pair
    answers: dict[str, Any] = field(default_factory=dict)
    initial_facts: dict[str, Any] = field(default_factory=dict)
    final_facts: dict[str, Any] = field(default_factory=dict)
    unknown: PeerError | None = None
    first_event: int = 0

    @property
    def events(self) -> list[dict[str, Any]]:
        return self.pair.driver.events

    def events_of(self, arm: str) -> list[dict[str, Any]]:
        """Returns the events of an arm from the first run on, in the order of arrival."""
        return [event for event in self.events[self.first_event :] if event["event"] == arm]

    def wait_for_listening(self) -> None:
        """Waits until the driver has received that the agent listens."""

        def listening() -> bool:
            states = [event["payload"].get("new_state") for event in self.events]
            return "AS_LISTENING" in states

        self.pair.driver.wait(listening, "the agent's first state")

    @property
    def answered(self) -> set[str]:
        """The requests that were answered without an error."""
        return {
            key.split(" ")[0]
            for key, answer in self.answers.items()
            if not isinstance(answer, PeerError)
        }

    @property
    def received(self) -> set[str]:
        """The arms of the events that were received."""
        return {event["event"] for event in self.events}

    def send(self, name: str, key: str = "", fields: dict[str, Any] | None = None) -> None:
        """Makes the driver send a request, if it has a method for it, and records the answer."""
        if name not in self.pair.requests:
            return
        try:
            answer: Any = self.pair.driver.call("request", name=name, fields=fields or {})
        except PeerError as error:
            answer = error
        self.answers[f"{name} {key}".strip()] = answer

    def send_unknown_request(self) -> None:
        """Sends a request that the host does not know, and records the error."""
        timeout = 60.0 if self.host in GENERATED else 0.3
        try:
            self.pair.driver.call("unknown", content=UNKNOWN_REQUEST, timeout_s=timeout)
        except PeerError as error:
            self.unknown = error

    def wait_for_events(self) -> None:
        """Waits until the expected number of events has arrived."""
        expected = Counter[str]()
        for arm, events in expected_events(self.host).items():
            if arm in self.pair.listens:
                expected[arm] = len(events)

        def complete() -> bool:
            events = self.events[self.first_event :]
            return not expected - Counter(event["event"] for event in events)

        try:
            self.pair.driver.wait(complete, "events", _EVENT_TIMEOUT)
        except PeerExited:
            pass


@contextmanager
def run_conversation(
    host: str, driver: str, room: RoomAccess | None = None
) -> Iterator[Conversation]:
    """Runs the conversation. Host and driver stay connected until the block is left."""
    with paired(host, driver, VERDICT, room) as pair:
        conversation = Conversation(host, driver, room is not None, pair)
        conversation.initial_facts = pair.host.call("facts")
        for name in _FIRST_REQUESTS:
            conversation.send(name, "first")
        conversation.wait_for_listening()
        conversation.first_event = len(conversation.events)
        for text in RUNS[host]:
            conversation.send("run_input", text, {"text": text})
        conversation.send("run_input", "(empty)", {"text": ""})
        for name in _LAST_REQUESTS:
            conversation.send(name, "last")
        conversation.send("update_io", fields=_SWITCHES)
        conversation.final_facts = pair.host.call("facts")
        for arm in SDK_EVENTS:
            pair.host.call("emit", arm=arm)
        verdict = {"provisional_success": True, "provisional_reason": "all went well"}
        conversation.send("finalize_simulation", fields=verdict)
        conversation.send_unknown_request()
        conversation.wait_for_events()
        yield conversation
