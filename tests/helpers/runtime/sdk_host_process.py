"""The host of livekit-agents with a real AgentSession: `python sdk_host_process.py HOST PORT`.

Its model repeats the text of the user, so it needs no API key and no network.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from livekit.agents import APIConnectOptions, llm
from livekit.agents.voice import Agent, AgentSession
from livekit.agents.voice.remote_session import SessionHost, TcpSessionTransport


class Parrot(llm.LLM[Any]):
    """A model that repeats the text of the user. It never replies to "wait"."""

    def chat(
        self,
        *,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool] | None = None,
        conn_options: APIConnectOptions = APIConnectOptions(),
        **_: Any,
    ) -> llm.LLMStream:
        return _Speech(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class _Speech(llm.LLMStream):
    async def _run(self) -> None:
        item = self._chat_ctx.items[-1]
        text = item.text_content if item.type == "message" else ""
        if text == "wait":
            await asyncio.Event().wait()
        delta = llm.ChoiceDelta(role="assistant", content=f"you said {text}")
        self._event_ch.send_nowait(llm.ChatChunk(id="chunk", delta=delta))


async def main(host: str, port: int) -> None:
    async with AgentSession[None](llm=Parrot()) as session:
        transport = TcpSessionTransport(host, port)
        session_host = SessionHost(transport)
        session_host.register_session(session)
        await session.start(Agent(instructions="Repeat."))
        await session_host.start()
        # Waits until the driver disconnects.
        assert session_host._recv_task is not None
        await session_host._recv_task
        await session_host.aclose()


def command(host: str, port: int) -> list[str]:
    return [sys.executable, str(Path(__file__)), host, str(port)]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
