"""Prints what happens in a session: lines for people, or one JSON object per line."""

from __future__ import annotations

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime, timezone
from typing import Any, Final

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.values import timestamp_or_now
from google.protobuf.json_format import Error as JsonError
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from ..driver.outcome import Ended, Outcome
from ..driver.events import ReceivedEvent
from .message_summary import NOTHING, describe_unknown, format_time, summarize, summary_lines
from .screen import OutputClosed, StyledText, Screen, Style, clean

# The largest number of characters of an event. Responses are shown in full.
_MAX_EVENT_LENGTH: Final = 400

# The width of the column of names.
_NAME_COLUMNS: Final = 26


class Report(ABC):
    """Prints what happens in a session.

    All methods raise `OutputClosed` if the output cannot be written.
    """

    @abstractmethod
    def listening(self, address: str, interactive: bool) -> None:
        """Reports the address to connect to, and whether lines can be typed at a prompt."""

    @abstractmethod
    def connected(self) -> None:
        """Reports that an agent has connected."""

    @abstractmethod
    def event(self, received: ReceivedEvent) -> None:
        """Reports an event of the session."""

    @abstractmethod
    def sent(self, line: str, number: int | None = None) -> None:
        """Reports a line of the input.

        Args:
            line: the text.
            number: identifies the line. The report of its response has the same number.
        """

    @abstractmethod
    def answer(self, request: str, response: pb.SessionResponse, number: int | None = None) -> None:
        """Reports a response, which may be an error."""

    @abstractmethod
    def failed(self, request: str, error: str, number: int | None = None) -> None:
        """Reports a request without a response."""

    @abstractmethod
    def outcome(self, outcome: Outcome) -> None:
        """Reports the end of the session."""

    @abstractmethod
    def note(self, text: str) -> None:
        """Reports something that does not belong to the session."""

    @abstractmethod
    def warning(self, text: str) -> None:
        """Reports a warning of the log."""

    def help(self, entries: Sequence[tuple[str, str]]) -> None:
        """Reports the lines that can be typed, with their meaning."""
        for command, meaning in entries:
            self.note(f"{command:<{_NAME_COLUMNS}}{meaning}")


class TextReport(Report):
    """Prints lines for people."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def listening(self, address: str, interactive: bool) -> None:
        keys = "; type text for the agent, /help for help, Ctrl-D to quit" if interactive else ""
        self.note(f"listening on {address}{keys}")

    def connected(self) -> None:
        self.note("an agent is connected")

    def event(self, received: ReceivedEvent) -> None:
        event, arm = received.event, received.arm
        time = timestamp_or_now(event.created_at if event.HasField("created_at") else None)
        if arm is None:
            number = received.number
            name = "an empty event" if number is None else f"unknown event, field {number}"
            self._line(format_time(time), StyledText(name, Style.WARNING), "")
        else:
            style = Style.ERROR if arm == "error" else Style.NAME
            self._line(
                format_time(time), StyledText(arm, style), _shorten(summarize(getattr(event, arm)))
            )

    def sent(self, line: str, number: int | None = None) -> None:
        self._screen.show(StyledText(f"> {line}", Style.BOLD))

    def answer(self, request: str, response: pb.SessionResponse, number: int | None = None) -> None:
        if response.error:
            self.failed(request, response.error)
        name = StyledText("answer" if request == "run_input" else request, Style.SUCCESS)
        for line in _response_lines(response):
            self._line("", name, line)
            name = StyledText("")

    def failed(self, request: str, error: str, number: int | None = None) -> None:
        self._line("", StyledText(f"{request} failed", Style.ERROR), error)

    def outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, Ended):
            name, style = "ended", Style.SUCCESS
        else:
            name, style = "lost", Style.ERROR
        self._screen.show(StyledText(name, style), StyledText(f": {describe_outcome(outcome)}"))

    def note(self, text: str) -> None:
        self._screen.show(StyledText(text, Style.DIM))

    def warning(self, text: str) -> None:
        self._screen.show(StyledText("warning", Style.WARNING), StyledText(f": {text}"))

    def _line(self, time: str, name: StyledText, text: str) -> None:
        padding = StyledText(" " * max(1, _NAME_COLUMNS - len(name.text)) if text else "")
        self._screen.show(StyledText(f"{time:<14}", Style.DIM), name, padding, StyledText(text))


class JsonReport(Report):
    """Prints one JSON object per line. The first key of an object is the kind of the entry."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen

    def listening(self, address: str, interactive: bool) -> None:
        self._write(listening=address)

    def connected(self) -> None:
        self._write(connected=True)

    def event(self, received: ReceivedEvent) -> None:
        event, arm = received.event, received.arm
        self._write(
            event=arm,
            number=received.number,
            created_at=_time(event),
            payload=None if arm is None else _dict(getattr(event, arm)),
        )

    def sent(self, line: str, number: int | None = None) -> None:
        self._write(sent=line, id=number, time=_now())

    def answer(self, request: str, response: pb.SessionResponse, number: int | None = None) -> None:
        payload = _payload(response)
        self._write(
            answer=request,
            id=number,
            time=_now(),
            error=response.error or None,
            payload=None if payload is None else _dict(payload),
        )

    def failed(self, request: str, error: str, number: int | None = None) -> None:
        self._write(failed=request, id=number, time=_now(), error=error)

    def outcome(self, outcome: Outcome) -> None:
        if isinstance(outcome, Ended):
            self._write(outcome="ended", reason=outcome.reason_name, error=outcome.error)
        else:
            self._write(outcome="lost", error=None if outcome.error is None else str(outcome.error))

    def note(self, text: str) -> None:
        self._write(note=text)

    def warning(self, text: str) -> None:
        self._write(warning=text)

    def _write(self, **entry: Any) -> None:
        self._screen.write(json.dumps(entry) + "\n")


