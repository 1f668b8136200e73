"""Fuzz test of a driver: `python fuzz_driver.py [INPUTS [SEED]]`.

The host sends random messages, responses to requests that are pending, late or unknown, and damaged
bytes. The test fails if a call raises an error that is not documented, if an error is logged or
not retrieved, or if the session does not continue.
"""

from __future__ import annotations

import asyncio
import logging
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agent_session import (
    EventsMissed,
    EventStream,
    FrameTooLarge,
    MemorySessionTransport,
    RemoteSession,
    SessionError,
    TransportError,
    TruncatedFrame,
    memory_pair,
)
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import AGENT_SESSION_EVENT_ARMS
from agent_session_protocol.errors import RequestError, UnexpectedArmError
from random_wire_messages import damaged, fill
from transport_messages import framed

MAX_INPUTS_PER_SESSION = 200
DOCUMENTED = (SessionError, TransportError, RequestError, UnexpectedArmError)


class ErrorRecorder(logging.Handler):
    """Records the errors in the log."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.unhandled: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.unhandled.append(record.getMessage())


class SilentConsole:
    """A console that plays nothing."""

    def audio_output(self, frame: object) -> None:
        pass

    def audio_playback_flush(self) -> None:
        pass

    def audio_playback_clear(self) -> None:
        pass


def body(rng: random.Random, ids: list[str]) -> bytes:
    """Returns the bytes of a random message of the host, sometimes damaged."""
    message = pb.AgentSessionMessage()
    kind = rng.randrange(4)
    if kind == 0:
        fill(message, rng)
    elif kind == 1:
        fill(message.event, rng)
    else:
        fill(message.response, rng)
        message.response.request_id = rng.choice(ids)
        if kind == 3:
            message.response.ClearField("error")
    data = message.SerializeToString()
    return damaged(data, rng) if rng.random() < 0.3 else data


def calls_of(session: RemoteSession) -> list[asyncio.Future[Any]]:
    return [
        asyncio.ensure_future(call)
        for call in (
            session.ping(),
            session.run_input(text="one"),
            session.run_input(text="two"),
            session.get_chat_history(),
            session.finalize_simulation(provisional_success=True, provisional_reason=""),
            session.get_agent_info(timeout=0.0),
            session.wait_ended(),
        )
    ]


async def one_session(rng: random.Random, inputs: int) -> None:
    """Runs a session whose host sends `inputs` messages, answers a ping and ends."""
    driver_end, host_end = memory_pair(chunk=rng.choice([1, 7, 64, 1 << 16]))
    session = RemoteSession(driver_end, console=rng.choice([None, SilentConsole()]))
    delivered: list[pb.AgentSessionEvent] = []
    for arm in AGENT_SESSION_EVENT_ARMS:
        getattr(session, f"on_{arm}")(lambda _, event: delivered.append(event))
    session.on_unknown(lambda _, event: delivered.append(event))
    stream = session.events(limit=rng.choice([0, 2000, 1 << 20]))
    async with host_end, session:
        calls = calls_of(session)
        ids = ["", "strange", *[(await next_request(host_end)).request_id for _ in range(6)]]
        for _ in range(inputs):
            host_end._put(framed(body(rng, ids)))
        await check_ping(session, host_end)
        await end(rng, session, host_end)
        for result in await asyncio.gather(*calls, return_exceptions=True):
            assert not isinstance(result, BaseException) or isinstance(result, DOCUMENTED), result
        await check_events(stream, delivered)
        assert not session._pending._entries


async def next_request(host_end: MemorySessionTransport) -> pb.SessionRequest:
    """Returns the next request of the driver. Skips its audio messages."""
    while True:
        message = await host_end.__anext__()
        if message.HasField("request"):
            return message.request


async def check_ping(session: RemoteSession, host_end: MemorySessionTransport) -> None:
    """Checks that the session still works."""
    for last in (False, True):
        pinging = asyncio.ensure_future(session.ping())
        response = pb.SessionResponse(pong=pb.SessionResponse.Pong())
        response.request_id = (await next_request(host_end)).request_id
        host_end.send_nowait(pb.AgentSessionMessage(response=response))
        try:
            await pinging
            return
        except (RequestError, UnexpectedArmError):
            # A damaged message may have the id of this ping, but not of the second one.
            assert not last


async def end(rng: random.Random, session: RemoteSession, host_end: MemorySessionTransport) -> None:
    way = rng.randrange(4)
    if way == 0:
        await session.close()
    elif way == 1:
        await host_end.close()
    elif way == 2:
        host_end._put(b"\xff\xff\xff\xff")  # a length over the limit
    else:
        host_end._put(b"\0\0\1\0cut")
        await host_end.close()
    # Waits until the transport is closed.
    await session._transport.close()
    reason = session._transport.reason
    assert reason is None or isinstance(reason, FrameTooLarge | TruncatedFrame), reason


async def check_events(stream: EventStream, delivered: list[pb.AgentSessionEvent]) -> None:
    """Checks that the iterator yields, or counts as missed, the events of the listeners."""
    names = [event.WhichOneof("event") for event in delivered]
    if "session_closed" in names:
        del delivered[names.index("session_closed") + 1 :]
    seen = 0
    while True:
        try:
            received = await stream.__anext__()
        except EventsMissed as error:
            seen += error.count
        except StopAsyncIteration:
            break
        else:
            # Compares texts, since nan is not equal to itself.
            assert repr(received.event) == repr(delivered[seen])
            seen += 1
    assert seen == len(delivered), (seen, len(delivered))


@contextmanager
def recorded_errors() -> Iterator[list[str]]:
    """Yields the list of errors in the log. Log entries are not printed."""
    handler = ErrorRecorder()
    loggers = [logging.getLogger(name) for name in ("agent_session", "agent_session_protocol")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield handler.unhandled
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.propagate = True


async def many_sessions(inputs: int, rng: random.Random) -> list[dict[str, Any]]:
    unhandled: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: unhandled.append(context))
    while inputs > 0:
        some = min(inputs, rng.randint(0, MAX_INPUTS_PER_SESSION))
        inputs -= some
        await asyncio.wait_for(one_session(rng, some), 60)
        assert len(asyncio.all_tasks()) == 1, asyncio.all_tasks()
    return unhandled


def fuzz(inputs: int, seed: int) -> None:
    with recorded_errors() as logged:
        unhandled = asyncio.run(many_sessions(inputs, random.Random(seed)))
    assert not unhandled and not logged, (seed, unhandled, logged)


if __name__ == "__main__":
    fuzz(
        inputs=int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000,
        seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0,
    )
