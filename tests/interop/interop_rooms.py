"""How the peer programs in Python leave a room."""

from __future__ import annotations

import asyncio

from livekit import rtc
from livekit.rtc._ffi_client import FfiClient


async def leave(room: rtc.Room) -> None:
    """Disconnects a room, and stops the native library of livekit, which cannot be used again.

    livekit stops it when the interpreter exits. If one of its threads waits to call Python then, the
    process aborts (observed in about 3 % of the exits on a busy machine). It does not if the event
    loop still runs.
    """
    await room.disconnect()
    await asyncio.to_thread(FfiClient.instance._dispose)