class ReportHandler(logging.Handler):
    """Adds warnings of the log to a report, so that they do not overwrite the prompt."""

    def __init__(self, report: Report) -> None:
        super().__init__(logging.WARNING)
        self._report = report

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._report.warning(record.getMessage())
        except OutputClosed:
            pass  # the next line that is reported raises it as well


def describe_outcome(outcome: Outcome) -> str:
    """Returns the reason of the end of a session."""
    if isinstance(outcome, Ended):
        return outcome.reason_name + (f", {outcome.error}" if outcome.error else "")
    if outcome.error is None:
        return "the agent disconnected without session_closed"
    return str(outcome.error)


def _shorten(text: str) -> str:
    text = clean(text)
    if len(text) <= _MAX_EVENT_LENGTH:
        return text
    return f"{text[:_MAX_EVENT_LENGTH]}… ({len(text)} characters)"


def _response_lines(response: pb.SessionResponse) -> list[str]:
    payload = _payload(response)
    if payload is None:
        return [] if response.error else [describe_unknown(response)]
    lines = [line for text in summary_lines(payload) for line in text.split("\n")]
    return lines or ([] if response.error else [NOTHING])


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _time(event: pb.AgentSessionEvent) -> str | None:
    if not event.HasField("created_at"):
        return None
    try:
        return event.created_at.ToJsonString()
    except (ValueError, OverflowError):  # the year is out of range
        return None


def _payload(response: pb.SessionResponse) -> Message | None:
    arm = response.WhichOneof("response")
    payload: Message | None = None if arm is None else getattr(response, arm)
    return payload


def _dict(message: Message) -> dict[str, Any] | None:
    """Returns the fields of a message, including zero values, and None for absent ones.

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
    _add_absent(message, fields)
    return fields


def _add_absent(message: Message, fields: dict[str, Any]) -> None:
    """Adds the absent fields of a message, and of the messages in it, but not arms of a oneof."""
    for field in message.DESCRIPTOR.fields:
        oneof = field.containing_oneof
        # A field that is `optional` is in a oneof that protoc has named after it.
        if field.name not in fields and (oneof is None or oneof.name == f"_{field.name}"):
            fields[field.name] = None
        elif field.name in fields and field.message_type is not None:
            value, written = getattr(message, field.name), fields[field.name]
            if isinstance(written, list):
                for inner, inner_fields in zip(value, written):
                    _add_absent_to(inner, inner_fields)
            else:
                _add_absent_to(value, written)


def _add_absent_to(value: Any, written: Any) -> None:
    """Calls `_add_absent` for a message that is written as an object with its fields."""
    if isinstance(value, Message) and value.DESCRIPTOR.file.package != "google.protobuf":
        _add_absent(value, written)
