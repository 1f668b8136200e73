"""One whole conversation between a host and a driver, and all that came of it.

Comes in: a kind of host and a kind of driver. Goes out: the answer to each request, each event
that the driver heard, and what the host's session says of itself. The requests that a driver has
no method for are left out, and so are the events that a host has no way to raise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from interop_children import PeerError, PeerGone
from interop_expected import MOMENTS, RUNS, events_expected
from interop_peers import OURS, Pair, paired
from interop_raw import UNKNOWN_REQUEST

VERDICT = "too slow"

_AT_FIRST = (
    "ping",
    "get_chat_history",
    "get_agent_info",
    "get_session_state",
    "get_rtc_stats",
    "get_session_usage",
    "get_framework_info",
)
_AFTERWARDS = ("get_chat_history", "get_agent_info", "get_session_usage")
_SWITCHES = {
    "input": {"audio_enabled": False},
    "output": {"audio_enabled": False, "transcription_enabled": False},
}
# Events that come late are waited for so long, then the tests say which are missing.
_LATE = 10.0


@dataclass
class Visit:
    """What came of a conversation.

    Attributes:
        answers: by the name of the request, with "first", "then" or the text of a run behind it.
        at_first: what the host's session said of itself at the beginning.
        afterwards: the same at the end.
        unknown: what the driver raised on a request that the host has never heard of.
    """

    host: str
    driver: str
    pair: Pair
    answers: dict[str, Any] = field(default_factory=dict)
    at_first: dict[str, Any] = field(default_factory=dict)
    afterwards: dict[str, Any] = field(default_factory=dict)

    unknown: PeerError | None = None
    # How many events had come before the first run.
    beginning: int = 0

    @property
    def events(self) -> list[dict[str, Any]]:
        return self.pair.driver.events

    def heard(self, arm: str) -> list[dict[str, Any]]:
        """The events of a kind from the first run on, in the order of their arrival."""
        return [event for event in self.events[self.beginning :] if event["event"] == arm]

    def wait_for_beginning(self) -> None:
        """Wait until the host has told that its agent listens."""

        def come() -> bool:
            states = [event["payload"].get("new_state") for event in self.events]
            return "AS_LISTENING" in states

        self.pair.driver.wait(come, "the agent's first state")

    @property
    def answered(self) -> set[str]:
        """The kinds of request that were answered, and not just with an error."""
        return {
            key.split(" ")[0]
            for key, answer in self.answers.items()
            if not isinstance(answer, PeerError)
        }

    @property
    def received(self) -> set[str]:
        """The kinds of event that were received."""
        return {event["event"] for event in self.events}

    def ask(self, name: str, key: str = "", given: dict[str, Any] | None = None) -> None:
        """Let the driver ask, if it has a method for it, and keep what it gets."""
        if name not in self.pair.requests:
            return
        try:
            answer: Any = self.pair.driver.ask("request", name=name, given=given or {})
        except PeerError as error:
            answer = error
        self.answers[f"{name} {key}".strip()] = answer

    def ask_what_nobody_knows(self) -> None:
        """Send a request that the host has never heard of, and keep what comes of it."""
        seconds = 60.0 if self.host == OURS else 0.3
        try:
            self.pair.driver.ask("unknown", content=UNKNOWN_REQUEST, seconds=seconds)
        except PeerError as error:
            self.unknown = error

    def wait_for_events(self) -> None:
        """Wait until as many events have come as are expected."""
        expected = Counter[str]()
        for arm, events in events_expected(self.host).items():
            if arm in self.pair.listens:
                expected[arm] = len(events)

        def come() -> bool:
            return not expected - Counter(event["event"] for event in self.events[self.beginning :])

        try:
            self.pair.driver.wait(come, "events", _LATE)
        except PeerGone:
            pass


@contextmanager
def visiting(host: str, driver: str) -> Iterator[Visit]:
    """Hold the conversation; host and driver stay connected until the block ends."""
    with paired(host, driver, VERDICT) as pair:
        visit = Visit(host, driver, pair)
        visit.at_first = pair.host.ask("facts")
        for name in _AT_FIRST:
            visit.ask(name, "first")
        visit.wait_for_beginning()
        visit.beginning = len(visit.events)
        for text in RUNS[host]:
            visit.ask("run_input", text, {"text": text})
        visit.ask("run_input", "(nothing)", {"text": ""})
        for name in _AFTERWARDS:
            visit.ask(name, "then")
        visit.ask("update_io", given=_SWITCHES)
        visit.afterwards = pair.host.ask("facts")
        for arm in MOMENTS:
            pair.host.ask("happen", arm=arm)
        verdict = {"provisional_success": True, "provisional_reason": "all went well"}
        visit.ask("finalize_simulation", given=verdict)
        visit.ask_what_nobody_knows()
        visit.wait_for_events()
        yield visit
