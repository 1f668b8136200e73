"""A driver and a session that the test controls, for tests of hosts.

`PlainSession` replaces the session of an SDK. `scripted_agent.py` has a real one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

from agent_session import (
    SessionAdapter,
    MemorySessionTransport,
    SessionHost,
    SessionTransport,
    TransportError,
    memory_pair,
)
from agent_session.host.adapter import AudioFrame, AudioSink, HostHandle
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import responses

TIMEOUT = 10.0
# The limit of the finalize hold. It is far above TIMEOUT, so that a hold that does not end, or that
# should not be, fails the test.
HOLD = 600.0


def request(request_id: str, arm: str | None, **fields: Any) -> pb.AgentSessionMessage:
    message = pb.AgentSessionMessage()
    message.request.request_id = request_id
    if arm is not None:
        payload = getattr(message.request, arm)
        payload.SetInParent()
        for name, value in fields.items():
            setattr(payload, name, value)
    return message


class Driver:
    """A driver that sends requests and records all messages."""

    def __init__(self, transport: SessionTransport) -> None:
        self.transport = transport
        self.messages: list[pb.AgentSessionMessage] = []
        self.ended = False
        self.reason: TransportError | None = None
        self._changed = asyncio.Event()
        self._last = 0

    def message_received(self, message: pb.AgentSessionMessage) -> None:
        self.messages.append(message)
        self._changed.set()

    def transport_ended(self, reason: TransportError | None) -> None:
        self.ended, self.reason = True, reason
        self._changed.set()

    @property
    def responses(self) -> list[pb.SessionResponse]:
        return [each.response for each in self.messages if each.HasField("response")]

    @property
    def events(self) -> list[pb.AgentSessionEvent]:
        return [each.event for each in self.messages if each.HasField("event")]

    def arms(self) -> list[str | None]:
        """Returns the arms of the events in order."""
        return [event.WhichOneof("event") for event in self.events]

    async def send(self, arm: str | None, request_id: str | None = None, **fields: Any) -> str:
        """Sends a request without waiting for the response, and returns its id."""
        self._last += 1
        name = str(self._last) if request_id is None else request_id
        await self.transport.send(request(name, arm, **fields))
        return name

    async def answer(self, request_id: str) -> pb.SessionResponse:
        """Waits for the response to a request, and returns it."""
        await self.until(lambda: request_id in [each.request_id for each in self.responses])
        return next(each for each in self.responses if each.request_id == request_id)

    async def ask(self, arm: str | None, **fields: Any) -> pb.SessionResponse:
        return await self.answer(await self.send(arm, **fields))

    async def event(self, arm: str) -> pb.AgentSessionEvent:
        """Waits for the first event of an arm, and returns it."""
        await self.until(lambda: arm in self.arms())
        return self.events[self.arms().index(arm)]

    async def end(self) -> None:
        """Waits for the end of the transport."""
        await self.until(lambda: self.ended)

    async def until(self, condition: Callable[[], bool]) -> None:
        async def wait() -> None:
            while not condition():
                self._changed.clear()
                await self._changed.wait()

        await asyncio.wait_for(wait(), TIMEOUT)


async def ready(driver: Driver) -> None:
    """Waits until the agent listens."""
    listening = pb.AS_LISTENING
    await driver.until(
        lambda: any(event.agent_state_changed.new_state == listening for event in driver.events)
    )


@asynccontextmanager
async def hosted(
    session: Any, **settings: Any
) -> AsyncIterator[tuple[Driver, SessionHost, MemorySessionTransport]]:
    """Yields a driver, the host of a session, and the host's transport, connected in memory."""
    settings.setdefault("finalize_timeout", HOLD)
    host_end, driver_end = memory_pair()
    driver = Driver(driver_end)
    driver_end.deliver_to(driver)
    async with SessionHost(session, host_end, **settings) as host:
        yield driver, host, host_end
    await driver_end.close()


