"""Messages for tests of transports, and an event loop that checks for leaks."""

from __future__ import annotations

import asyncio
import gc
import os
import struct
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from agent_session import SessionTransport, TransportError
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

T = TypeVar("T")
TIMEOUT = 20.0


def run(
    main: Coroutine[Any, Any, T], timeout: float = TIMEOUT, expected_fault: str = "nothing"
) -> T:
    """Runs a coroutine in a new event loop.

    Checks that no task and no socket is left, and that the exception handler of the loop was called
    only with messages that contain `expected_fault`.
    """
    errors: list[dict[str, Any]] = []

    async def guarded() -> T:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: errors.append(context))
        result = await asyncio.wait_for(main, timeout)
        remaining = asyncio.all_tasks() - {asyncio.current_task()}
        assert not remaining, remaining
        return result

    sockets = open_sockets()
    with only_new_garbage():
        result = asyncio.run(guarded())
        gc.collect()  # a deleted task reports an exception that was never retrieved
    assert not [each for each in errors if expected_fault not in each["message"]], errors
    assert open_sockets() <= sockets
    return result


@contextmanager
def only_new_garbage() -> Iterator[None]:
    """Excludes existing objects from garbage collection.

    If a test has imported an SDK, a collection of its objects takes longer than most tests.
    """
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def open_sockets() -> set[str]:
    """Returns the sockets of this process; an empty set if the system cannot list them."""
    folder = Path("/proc/self/fd")
    sockets = set[str]()
    for entry in folder.iterdir() if folder.exists() else ():
        try:
            target = os.readlink(entry)
        except OSError:
            continue
        if target.startswith("socket:"):
            sockets.add(target)
    return sockets


def ping(number: int = 0) -> AgentSessionMessage:
    message = AgentSessionMessage()
    message.request.request_id = str(number)
    message.request.ping.SetInParent()
    return message


def transcript(text: str) -> AgentSessionMessage:
    message = AgentSessionMessage()
    message.event.user_input_transcribed.transcript = text
    return message


def audio(size: int) -> AgentSessionMessage:
    message = AgentSessionMessage()
    message.audio_output.data = bytes(size)
    return message


def framed(body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + body


async def read_all(transport: SessionTransport) -> list[AgentSessionMessage]:
    return [message async for message in transport]


class Collector:
    """A receiver that records messages and ends."""

    def __init__(self) -> None:
        self.messages: list[AgentSessionMessage] = []
        self.ends: list[TransportError | None] = []

    def message_received(self, message: AgentSessionMessage) -> None:
        self.messages.append(message)

    def transport_ended(self, reason: TransportError | None) -> None:
        self.ends.append(reason)


# Encoded by hand, since protobuf refuses to encode such messages.
def nested_struct(depth: int) -> bytes:
    """Returns the bytes of a debug message whose Struct has `depth` nested levels."""
    body = b""
    for _ in range(depth):
        value = _field(5, body)  # Value.struct_value
        entry = _field(1, b"k") + _field(2, value)  # an entry of Struct.fields
        body = _field(1, entry)
    debug_message = _field(1, body)
    return _field(3, _field(21, debug_message))


def _field(number: int, body: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
