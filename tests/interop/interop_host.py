"""What the harness can ask of a host whose session is one of livekit-agents.

Comes in: a session, its job, and how to start it with a host. Goes out: the commands `start`,
`facts`, `happen` and `close`, served until stdin ends.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from interop_agent import Clerk, facts_of
from interop_lines import say, serve
from interop_moments import raise_moment
from livekit.agents import JobContext
from livekit.agents.voice import Agent, AgentSession
from livekit.agents.voice.events import CloseEvent, CloseReason

Start = Callable[[AgentSession[None], Agent, int], Awaitable[None]]


async def serve_host(session: AgentSession[None], context: JobContext, begin: Start) -> None:
    """Serve the commands, then close the session."""

    async def start(port: int) -> None:
        await begin(session, Clerk(), port)

    async def facts() -> dict[str, Any]:
        return facts_of(session)

    async def happen(arm: str) -> None:
        raise_moment(session, arm)

    async def close(how: str) -> None:
        if how == "agent":
            session.shutdown()
        elif how == "job":
            for callback in context._shutdown_callbacks:
                await callback("the job is over")
        else:
            session._close_soon(reason=CloseReason(how))

    session.on("close", _tell)
    say(note="ready")
    await serve({"start": start, "facts": facts, "happen": happen, "close": close})
    await session.aclose()


def _tell(event: CloseEvent) -> None:
    say(note="closed", reason=event.reason.value)
