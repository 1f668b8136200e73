"""The other end of a measured process: sends requests to a host, or answers drivers.

It is the same for every subject and does little work, so that the subject limits the figure.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import islice
from pathlib import Path

from agent_session_protocol import agent_session_pb2 as pb
from wire import EVENT, HEADER, RESPONSE, Bare, request

_SUBJECT = Path(__file__).with_name("subject.py")
_TIMEOUT = 120.0
# Batches of events that may be in flight.
_WINDOW = 4


class Subject:
    """A child process that is measured."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None and process.stdout is not None
        self._process = process
        self.stdin = process.stdin
        self._stdout = process.stdout

    async def figures(self) -> dict[str, float]:
        """Returns the figures that the process reports next."""
        line = await asyncio.wait_for(self._stdout.readline(), _TIMEOUT)
        figures: dict[str, float] = json.loads(line)
        return figures

    async def end(self) -> None:
        """Closes stdin, which ends the process; kills it if it does not end."""
        self.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 5)
        except asyncio.TimeoutError:
            self._process.kill()
            await self._process.wait()


@asynccontextmanager
async def subject(*arguments: str, program: Path = _SUBJECT) -> AsyncIterator[Subject]:
    """Runs a program with arguments as a subprocess."""
    pipe = asyncio.subprocess.PIPE
    command = (sys.executable, str(program), *arguments)
    child = Subject(await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe))
    try:
        yield child
    finally:
        await child.end()


class Host:
    """A host that has connected."""

    def __init__(self, child: Subject, take: dict[str, Callable[[list[bytes]], bytes]]) -> None:
        self._child = child
        self._take = take
        self.peer: Bare

    async def ask(self, requests: list[bytes], at_once: int) -> float:
        """Sends requests with `at_once` in flight; returns the seconds until all are answered."""
        left, rest = len(requests), iter(requests)
        done = asyncio.get_running_loop().create_future()

        def take(frames: list[bytes]) -> bytes:
            nonlocal left
            answers = sum(frame[0] == RESPONSE for frame in frames)
            left -= answers
            if left <= 0:
                done.set_result(None)
            return b"".join(islice(rest, answers))

        self._take["now"] = take
        start = time.perf_counter()
        self.peer.transport.write(b"".join(islice(rest, at_once)))
        await asyncio.wait_for(done, _TIMEOUT)
        return time.perf_counter() - start

    async def events(self, batches: int, batch: int) -> float:
        """Lets the host emit events; returns the seconds until all have been received."""
        received, requested = 0, 0
        done = asyncio.get_running_loop().create_future()

        def take(frames: list[bytes]) -> bytes:
            nonlocal received, requested
            received += sum(frame[0] == EVENT for frame in frames)
            due = min(batches, received // batch + _WINDOW)
            if due > requested:
                self._child.stdin.write(b"." * (due - requested))
                requested = due
            if received >= batches * batch and not done.done():
                done.set_result(None)
            return b""

        self._take["now"] = take
        start = time.perf_counter()
        take([])
        await asyncio.wait_for(done, _TIMEOUT)
        return time.perf_counter() - start

    async def pings_beside(self, arm: str) -> tuple[list[float], str]:
        """Sends a request, and pings one by one until it is answered.

        Returns:
            The seconds of each ping, and the error of the request's response.
        """
        answered: asyncio.Queue[pb.SessionResponse] = asyncio.Queue()

        def take(frames: list[bytes]) -> bytes:
            for frame in frames:
                if frame[0] == RESPONSE:
                    answered.put_nowait(pb.AgentSessionMessage.FromString(frame).response)
            return b""

        self._take["now"] = take
        seconds: list[float] = []
        error: str | None = None
        self.peer.transport.write(request("long", arm))
        while error is None:
            start = time.perf_counter()
            self.peer.transport.write(request("ping", "ping"))
            while (response := await answered.get()).request_id != "ping":
                error = response.error
            seconds.append(time.perf_counter() - start)
        return seconds, error


@asynccontextmanager
async def host(kind: str, items: int = 0) -> AsyncIterator[Host]:
    """Starts a host of a kind, and waits until it has connected."""
    take: dict[str, Callable[[list[bytes]], bytes]] = {"now": lambda frames: b""}
    peers: asyncio.Queue[Bare] = asyncio.Queue()

    def connected() -> Bare:
        peers.put_nowait(peer := Bare(lambda frames: take["now"](frames)))
        return peer

    loop = asyncio.get_running_loop()
    server = await loop.create_server(connected, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, subject("host", kind, str(port), str(items)) as child:
        result = Host(child, take)
        result.peer = await asyncio.wait_for(peers.get(), _TIMEOUT)
        await result.peer.connected
        yield result
        result.peer.transport.abort()


@asynccontextmanager
async def answering(*arguments: str) -> AsyncIterator[Subject]:
    """Answers the drivers of a subject; PORT in its arguments is replaced by the port."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Answering(no_answer), "127.0.0.1", 0, backlog=1024)
    port = str(server.sockets[0].getsockname()[1])
    completed = [port if item == "PORT" else item for item in arguments]
    async with server, subject(*completed) as child:
        yield child


class _Deaf(Bare):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self.transport.pause_reading()


@asynccontextmanager
async def deaf(*arguments: str) -> AsyncIterator[Subject]:
    """Accepts the connection of a subject, and reads nothing from it."""

    def accepted() -> asyncio.Protocol:
        return _Deaf(no_answer)

    server = await asyncio.get_running_loop().create_server(accepted, "127.0.0.1", 0)
    port = str(server.sockets[0].getsockname()[1])
    completed = [port if item == "PORT" else item for item in arguments]
    async with server, subject(*completed) as child:
        yield child


class Answering(Bare):
    """Answers each request by copying its id into a prepared response.

    Parsing the requests would take more time than the subject does.
    """

    def data_received(self, data: bytes) -> None:
        answers: list[bytes] = []
        data, at = self._buffer + data, 0
        # A frame is field 4 of the message, whose first field is the id; all lengths are one byte.
        while len(data) - at > 3 and len(data) - at > 3 + (size := data[at + 3]):
            id_end = at + 8 + data[at + 7]
            request_id = data[at + 6 : id_end]
            before, after = _ANSWERS[data[id_end] == _PING, len(request_id)]
            answers += before, request_id, after
            at += 4 + size
        self._buffer = data[at:]
        if answers:
            self.transport.write(b"".join(answers))


# The first byte of a ping after the id, and what a response holds after its id.
_PING = 0x12
_PONG = pb.SessionResponse(pong=pb.SessionResponse.Pong()).SerializeToString()
_FRAMEWORK = pb.SessionResponse(
    get_framework_info=pb.SessionResponse.GetFrameworkInfoResponse(sdk="bench", sdk_version="1.0")
).SerializeToString()


def _around(rest: bytes, length: int) -> tuple[bytes, bytes]:
    """Returns the bytes of an answer before and after an id of a length."""
    size = length + len(rest)
    return HEADER.pack(size + 2) + bytes((RESPONSE, size)), rest


_ANSWERS = {
    (rest is _PONG, length): _around(rest, length)
    for rest in (_PONG, _FRAMEWORK)
    for length in range(200 - len(_FRAMEWORK))
}


def no_answer(frames: list[bytes]) -> bytes:
    return b""
