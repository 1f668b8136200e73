"""The commands of the host programs for a session of livekit-agents.

The commands are `start`, `facts`, `emit` and `close`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from interop_agent import Clerk, facts_of
from interop_commands import serve, write
from interop_sdk_events import emit_event
from livekit.agents import JobContext
from livekit.agents.voice import Agent, AgentSession
from livekit.agents.voice.events import CloseEvent, CloseReason

Start = Callable[[AgentSession[None], Agent, int], Awaitable[None]]


async def serve_host(session: AgentSession[None], context: JobContext, begin: Start) -> None:
    """Handles commands until standard input ends, then closes the session."""

    async def start(port: int) -> None:
        await begin(session, Clerk(), port)

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
    await serve({"start": start, "facts": facts, "emit": emit, "close": close})
    await session.aclose()


def _session_closed(event: CloseEvent) -> None:
    write(note="closed", reason=event.reason.value)
