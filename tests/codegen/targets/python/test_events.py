"""Tests of the contract's event sink, forwarders and listeners.

They need only the contract's package, not the generator.
"""

from __future__ import annotations

import asyncio
import dataclasses
import gc
import inspect
import logging
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import partial
from typing import Any

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import AgentSessionEventArm
from agent_session_protocol.events import (
    SDK_EVENTS,
    AgentSessionEventForwarders,
    AgentSessionEventListeners,
    AgentSessionEventSink,
    emit_event,
    subscribe,
)
from google.protobuf.duration_pb2 import Duration
from google.protobuf.timestamp_pb2 import Timestamp

Event = pb.AgentSessionEvent


class Sink(AgentSessionEventSink):
    """Keeps what it is given to emit."""

    def __init__(self) -> None:
        self.events: list[pb.AgentSessionEvent] = []

    def emit(self, event: pb.AgentSessionEvent) -> None:
        self.events.append(event)


# ---------------------------------------------------------------------------------------
# The sink.


def test_natural_values_become_an_event() -> None:
    sink = Sink()
    sink.eot_prediction(
        probability=0.75,
        threshold=0.5,
        inference_duration=timedelta(milliseconds=12),
        delay=1.5,
        created_at=datetime(2001, 9, 9, 1, 46, 40, tzinfo=timezone.utc),
    )
    assert sink.events == [
        Event(
            created_at=Timestamp(seconds=10**9),
            eot_prediction=Event.EotPrediction(
                probability=0.75,
                threshold=0.5,
                inference_duration=Duration(nanos=12_000_000),
                delay=Duration(seconds=1, nanos=500_000_000),
            ),
        )
    ]


def test_none_leaves_a_field_unset() -> None:
    sink = Sink()
    sink.session_closed(reason=pb.CR_USER_INITIATED, error=None, created_at=0)
    sink.session_closed(reason=pb.CR_ERROR, error="", created_at=0)
    first, second = (event.session_closed for event in sink.events)
    assert (first.HasField("error"), second.HasField("error")) == (False, True)
    assert (first.reason, second.reason) == (pb.CR_USER_INITIATED, pb.CR_ERROR)
    sink.overlapping_speech(
        is_interruption=True, overlap_started_at=None, detection_delay=0.5, detected_at=2
    )
    speech = sink.events[-1].overlapping_speech
    assert not speech.HasField("overlap_started_at")
    assert speech.detected_at == Timestamp(seconds=2)


def test_event_without_a_time_has_the_current_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time_ns", lambda: 5_000_000_007)
    sink = Sink()
    sink.error(message="x")
    assert sink.events[0].created_at == Timestamp(seconds=5, nanos=7)


def test_every_field_must_be_named() -> None:
    sink: Any = Sink()
    with pytest.raises(TypeError, match="error"):
        sink.session_closed(reason=pb.CR_ERROR)
    with pytest.raises(TypeError, match="positional"):
        sink.error("x")
    methods = {arm: inspect.signature(getattr(AgentSessionEventSink, arm)) for arm in SDK_EVENTS}
    for arm, signature in methods.items():
        keyword_parameters = [item for item in signature.parameters.values() if item.name != "self"]
        assert {item.kind for item in keyword_parameters} == {inspect.Parameter.KEYWORD_ONLY}
        payload = Event.DESCRIPTOR.fields_by_name[arm].message_type
        assert payload is not None
        oneofs = {item.name for item in payload.fields if item.containing_oneof in _real(payload)}
        assert {item.name for item in keyword_parameters} == {*payload.fields_by_name, "created_at"}
        optional = {
            item.name for item in keyword_parameters if item.default is not inspect.Parameter.empty
        }
        assert optional == {"created_at", *oneofs}, arm


def _real(message: Any) -> list[Any]:
    """Returns the oneofs of a message without those of `optional` fields."""
    return [item for item in message.oneofs if not item.name.startswith("_")]


# ---------------------------------------------------------------------------------------
# Forwarders.


class Emitter:
    """An emitter that stores its subscriptions in order."""

    def __init__(self) -> None:
        self.callbacks: list[tuple[str, Callable[[Any], None]]] = []

    def on(self, event: str, callback: Callable[[Any], None]) -> None:
        self.callbacks.append((event, callback))

    def off(self, event: str, callback: Callable[[Any], None]) -> None:
        self.callbacks.remove((event, callback))

    def raise_event(self, name: str, value: object) -> None:
        for event, callback in list(self.callbacks):
            if event == name:
                callback(value)


