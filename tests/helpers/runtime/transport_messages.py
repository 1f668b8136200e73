"""What the transport tests share: a guarded event loop, messages, raw peers."""

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
PATIENCE = 20.0


def run(
    main: Coroutine[Any, Any, T], timeout: float = PATIENCE, expected_fault: str = "nothing"
) -> T:
    """Run a test's coroutine on a loop of its own. Afterwards no task and no socket may be left,
    and nothing unexpected may have gone to the loop's exception handler."""
    faults: list[dict[str, Any]] = []

    async def guarded() -> T:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: faults.append(context))
        result = await asyncio.wait_for(main, timeout)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left
        return result

    sockets = open_sockets()
    with only_new_garbage():
        result = asyncio.run(guarded())
        gc.collect()  # a task that failed unseen says so when it goes
    assert not [each for each in faults if expected_fault not in each["message"]], faults
    assert open_sockets() <= sockets
    return result


@contextmanager
def only_new_garbage() -> Iterator[None]:
    """Keep the collector away from what is there already: an SDK that some test has imported, which
    it would take longer to look through than most tests take."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def open_sockets() -> set[str]:
    """The sockets of this process, where the system can list them."""
    folder = Path("/proc/self/fd")
    found = set[str]()
    for entry in folder.iterdir() if folder.exists() else ():
        try:
            target = os.readlink(entry)
        except OSError:
            continue
        if target.startswith("socket:"):
            found.add(target)
    return found


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
    """A receiver that keeps what it gets."""

    def __init__(self) -> None:
        self.messages: list[AgentSessionMessage] = []
        self.ends: list[TransportError | None] = []

    def message_received(self, message: AgentSessionMessage) -> None:
        self.messages.append(message)

    def transport_ended(self, reason: TransportError | None) -> None:
        self.ends.append(reason)


# Written by hand, as protobuf refuses to make them.
def nested_struct(depth: int) -> bytes:
    """The bytes of a debug message whose Struct nests `depth` deep."""
    body = b""
    for _ in range(depth):
        value = _field(5, body)  # Value.struct_value
        entry = _field(1, b"k") + _field(2, value)  # the entry of Struct.fields
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