class PlainRun:
    """A run that the test ends."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.result: asyncio.Future[Sequence[Any]] = asyncio.get_running_loop().create_future()

    def done(self) -> bool:
        return self.result.done()

    async def wait(self) -> Sequence[Any]:
        return await asyncio.shield(self.result)


async def _stats() -> responses.GetRTCStatsResponse:
    return {"publisher_stats": [{"rtt": 0.5}], "subscriber_stats": []}


class PlainSession(SessionAdapter):
    """A session that the test controls.

    Attributes:
        asked: how often the host has read the chat items, the agent or blocked statistics.
    """

    def __init__(self) -> None:
        self.host: HostHandle | None = None
        self.asked = 0
        self.items: list[Any] = []
        self.info: Any = {
            "id": "clerk",
            "instructions": "be brief",
            "tools": ["look", "find"],
            "chat_ctx": self.items,
        }
        self.state: Any = {
            "agent_state": "listening",
            "user_state": "away",
            "agent_id": "clerk",
            "options": {"max_tool_steps": "3"},
            "created_at": 1_700_000_000.25,
        }
        self.used: dict[str, Any] = {"model_usage": []}
        self.stats: Callable[[], Awaitable[Any]] = _stats
        self.closes_soon = False
        self.started = asyncio.Event()
        self.started.set()
        self.switches: list[tuple[str, str, bool]] = []
        self.runs: list[PlainRun] = []
        self.interrupts = 0
        self.cannot_interrupt = False
        self.simulated = False
        self.finalizing: list[tuple[bool, str]] = []
        self.on_finalize: Callable[[], Any] = lambda: None
        self.verdict: Any = None
        self.console: PlainConsole | None = None
        self.listeners: dict[str, list[Callable[[Any], None]]] = {}

    # Called by tests.

    def emit(self, event: str, source: Any) -> None:
        for listener in list(self.listeners.get(event, ())):
            listener(source)

    def closes(self, reason: str = "user_initiated", error: object = None) -> None:
        self.closes_soon = True
        self.emit("close", SimpleNamespace(reason=reason, error=error, created_at=1_700_000_009.5))

    async def run_begins(self, count: int = 1) -> PlainRun:
        """Waits until `count` runs have started, and returns the last one."""
        while len(self.runs) < count:
            await asyncio.sleep(0)
        return self.runs[-1]

    # Called by the host.

    def on(self, event: Any, callback: Any) -> Any:
        self.listeners.setdefault(event, []).append(callback)

    def off(self, event: Any, callback: Any) -> Any:
        self.listeners[event].remove(callback)

    def attach(self, host: HostHandle) -> None:
        self.host = host

    def detach(self) -> None:
        self.host = None

    @property
    def agent_state(self) -> str:
        return str(self.state["agent_state"])

    @property
    def closing(self) -> bool:
        return self.closes_soon

    def chat_items(self) -> Sequence[Any]:
        self.asked += 1
        return self.items

    def agent_info(self) -> responses.GetAgentInfoResponse:
        self.asked += 1
        info: responses.GetAgentInfoResponse = self.info
        return info

    def session_state(self) -> responses.GetSessionStateResponse:
        state: responses.GetSessionStateResponse = self.state
        return state

    def usage(self) -> Any:
        return self.used

    def framework_info(self) -> responses.GetFrameworkInfoResponse:
        return {"sdk": "plain", "sdk_version": "1.2"}

    async def rtc_stats(self) -> responses.GetRTCStatsResponse:
        stats: responses.GetRTCStatsResponse = await self.stats()
        return stats

    def switch(self, side: str, name: str, on: bool) -> None:
        self.switches.append((side, name, on))

    async def wait_started(self) -> None:
        await self.started.wait()

    async def interrupt(self) -> None:
        self.interrupts += 1
        if self.cannot_interrupt:
            raise RuntimeError("this speech cannot be interrupted")

    def run(self, text: str) -> PlainRun:
        assert not self.runs or self.runs[-1].done(), "one run at a time"
        self.runs.append(PlainRun(text))
        return self.runs[-1]

    def awaits_finalize(self, close: Any) -> bool:
        return self.simulated

    async def finalize(self, success: bool, reason: str) -> None:
        self.finalizing.append((success, reason))
        result = self.on_finalize()
        if asyncio.iscoroutine(result):
            await result

    def user_verdict(self) -> Any | None:
        return self.verdict

    def open_console(self, sink: AudioSink) -> PlainConsole:
        self.console = PlainConsole(sink)
        return self.console


def block_stats(session: PlainSession) -> asyncio.Event:
    """Makes get_rtc_stats wait for an event, and returns the event."""
    event = asyncio.Event()

    async def stats() -> responses.GetRTCStatsResponse:
        session.asked += 1
        await event.wait()
        return {"publisher_stats": (), "subscriber_stats": ()}

    session.stats = stats
    return event


class PlainConsole:
    """Records the audio input and the notifications of the host."""

    def __init__(self, sink: AudioSink) -> None:
        self.sink = sink
        self.frames: list[AudioFrame] = []
        self.notes: list[str] = []

    def push_input(self, frame: AudioFrame) -> None:
        self.frames.append(frame)

    def playback_finished(self) -> None:
        self.notes.append("played")

    def end(self) -> None:
        self.notes.append("end")


def chat_message(number: int, text: str = "hello") -> dict[str, Any]:
    return {
        "type": "message",
        "id": f"item_{number}",
        "role": "user",
        "content": [text],
        "interrupted": False,
        "extra": {},
        "metrics": {},
        "created_at": 1_700_000_000.0 + number,
    }
