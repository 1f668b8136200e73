"""The commands of the host programs for a session of livekit-agents.

The commands are `start`, `start_in_room`, `facts`, `emit` and `close`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from interop_agent import Clerk, facts_of
from interop_commands import serve, write
from interop_rooms import leave
from interop_sdk_events import emit_event
from livekit import rtc
from livekit.agents import JobContext
from livekit.agents.voice import Agent, AgentSession
from livekit.agents.voice.events import CloseEvent, CloseReason

# These start a session and its host: over TCP to a port, and in a room.
Start = Callable[[AgentSession[None], Agent, int], Awaitable[None]]
StartInRoom = Callable[[AgentSession[None], Agent, rtc.Room], Awaitable[None]]


async def serve_host(
    session: AgentSession[None], context: JobContext, begin: Start, begin_in_room: StartInRoom
) -> None:
    """Handles commands until standard input ends, then closes the session and leaves the room."""
    rooms: list[rtc.Room] = []

    async def start(port: int) -> None:
        await begin(session, Clerk(), port)

    async def start_in_room(url: str, token: str) -> None:
        room = rtc.Room()
        await room.connect(url, token)
        rooms.append(room)
        await begin_in_room(session, Clerk(), room)

    async def facts() -> dict[str, Any]:
        return facts_of(session)

    async def emit(arm: str) -> None:
        emit_event(session, arm)

    async def close(how: str) -> None:
        if how == "agent":
            session.shutdown()
        elif how == "job":
            for callback in context._shutdown_callbacks:
                await callback("the job is over")
        else:
            session._close_soon(reason=CloseReason(how))

    session.on("close", _session_closed)
    write(note="ready")
    await serve(
        {
            "start": start,
            "start_in_room": start_in_room,
            "facts": facts,
            "emit": emit,
            "close": close,
        }
    )
    await session.aclose()
    for room in rooms:
        await leave(room)


def _session_closed(event: CloseEvent) -> None:
    write(note="closed", reason=event.reason.value)
