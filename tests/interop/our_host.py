"""The host of this repository, with a session of livekit-agents.

Run as `python our_host.py [VERDICT]`.
"""

from __future__ import annotations

import asyncio
import sys

from agent_session import RoomSessionTransport, TcpSessionTransport
from agent_session.host.host import SessionHost
from interop_agent import job, scripted_session
from interop_host import serve_host
from livekit import rtc
from livekit.agents.voice import Agent, AgentSession


async def start(session: AgentSession[None], agent: Agent, port: int) -> None:
    await SessionHost(session, TcpSessionTransport("127.0.0.1", port)).start()
    await session.start(agent, session_host=False)


async def start_in_room(session: AgentSession[None], agent: Agent, room: rtc.Room) -> None:
    await SessionHost(session, RoomSessionTransport(room)).start()
    await session.start(agent, session_host=False)


async def main(verdict: str | None) -> None:
    with job(verdict) as context:
        await serve_host(scripted_session(), context, start, start_in_room)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else None))
