"""Fuzz of a driver by its host: `python fuzz_driver.py [INPUTS [SEED]]`.

Comes in: messages of any shape, responses to requests that are pending, late or never made, and
bytes that something has damaged. Goes out: nothing, unless a call ends with an error that is not
documented, something raises where nobody sees it, or the session does not go on.
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

MOST_INPUTS_A_SESSION = 200
DOCUMENTED = (SessionError, TransportError, RequestError, UnexpectedArmError)


class Loud(logging.Handler):
    """Keeps what is logged as an error: there must be none."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.faults: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.faults.append(record.getMessage())


class Mute:
    """A console that plays nothing."""

    def audio_output(self, frame: object) -> None:
        pass

    def audio_playback_flush(self) -> None:
        pass

    def audio_playback_clear(self) -> None:
        pass


def body(chance: random.Random, ids: list[str]) -> bytes:
    """The bytes of one message of the host, or what is left of one."""
    message = pb.AgentSessionMessage()
    kind = chance.randrange(4)
    if kind == 0:
        fill(message, chance)
    elif kind == 1:
        fill(message.event, chance)
    else:
        fill(message.response, chance)
        message.response.request_id = chance.choice(ids)
        if kind == 3:
            message.response.ClearField("error")
    data = message.SerializeToString()
    return damaged(data, chance) if chance.random() < 0.3 else data


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


async def one_session(chance: random.Random, inputs: int) -> None:
    """Let a host send `inputs` messages, answer a ping, and end it in one of many ways."""
    ours, theirs = memory_pair(chunk=chance.choice([1, 7, 64, 1 << 16]))
    session = RemoteSession(ours, console=chance.choice([None, Mute()]))
    heard: list[pb.AgentSessionEvent] = []
    for arm in AGENT_SESSION_EVENT_ARMS:
        getattr(session, f"on_{arm}")(lambda _, event: heard.append(event))
    session.on_unknown(lambda _, event: heard.append(event))
    stream = session.events(limit=chance.choice([0, 2000, 1 << 20]))
    async with theirs, session:
        calls = calls_of(session)
        ids = ["", "strange", *[(await next_request(theirs)).request_id for _ in range(6)]]
        for _ in range(inputs):
            theirs._put(framed(body(chance, ids)))
        await answered_ping(session, theirs)
        await end(chance, session, theirs)
        for result in await asyncio.gather(*calls, return_exceptions=True):
            assert not isinstance(result, BaseException) or isinstance(result, DOCUMENTED), result
        await check_events(stream, heard)
        assert not session._pending._entries


async def next_request(theirs: MemorySessionTransport) -> pb.SessionRequest:
    """What the driver asks next; it sends notes about audio as well."""
    while True:
        message = await theirs.__anext__()
        if message.HasField("request"):
            return message.request


async def answered_ping(session: RemoteSession, theirs: MemorySessionTransport) -> None:
    """The session goes on, whatever came before."""
    for last in (False, True):
        pinging = asyncio.ensure_future(session.ping())
        response = pb.SessionResponse(pong=pb.SessionResponse.Pong())
        response.request_id = (await next_request(theirs)).request_id
        theirs.send_nowait(pb.AgentSessionMessage(response=response))
        try:
            await pinging
            return
        except (RequestError, UnexpectedArmError):
            # A damaged id can become that of this very ping: but not when all came before it.
            assert not last


async def end(
    chance: random.Random, session: RemoteSession, theirs: MemorySessionTransport
) -> None:
    way = chance.randrange(4)
    if way == 0:
        await session.close()
    elif way == 1:
        await theirs.close()
    elif way == 2:
        theirs._put(b"\xff\xff\xff\xff")  # no frame is that long
    else:
        theirs._put(b"\0\0\1\0cut")
        await theirs.close()
    # Until the transport is done, whoever ended it.
    await session._transport.close()
    reason = session._transport.reason
    assert reason is None or isinstance(reason, FrameTooLarge | TruncatedFrame), reason


async def check_events(stream: EventStream, heard: list[pb.AgentSessionEvent]) -> None:
    """An iterator gives, or counts, what listeners hear up to session_closed."""
    names = [event.WhichOneof("event") for event in heard]
    if "session_closed" in names:
        del heard[names.index("session_closed") + 1 :]
    seen = 0
    while True:
        try:
            received = await stream.__anext__()
        except EventsMissed as error:
            seen += error.count
        except StopAsyncIteration:
            break
        else:
            # Its own text, as nan is not equal to itself.
            assert repr(received.event) == repr(heard[seen])
            seen += 1
    assert seen == len(heard), (seen, len(heard))


@contextmanager
def loud() -> Iterator[list[str]]:
    """Yields the faults that are logged meanwhile; warnings of the session are kept off stderr."""
    handler = Loud()
    loggers = [logging.getLogger(name) for name in ("agent_session", "agent_session_protocol")]
    for logger in loggers:
        logger.addHandler(handler)
        logger.propagate = False
    try:
        yield handler.faults
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
            logger.propagate = True


async def many_sessions(inputs: int, chance: random.Random) -> list[dict[str, Any]]:
    faults: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: faults.append(context))
    while inputs > 0:
        some = min(inputs, chance.randint(0, MOST_INPUTS_A_SESSION))
        inputs -= some
        await asyncio.wait_for(one_session(chance, some), 60)
        assert len(asyncio.all_tasks()) == 1, asyncio.all_tasks()
    return faults


def fuzz(inputs: int, seed: int) -> None:
    with loud() as logged:
        faults = asyncio.run(many_sessions(inputs, random.Random(seed)))
    assert not faults and not logged, (seed, faults, logged)


if __name__ == "__main__":
    fuzz(
        inputs=int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000,
        seed=int(sys.argv[2]) if len(sys.argv) > 2 else 0,
    )
