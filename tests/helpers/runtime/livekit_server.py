"""A real LiveKit server on loopback, for the tests that find one.

Comes in: the environment variable LIVEKIT_SERVER, which names the server's binary. Goes out:
rooms in that server, with the same methods as those of the stand-in; or the reason why not.
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

VERSION = "v1.9.11"
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
    """Why there is no server; None if there is one."""
    binary = os.environ.get("LIVEKIT_SERVER", "")
    if shutil.which(binary):
        return None
    found = f"{binary!r} is none" if binary else "it is not set"
    return (
        f"LIVEKIT_SERVER must name a livekit-server binary, and {found}; "
        f"to get one (Go 1.24): go install github.com/livekit/livekit-server/cmd/server@{VERSION}, "
        "which makes `server` in $(go env GOPATH)/bin"
    )


@contextmanager
def live_server(folder: Path) -> Iterator[str]:
    """Run the server; its address."""
    port, udp = _free_port(socket.SOCK_STREAM), _free_port(socket.SOCK_DGRAM)
    config = folder / "livekit.yaml"
    config.write_text(CONFIG.format(port=port, udp=udp, key=KEY, secret=SECRET))
    command = [os.environ["LIVEKIT_SERVER"], "--config", str(config)]
    with open(folder / "livekit.log", "wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        _wait_for(port, process)
        yield f"127.0.0.1:{port}"
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


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


class LiveRoom:
    """One room of the server."""

    def __init__(self, address: str, client: api.LiveKitAPI) -> None:
        self._address = address
        self._client = client
        self._name = uuid.uuid4().hex
        self._rooms: list[rtc.Room] = []

    async def join(self, identity: str) -> rtc.Room:
        grants = api.VideoGrants(room_join=True, room=self._name)
        token = api.AccessToken(KEY, SECRET).with_identity(identity).with_grants(grants)
        room = rtc.Room()
        self._rooms.append(room)
        await room.connect(f"ws://{self._address}", token.to_jwt())
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
    """As `run`, but for sockets: livekit's library closes its own when it likes."""
    faults: list[dict[str, Any]] = []

    async def guarded() -> None:
        asyncio.get_running_loop().set_exception_handler(lambda _, fault: faults.append(fault))
        await asyncio.wait_for(main, timeout)
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left

    with only_new_garbage():
        asyncio.run(guarded())
        gc.collect()
    assert not faults, faults
