"""The host of livekit-agents: `python sdk_python_host.py [VERDICT]`.

It is set up as by the SDK's console command, or started in a room as by an agent, so that the
session creates the SDK's host.
"""

from __future__ import annotations

import asyncio
import sys

from interop_agent import job, scripted_session
from interop_host import serve_host
from livekit import rtc
from livekit.agents.cli import AgentsConsole
from livekit.agents.cli.tcp_console import TcpAudioInput, TcpAudioOutput
from livekit.agents.voice import Agent, AgentSession
from livekit.agents.voice.remote_session import TcpSessionTransport
from livekit.agents.voice.room_io import RoomOptions


async def start(session: AgentSession[None], agent: Agent, port: int) -> None:
    transport = TcpSessionTransport("127.0.0.1", port)
    console = AgentsConsole.get_instance()
    console.enabled = True
    console.console_mode = "text"
    console._tcp_transport = transport
    console._tcp_audio_input = TcpAudioInput()
    console._tcp_audio_output = TcpAudioOutput(transport)
    await session.start(agent)


async def start_in_room(session: AgentSession[None], agent: Agent, room: rtc.Room) -> None:
    options = RoomOptions(audio_input=False, audio_output=False, close_on_disconnect=False)
    await session.start(agent, room=room, room_options=options)


async def main(verdict: str | None) -> None:
    with job(verdict) as context:
        await serve_host(scripted_session(), context, start, start_in_room)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else None))
