"""Tests of a Python SDK whose host and driver stand on generated code.

The SDK contains the package that this repository generates, on the published messages.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from scopes import PYTHON
from small_sdks import PYTHON_SDK, Small, python_sdk
from small_python_sdk import HOST, HOST_PATH

from sessiongen.diagnostics import Rule, Severity
from sessiongen.targets.python.target import PythonTarget
from sessiongen.vocabulary import Answer, Place, Sending
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.python import read
from sessiongen.vocabulary.python.modules import GENERATED_MARK

GENERATED = Path(__file__).resolve().parents[4] / "generated/python/agent_session_protocol"
MESSAGES = "from livekit.protocol.agent_pb import agent_session as pb"
SOURCE = f"""\
from collections.abc import Callable
from typing import Any, Literal
from livekit import rtc
{MESSAGES}
from .agent_session import AgentSession
from .events import StateChangedEvent
from .._protocol.client import SessionRequestClient
from .._protocol.errors import RequestError
from .._protocol.events import AgentSessionEventForwarders, emit_event, subscribe
from .._protocol.encoders import fill_agent_session_event
from .._protocol.requests import SessionRequestHandler, answer

class Requests(SessionRequestHandler):
    async def ping(self, request: pb.SessionRequest.Ping) -> pb.SessionResponse.Pong:
        return pb.SessionResponse.Pong()

    async def run_input(self, request: pb.SessionRequest.RunInput) -> Any:
        if not request.text:
            raise RequestError("empty text")
        return None

class SessionHost:
    def register(self, session: AgentSession) -> None:
        subscribe(session, AgentSessionEventForwarders(
            agent_state_changed=self._state,
            user_state_changed=None,
            session_closed=lambda event: self._forward("session_closed", event),
        ))

    def _state(self, event: StateChangedEvent) -> None:
        self._forward("agent_state_changed", event)

    def _forward(self, arm: str, event: object) -> None:
        fill_agent_session_event(arm, event, pb.AgentSessionEvent())

    def on_amd(self, event: StateChangedEvent) -> None:
        self._forward("amd_prediction", event)

    async def handle(self, req: pb.SessionRequest) -> None:
        await answer(Requests(), req)

class Client(SessionRequestClient):
    pass

class RemoteSession(rtc.EventEmitter[Literal["agent_state_changed"]]):
    def deliver(self, event: pb.AgentSessionEvent) -> None:
        emit_event(self, event)

    async def get_history(self) -> object:
        return await self.client.get_chat_history()

    async def run(self, text: str) -> object:
        return await self.client.run_input(text=text)
