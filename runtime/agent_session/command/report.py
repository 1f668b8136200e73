"""Prints what happens in a session: lines for people, or one JSON object per line."""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Final

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.values import timestamp_or_now
from google.protobuf.json_format import Error as JsonError
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from ..driver.outcome import Ended, Outcome
from ..driver.events import ReceivedEvent
from .message_summary import NOTHING, clock, gist, rows, unknown
from .screen import OutputLost, Piece, Screen, Style, clean

# How much of an event is shown. An answer is shown whole, as somebody asked for it.
_LONGEST: Final = 400
_NAMES: Final = 26  # columns


class Report(ABC):
    """Tells what happens."""

    @abstractmethod
    def listening(self, address: str, asks: bool) -> None:
        """An agent may connect. `asks` says that somebody can type."""

    @abstractmethod
    def connected(self) -> None:
        """An agent has."""

    @abstractmethod
    def event(self, received: ReceivedEvent) -> None:
        """Something happened in the session."""

    @abstractmethod
    def typed(self, line: str) -> None:
        """A line was given."""

    @abstractmethod
    def answer(self, request: str, response: pb.SessionResponse) -> None:
        """The agent answered a request, which includes that it refused it."""

    @abstractmethod
    def failed(self, request: str, error: str) -> None:
        """A request came to nothing."""

    @abstractmethod
    def outcome(self, outcome: Outcome) -> None:
        """The session is over."""

    @abstractmethod
    def note(self, text: str) -> None:
        """Something that is no part of the session."""

    @abstractmethod
    def warning(self, text: str) -> None:
        """Something that is not as it should be."""

    def help(self, entries: Sequence[tuple[str, str]]) -> None:
        """What can be typed, and what it means."""
        for command, meaning in entries:
            self.note(f"{command:<{_NAMES}}{meaning}")


class PeopleReport(Report):
    """Lines for people."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def listening(self, address: str, asks: bool) -> None:
        keys = "; type to the agent, /help tells what else, Ctrl-D ends" if asks else ""
        self.note(f"listening on {address}{keys}")

    def connected(self) -> None:
        self.note("an agent is connected")

    def event(self, received: ReceivedEvent) -> None:
        event, arm = received.event, received.arm
        time = timestamp_or_now(event.created_at if event.HasField("created_at") else None)
        if arm is None:
            number = received.number
            name = "an empty event" if number is None else f"unknown event, field {number}"
            self._line(clock(time), Piece(name, Style.ODD), "")
        else:
            style = Style.BAD if arm == "error" else Style.NAME
            self._line(clock(time), Piece(arm, style), _cut(gist(getattr(event, arm))))

    def typed(self, line: str) -> None:
        self._screen.show(Piece(f"> {line}", Style.STRONG))

    def answer(self, request: str, response: pb.SessionResponse) -> None:
        if response.error:
            self.failed(request, response.error)
        name = Piece("answer" if request == "run_input" else request, Style.GOOD)
        for line in _answer_lines(response):
            self._line("", name, line)
            name = Piece("")

    def failed(self, request: str, error: str) -> None:
        self._line("", Piece(f"{request} failed", Style.BAD), error)

    def outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, Ended):
            name, style = "ended", Style.GOOD
        else:
            name, style = "lost", Style.BAD
        self._screen.show(Piece(name, style), Piece(f": {told(outcome)}"))

    def note(self, text: str) -> None:
        self._screen.show(Piece(text, Style.FAINT))

    def warning(self, text: str) -> None:
        self._screen.show(Piece("warning", Style.ODD), Piece(f": {text}"))

    def _line(self, time: str, name: Piece, text: str) -> None:
        padding = Piece(" " * max(1, _NAMES - len(name.text)) if text else "")
        self._screen.show(Piece(f"{time:<14}", Style.FAINT), name, padding, Piece(text))


class JsonReport(Report):
    """JSON for programs. Each line is an object, whose first key says what it tells."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def listening(self, address: str, asks: bool) -> None:
        self._tell(listening=address)

    def connected(self) -> None:
        self._tell(connected=True)

    def event(self, received: ReceivedEvent) -> None:
        event, arm = received.event, received.arm
        self._tell(
            event=arm,
            number=received.number,
            created_at=_time(event),
            payload=None if arm is None else _dict(getattr(event, arm)),
        )

    def typed(self, line: str) -> None:
        """A program knows what it wrote."""

    def answer(self, request: str, response: pb.SessionResponse) -> None:
        payload = _payload(response)
        self._tell(
            answer=request,
            error=response.error or None,
            payload=None if payload is None else _dict(payload),
        )

    def failed(self, request: str, error: str) -> None:
        self._tell(failed=request, error=error)

    def outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, Ended):
            self._tell(outcome="ended", reason=outcome.reason_name, error=outcome.error)
        else:
            self._tell(outcome="lost", error=None if outcome.error is None else str(outcome.error))

    def note(self, text: str) -> None:
        self._tell(note=text)

    def warning(self, text: str) -> None:
        self._tell(warning=text)

    def _tell(self, **facts: Any) -> None:
        self._screen.write(json.dumps(facts) + "\n")


class ReportHandler(logging.Handler):
    """Shows what the log has to say in its place among the lines, rather than over the prompt."""

    def __init__(self, report: Report) -> None:
        super().__init__(logging.WARNING)
        self._report = report

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._report.warning(record.getMessage())
        except OutputLost:
            pass  # whoever shows the next line is told


def told(outcome: Outcome) -> str:
    """What is known of the end of a session."""
    if isinstance(outcome, Ended):
        return outcome.reason_name + (f", {outcome.error}" if outcome.error else "")
    if outcome.error is None:
        return "the agent is gone and never said why"
    return str(outcome.error)


def _cut(text: str) -> str:
    text = clean(text)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _answer_lines(response: pb.SessionResponse) -> list[str]:
    payload = _payload(response)
    if payload is None:
        return [] if response.error else [unknown(response)]
    lines = [line for row in rows(payload) for line in row.split("\n")]
    return lines or ([] if response.error else [NOTHING])


def _time(event: pb.AgentSessionEvent) -> str | None:
    if not event.HasField("created_at"):
        return None
    try:
        return event.created_at.ToJsonString()
    except (ValueError, OverflowError):  # no year has it
        return None


def _payload(response: pb.SessionResponse) -> Message | None:
    arm = response.WhichOneof("response")
    payload: Message | None = None if arm is None else getattr(response, arm)
    return payload


def _dict(message: Message) -> dict[str, Any] | None:
    """Returns the fields of a message, including zero values.

    Returns None for a message with a number or a time that JSON cannot represent.
    """
    try:
        fields: dict[str, Any] = MessageToDict(
            message,
            preserving_proto_field_name=True,
            always_print_fields_with_no_presence=True,
        )
    except (JsonError, ValueError, OverflowError):
        return None
    return fields