def forwarders(**callbacks: Callable[[Any], None]) -> AgentSessionEventForwarders:
    rest: dict[str, Any] = dict.fromkeys(SDK_EVENTS)
    return AgentSessionEventForwarders(**{**rest, **callbacks})


def test_forwarders_are_subscribed_under_the_sdks_names() -> None:
    emitter, heard = Emitter(), list[tuple[str, object]]()
    undo = subscribe(
        emitter,
        forwarders(
            session_closed=lambda event: heard.append(("closed", event)),
            error=lambda event: heard.append(("error", event)),
        ),
    )
    assert [name for name, _ in emitter.callbacks] == ["error", "close"]
    for name in ("close", "error", "session_closed", "agent_state_changed"):
        emitter.raise_event(name, name)
    assert heard == [("closed", "close"), ("error", "error")]
    undo()
    assert emitter.callbacks == []
    undo()


def test_unsubscribing_keeps_other_subscriptions() -> None:
    emitter = Emitter()

    def callback(event: object) -> None:
        raise AssertionError(event)

    first = subscribe(emitter, forwarders(error=callback))
    second = subscribe(emitter, forwarders(error=callback))
    first()
    assert emitter.callbacks == [("error", callback)]
    second()
    assert emitter.callbacks == []


def test_forwarders_are_total_and_frozen() -> None:
    with pytest.raises(TypeError, match="session_closed"):
        AgentSessionEventForwarders(error=None)  # type: ignore[call-arg]
    with pytest.raises(dataclasses.FrozenInstanceError):
        forwarders().error = None  # type: ignore[misc]


def test_only_the_close_event_has_another_name() -> None:
    assert {arm: name for arm, name in SDK_EVENTS.items() if arm != name} == {
        "session_closed": "close"
    }


# ---------------------------------------------------------------------------------------
# Listeners.

ERROR = Event(error=Event.Error(message="m"))


def test_a_listener_gets_payload_and_event() -> None:
    listeners, heard = AgentSessionEventListeners(), list[object]()
    listeners.on_error(lambda payload, event: heard.append((payload, event)))
    listeners.on_session_closed(lambda payload, event: heard.append("wrong"))
    listeners.deliver(ERROR)
    assert heard == [(Event.Error(message="m"), ERROR)]


@pytest.mark.parametrize("kind", [LookupError, asyncio.CancelledError])
def test_other_listeners_run_if_one_raises(
    kind: type[BaseException], caplog: pytest.LogCaptureFixture
) -> None:
    listeners, heard = AgentSessionEventListeners(), list[str]()

    def fail(payload: object, event: object) -> None:
        raise kind("mine")

    listeners.on_error(lambda payload, event: heard.append("first"))
    listeners.on_error(fail)
    listeners.on_error(lambda payload, event: heard.append("last"))
    listeners.deliver(ERROR)
    assert heard == ["first", "last"]
    (record,) = caplog.records
    assert (record.levelno, record.getMessage()) == (logging.ERROR, "a listener of error failed")
    assert record.exc_info is not None and str(record.exc_info[1]) == "mine"


async def _async_listener(payload: object, event: object) -> None:
    raise AssertionError("never awaited")


class _AsyncCallable:
    async def __call__(self, payload: object, event: object) -> None:
        raise AssertionError("never awaited")


@pytest.mark.parametrize("listener", [_async_listener, partial(_async_listener), _AsyncCallable()])
def test_async_listener_raises(listener: Any) -> None:
    listeners = AgentSessionEventListeners()
    for add in (listeners.on_error, listeners.on_unknown):
        with pytest.raises(TypeError, match="async"):
            add(listener)


def test_listener_that_returns_a_coroutine_fails(
    caplog: pytest.LogCaptureFixture, recwarn: pytest.WarningsRecorder
) -> None:
    listeners, heard = AgentSessionEventListeners(), list[str]()
    listener: Any = lambda payload, event: _async_listener(payload, event)
    listeners.on_error(listener)
    listeners.on_error(lambda payload, event: heard.append("last"))
    listeners.deliver(ERROR)
    gc.collect()
    assert heard == ["last"] and not recwarn.list
    (record,) = caplog.records
    assert record.exc_info is not None and "nothing awaits" in str(record.exc_info[1])