"""


def adopted(source: str = SOURCE, extra: str = "") -> Small:
    """Returns the small SDK with its host and driver on generated code."""
    files = {
        f"_protocol/{path.name}": path.read_text().replace(
            "from . import agent_session_pb2 as pb", MESSAGES
        )
        for path in GENERATED.glob("*.py")
        if path.name not in {"agent_session_pb2.py", "overrides.py"}
    }
    caller = "def detect(host):\n    host.on_amd(None)\n"
    return python_sdk({**files, HOST: source + extra, "voice/detector.py": caller})


def line(text: str) -> int:
    return SOURCE[: SOURCE.index(text)].count("\n") + 1


def test_events_are_those_of_the_forwarders_and_of_calls_with_an_arm() -> None:
    small = adopted()
    assert small.errors == []
    assert small.vocabulary.host is not None
    forwards = {(item.arm, item.event, item.handler) for item in small.vocabulary.host.forwards}
    assert forwards >= {
        ("agent_state_changed", "agent_state_changed", "register"),
        ("session_closed", "close", "register"),
        ("amd_prediction", None, "on_amd"),
    }
    assert not any(item.arm == "user_state_changed" for item in small.vocabulary.host.forwards)
    [direct] = [it for it in small.vocabulary.host.forwards if it.arm == "amd_prediction"]
    assert direct.via == Place("livekit/agents/voice/detector.py", 2)
    assert direct.event_type == "StateChangedEvent"


def test_events_are_those_that_a_method_sends_to_the_sink() -> None:
    source = SOURCE.replace("import AgentSessionEventForwarders,", "import AgentSessionEventSink,")
    start, end = source.index("        subscribe("), source.index("    def _forward")
    handler = (
        '        session.on("state_changed", self._state)\n\n'
        "    def _state(self, event: StateChangedEvent) -> None:\n"
        "        self.sink.agent_state_changed(old_state=1, new_state=2)\n\n"
    )
    source = source[:start] + handler + source[end:]
    small = adopted(source + "\nclass Sink(AgentSessionEventSink):\n    pass\n")
    assert small.errors == []
    assert small.vocabulary.host is not None
    [state] = [it for it in small.vocabulary.host.forwards if it.arm == "agent_state_changed"]
    assert (state.event, state.handler) == ("state_changed", "_state")
    assert state.event_type == "StateChangedEvent"
    subscription = source[: source.index("session.on(")].count("\n") + 1
    assert state.via == Place(HOST_PATH, subscription)


def test_requests_are_the_methods_of_the_handler() -> None:
    small = adopted()
    assert small.vocabulary.host is not None
    assert small.vocabulary.host.answers == (
        Answer("ping", "pong", (), (), Place(HOST_PATH, line("    async def ping"))),
        Answer(
            "run_input",
            "run_input",
            ("text",),
            ("empty text",),
            Place(HOST_PATH, line("    async def run_input")),
        ),
    )
    answering = Place(HOST_PATH, line("        await answer("))
    assert small.vocabulary.host.unknown_request == answering


def test_envelope_is_filled_by_generated_functions() -> None:
    source = SOURCE.replace(
        "await answer(Requests(), req)", "await answer(Requests(), req, msg.response)"
    )
    source = source.replace("event, pb.AgentSessionEvent()", "event, msg.event")
    uses = {(it.arm, it.direction, it.within) for it in adopted(source).vocabulary.envelope_uses}
    assert uses == {
        ("response", "sends", "SessionHost.handle"),
        ("event", "sends", "SessionHost._forward"),
    }


def test_driver_emits_every_arm_and_sends_with_the_client() -> None:
    driver = adopted().vocabulary.driver
    assert driver is not None
    assert driver.emits_by_arm_name == Place(HOST_PATH, line("        emit_event("))
    assert driver.emits_payload_only is None
    assert driver.sends == (
        Sending(
            "get_chat_history",
            "get_history",
            Place(HOST_PATH, line("return await self.client.get_chat")),
        ),
        Sending("run_input", "run", Place(HOST_PATH, line("return await self.client.run_input"))),
    )


def test_driver_that_derives_from_the_client_sends_every_request() -> None:
    source = SOURCE.replace("class RemoteSession(", "class RemoteSession(SessionRequestClient, ")
    driver = adopted(source).vocabulary.driver
    assert driver is not None
    arms = {item.arm for item in driver.sends}
    assert {"ping", "update_io", "finalize_simulation", "get_chat_history"} <= arms


def test_request_that_is_passed_on_as_a_whole() -> None:
    source = SOURCE.replace("        if not request.text:", "        if not self.apply(request):")
    host = adopted(source).vocabulary.host
    assert host is not None
    assert [item.reads for item in host.answers] == [(), ("",)]


def test_request_that_the_handler_no_longer_answers_is_missing() -> None:
    source = SOURCE.replace(
        "    async def run_input(self, request", "    async def _run(self, request"
    )
    host = adopted(source).vocabulary.host
    assert host is not None
    assert [item.arm for item in host.answers] == ["ping"]


def test_generated_code_is_not_read_as_the_sdks() -> None:
    vocabulary = adopted().vocabulary
    assert vocabulary.generated == Place("livekit/agents/_protocol/__init__.py", 1)
    places = [item.place for item in vocabulary.constructions]
    assert not [item for item in places if "_protocol/" in item.file]
    assert {item.name for item in vocabulary.enums} == {"State", "EventTypes", "CloseReason"}


def test_message_that_is_made_by_hand_beside_generated_code_is_reported() -> None:
    made = "def stray():\n¶    return pb.AgentSessionEvent(error=pb.AgentSessionEvent.Error())\n"
    small = adopted(extra=made)
    [item] = [item for item in small.reading.diagnostics if item.rule is Rule.SDK_REQUEST]
    assert [item.span] == small.marks and item.severity is Severity.WARNING
    assert item.message.startswith("AgentSessionEvent.error is filled here")


def test_mark_is_that_of_the_python_target() -> None:
    assert PythonTarget.mark == GENERATED_MARK


def test_unchanged_sdk_has_no_generated_code() -> None:
    assert python_sdk().errors == [] and "_protocol" not in "".join(PYTHON_SDK)


def test_literals_and_classes_are_read_without_host_and_driver() -> None:
    scope = replace(PYTHON, required=(), session="", host="", driver="")
    files = {f"livekit/agents/{path}": text.encode() for path, text in PYTHON_SDK.items()}
    reading = read(Package("sdk", files), replace(scope, required=("CloseReason", "State")))
    assert reading.diagnostics == []
    assert reading.vocabulary is not None
    assert {item.name for item in reading.vocabulary.enums} >= {"CloseReason", "State"}
    assert (reading.vocabulary.host, reading.vocabulary.driver) == (None, None)
