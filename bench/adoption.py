"""Measures the classes of examples/livekit-agents against those of livekit-agents that they replace."""

from __future__ import annotations

import asyncio
import sys
import time
import timeit
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from livekit.agents import utils
from livekit.agents._proto import encode_chat_item, encode_session_usage
from livekit.agents.llm import ChatItem, ChatMessage, FunctionCall, FunctionCallOutput
from livekit.agents.metrics import AgentSessionUsage, LLMModelUsage, STTModelUsage, TTSModelUsage
from livekit.agents.voice import remote_session as sdk
from livekit.protocol.agent_pb import agent_session as pb
from measure import Row, Value, alternate, command, percentile, seconds

_EXAMPLE = Path(__file__).resolve().parents[1] / "examples" / "livekit-agents"
sys.path.insert(0, str(_EXAMPLE))

from remote_session import RemoteSession
from session_host import SessionHost
from session_protocol import encoders
from session_requests import SessionRequests

_ROUNDS = 31
_MESSAGES = "import livekit.protocol.agent_pb.agent_session"
_LAYERS = "from session_protocol import client, dispatch, encoders, enums, events, requests"
_ADOPTED = "livekit-agents on generated code"
_MOST_LINES = 3000


def rows() -> list[Row]:
    """Measures everything; takes about half a minute."""
    return [*asyncio.run(_requests()), *_encoders(), _import(), _lines()]


class _Transport(sdk.SessionTransport):
    """A transport of the SDK whose messages go to another one in the same process, as bytes."""

    def __init__(self) -> None:
        self._received = utils.aio.Chan[bytes]()
        self.other = self

    async def start(self) -> None: ...

    async def send_message(self, msg: pb.AgentSessionMessage) -> None:
        self.other._received.send_nowait(msg.SerializeToString())

    async def close(self) -> None:
        self._received.close()

    def __aiter__(self) -> AsyncIterator[pb.AgentSessionMessage]:
        return self

    async def __anext__(self) -> pb.AgentSessionMessage:
        return pb.AgentSessionMessage.FromString(await self._received.__anext__())


class _Pair:
    """A host and a driver of one kind, with a history of some items."""

    def __init__(self, host: type[sdk.SessionHost], driver: type[sdk.RemoteSession]) -> None:
        ends = _Transport(), _Transport()
        ends[0].other, ends[1].other = ends[1], ends[0]
        session: Any = SimpleNamespace(history=SimpleNamespace(items=[]))
        self.host, self.driver = host(ends[0]), driver(ends[1])
        self.session = self.host._session = session
        if isinstance(self.host, SessionHost):
            self.host._requests = SessionRequests(session)

    async def __aenter__(self) -> _Pair:
        await self.host.start()
        await self.driver.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.driver.aclose()
        await self.host.aclose()

    async def ping(self) -> None:
        if isinstance(self.driver, RemoteSession):
            await self.driver.requests.ping()
        else:
            # The SDK's driver has no method for it: this is what `wait_for_ready` does.
            request_id = utils.shortuuid("req_")
            ping = pb.SessionRequest(request_id=request_id, ping=pb.SessionRequest.Ping())
            await self.driver._send_request(ping)

    async def history(self) -> None:
        await self.host._handle_request_safe(
            pb.SessionRequest(request_id="1", get_chat_history=pb.SessionRequest.GetChatHistory())
        )


async def _requests() -> list[Row]:
    async with _Pair(SessionHost, RemoteSession) as ours:
        async with _Pair(sdk.SessionHost, sdk.RemoteSession) as peer:
            measured = [("ping", await _times(200, ours.ping, peer.ping), 1.1)]
            for count in (50, 200):
                ours.session.history.items = peer.session.history.items = _items(count)
                name = f"`get_chat_history` of {count} items, answered"
                measured.append((name, await _times(20, ours.history, peer.history), 4.0))
    return [_row(name, times, limit) for name, times, limit in measured]


async def _times(
    count: int, ours: Callable[[], Awaitable[None]], peer: Callable[[], Awaitable[None]]
) -> tuple[float, float]:
    """Returns the seconds of one call of each, which run in turn."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(_ROUNDS):
        for call, call_times in zip((ours, peer), times, strict=True):
            start = time.process_time()
            for _ in range(count):
                await call()
            call_times.append((time.process_time() - start) / count)
    return percentile(times[0]), percentile(times[1])


def _items(count: int) -> list[ChatItem]:
    """Returns a history in which a tool is called in every other turn."""
    metrics: Any = {"llm_node_ttft": 0.25, "tts_node_ttfb": 0.125, "e2e_latency": 0.75}
    turn: list[ChatItem] = [
        ChatMessage(
            role="user", content=["Will it rain in Oslo today?"], transcript_confidence=0.9
        ),
        FunctionCall(call_id="call_1", name="weather", arguments='{"city": "Oslo"}'),
        FunctionCallOutput(call_id="call_1", name="weather", output="sunny", is_error=False),
        ChatMessage(role="assistant", content=["Sunny, with a light wind."], metrics=metrics),
    ]
    return [turn[index % len(turn)] for index in range(count)]


def _encoders() -> list[Row]:
    user, call, _, _ = _items(4)
    usage = AgentSessionUsage(
        model_usage=[
            LLMModelUsage(provider="acme", model="m1", input_tokens=120, output_tokens=40),
            TTSModelUsage(provider="acme", model="v1", characters_count=900, audio_duration=61.5),
            STTModelUsage(provider="acme", model="e1", audio_duration=95.25),
        ]
    )
    item = encoders.encode_chat_context_chat_item
    return [
        _encoder("a chat message", item, encode_chat_item, user),
        _encoder("a function call", item, encode_chat_item, call),
        _encoder(
            "a usage report", encoders.encode_agent_session_usage, encode_session_usage, usage
        ),
    ]


def _encoder(name: str, ours: Any, peer: Any, source: object) -> Row:
    def measured(encode: Any) -> float:
        return timeit.timeit(lambda: encode(source), timer=time.process_time, number=1000) / 1000

    rounds = [(measured(ours), measured(peer)) for _ in range(_ROUNDS)]
    times = [percentile(column) for column in zip(*rounds, strict=True)]
    return _row(f"{name}, encoded", (times[0], times[1]), 4.0)


def _row(name: str, times: tuple[float, float], limit: float) -> Row:
    ours, peer = times
    beside = ("livekit-agents", seconds(peer))
    label = f"{_ADOPTED}: {name}"
    if limit < 2:  # how much slower it may be; otherwise how many times faster it must be
        return Row(label, seconds(ours), beside, ours / peer, limit)
    return Row(label, seconds(ours), beside, peer / ours, limit, at_least=True)


def _import() -> Row:
    python = (sys.executable, "-c")
    path = f"import sys; sys.path.insert(0, {str(_EXAMPLE)!r}); {_MESSAGES}"
    messages, layers = alternate(
        _ROUNDS, command(*python, path), command(*python, f"{path}; {_LAYERS}")
    )
    peer = ("the messages alone, with the interpreter", seconds(messages))
    more = layers - messages
    name = f"{_ADOPTED}: import of the package, in addition to the messages"
    return Row(name, seconds(more), peer, more * 1000, 30.0, " ms")


def _lines() -> Row:
    modules = (_EXAMPLE / "session_protocol").glob("*.py")
    count = sum(path.read_text(encoding="utf-8").count("\n") for path in modules)
    name = f"{_ADOPTED}: lines of the package"
    return Row(name, Value(count, f"{count:,}"), None, count, _MOST_LINES, " lines")