def test_a_removed_listener_is_not_called() -> None:
    listeners, heard = AgentSessionEventListeners(), list[str]()
    remove = listeners.on_error(lambda payload, event: heard.append("first"))
    listeners.on_error(lambda payload, event: heard.append("second"))
    remove()
    remove()
    listeners.deliver(ERROR)
    assert heard == ["second"]


def test_a_listener_added_twice_is_removed_once_each() -> None:
    listeners, heard = AgentSessionEventListeners(), list[str]()

    def listener(payload: object, event: object) -> None:
        heard.append("called")

    first, second = listeners.on_error(listener), listeners.on_error(listener)
    listeners.deliver(ERROR)
    first()
    first()
    listeners.deliver(ERROR)
    second()
    listeners.deliver(ERROR)
    assert len(heard) == 3


def test_removal_and_addition_during_delivery() -> None:
    listeners, heard = AgentSessionEventListeners(), list[str]()

    def first(payload: object, event: object) -> None:
        heard.append("first")
        remove_first()
        remove_second()
        listeners.on_error(lambda payload, event: heard.append("new"))

    remove_first = listeners.on_error(first)
    remove_second = listeners.on_error(lambda payload, event: heard.append("second"))
    listeners.on_error(lambda payload, event: heard.append("third"))
    listeners.deliver(ERROR)
    assert heard == ["first", "third"]
    listeners.deliver(ERROR)
    assert heard == ["first", "third", "third", "new"]


@pytest.mark.parametrize(
    "data, number", [(b"", None), (b"\xba\x3e\x00", 999), (b"\x82\x7d\x02\x08\x01", 2000)]
)
def test_unknown_event(data: bytes, number: int | None) -> None:
    listeners, heard = AgentSessionEventListeners(), list[object]()
    listeners.on_unknown(lambda unknown_number, event: heard.append((unknown_number, event)))
    event = Event.FromString(data)
    listeners.deliver(event)
    assert heard == [(number, event)]


def test_two_arms_of_one_oneof_are_refused() -> None:
    started = Event.ToolExecutionUpdated.Started()
    ended = Event.ToolExecutionUpdated.Ended()
    emitted: list[Event] = []

    class Sink(AgentSessionEventSink):
        def emit(self, event: Event) -> None:
            emitted.append(event)

    with pytest.raises(ValueError, match="ToolExecutionUpdated.update holds one arm, not 2"):
        Sink().tool_execution_updated(started=started, ended=ended)
    assert emitted == []
    Sink().tool_execution_updated(ended=ended)
    assert emitted[0].tool_execution_updated.WhichOneof("update") == "ended"


def test_event_without_listeners() -> None:
    AgentSessionEventListeners().deliver(ERROR)
    AgentSessionEventListeners().deliver(Event())


def test_every_arm_is_a_literal() -> None:
    from typing import get_args

    arms = get_args(AgentSessionEventArm)
    assert arms == tuple(item.name for item in Event.DESCRIPTOR.oneofs_by_name["event"].fields)


# ---------------------------------------------------------------------------------------
# Events through the emitter of an SDK's driver.


def test_an_event_is_emitted_under_the_name_of_its_arm() -> None:
    # The tests with other versions of Python install protobuf only.
    rtc = pytest.importorskip("livekit.rtc")
    emitter = rtc.EventEmitter[str]()
    received: list[Event] = []
    emitter.on("error", received.append)
    emitter.on("debug_message", lambda: received.append(Event()))
    event = Event(error=Event.Error(message="it broke"), created_at=Timestamp(seconds=5))
    assert emit_event(emitter, event) is None
    assert received == [event] and received[0] is event
    assert emit_event(emitter, Event(debug_message=pb.DebugMessage())) is None
    assert received[1:] == [Event()]


def test_an_unknown_event_is_not_emitted_but_its_number_returned() -> None:
    class Strict:
        def emit(self, event: str, *args: object) -> None:
            raise AssertionError(event)

    assert emit_event(Strict(), Event.FromString(b"\x9a\x06\x00")) == 99
    assert emit_event(Strict(), Event()) is None
