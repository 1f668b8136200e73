"""A real LiveKit server on loopback, and rooms in it.

The environment variable LIVEKIT_SERVER names the server's binary; `make test-rooms` builds it and
sets the variable.
"""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from livekit import api, rtc
from transport_messages import only_new_garbage

KEY, SECRET = "key", "a secret for nothing but these tests"

CONFIG = """
port: {port}
bind_addresses: ["127.0.0.1"]
keys: {{"{key}": "{secret}"}}
logging: {{level: error}}
rtc:
  udp_port: {udp}
  tcp_port: 0
  node_ip: 127.0.0.1
  use_external_ip: false
  enable_loopback_candidate: true
  interfaces: {{includes: [lo]}}
  stun_servers: ["127.0.0.1:9"]
"""


def missing() -> str | None:
    """Returns why there is no server; None if there is one."""
    binary = os.environ.get("LIVEKIT_SERVER", "")
    if shutil.which(binary):
        return None
    state = f"{binary!r} is not one" if binary else "it is not set"
    return (
        "`make test-rooms` runs the tests with a real server: LIVEKIT_SERVER must name a "
        f"livekit-server binary, and {state}"
    )


class LiveServer:
    """A server process on fixed ports, which can be killed and started again.

    Attributes:
        address: host and port of the server.
    """

    def __init__(self, folder: Path) -> None:
        port, udp = _free_port(socket.SOCK_STREAM), _free_port(socket.SOCK_DGRAM)
        self.address = f"127.0.0.1:{port}"
        self._port = port
        self._config = folder / "livekit.yaml"
        self._config.write_text(CONFIG.format(port=port, udp=udp, key=KEY, secret=SECRET))
        self._log = folder / "livekit.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the process and waits until it listens."""
        command = [os.environ["LIVEKIT_SERVER"], "--config", str(self._config)]
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(command, stdout=log, stderr=log)
        _wait_for(self._port, self._process)

    def kill(self) -> None:
        """Ends the process as in a crash: clients are not notified."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def drain(self) -> None:
        """Asks the process to end once all participants have left, as a deployment does."""
        assert self._process is not None
        self._process.terminate()

    def wait(self, timeout: float) -> int:
        """Waits until the process has ended, and returns its status."""
        assert self._process is not None
        return self._process.wait(timeout)

    def stop(self) -> None:
        """Ends the process, if it runs."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self.kill()


@contextmanager
def live_server(folder: Path) -> Iterator[LiveServer]:
    """Runs a server while the block does."""
    server = LiveServer(folder)
    try:
        server.start()
        yield server
    finally:
        server.stop()


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            assert process.poll() is None, "the server has ended"
            assert time.monotonic() < deadline, "the server does not listen"
            time.sleep(0.05)


def join_token(room: str, identity: str, hidden: bool = False) -> str:
    """Returns a token with which a participant may join a room."""
    grants = api.VideoGrants(room_join=True, room=room, hidden=hidden)
    return api.AccessToken(KEY, SECRET).with_identity(identity).with_grants(grants).to_jwt()


class LiveRoom:
    """One room of the server."""

    def __init__(self, address: str, client: api.LiveKitAPI) -> None:
        self._address = address
        self._client = client
        self._name = uuid.uuid4().hex
        self._rooms: list[rtc.Room] = []

    async def join(self, identity: str, hidden: bool = False) -> rtc.Room:
        room = rtc.Room()
        self._rooms.append(room)
        await room.connect(f"ws://{self._address}", join_token(self._name, identity, hidden))
        return room

    async def delete_room(self) -> None:
        await self._client.room.delete_room(api.DeleteRoomRequest(room=self._name))

    async def remove(self, identity: str) -> None:
        whom = api.RoomParticipantIdentity(room=self._name, identity=identity)
        await self._client.room.remove_participant(whom)

    async def leave_all(self) -> None:
        for room in self._rooms:
            await room.disconnect()
            await room._task


@asynccontextmanager
async def live_room(address: str) -> AsyncIterator[LiveRoom]:
    async with api.LiveKitAPI(f"http://{address}", KEY, SECRET) as client:
        room = LiveRoom(address, client)
        try:
            yield room
        finally:
            await room.leave_all()


def run_live(main: Coroutine[Any, Any, None], timeout: float = 60) -> None:
    """Runs a test as `run` does, without a check of sockets: livekit closes its own later."""
    errors: list[dict[str, Any]] = []

    async def guarded() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: errors.append(context))
        await asyncio.wait_for(main, timeout)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left

    with only_new_garbage():
        asyncio.run(guarded())
        gc.collect()
    assert not errors, errors
