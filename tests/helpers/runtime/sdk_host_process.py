"""The host of livekit-agents in a process of its own: `python sdk_host_process.py HOST PORT`.

Comes in: texts of a driver. Goes out: what a real AgentSession makes of them, with a model that
follows a script: no key and no network.
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
    """Says what was said; on "wait" it says nothing, ever."""

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
        said = self._chat_ctx.items[-1]
        text = said.text_content if said.type == "message" else ""
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
        # Until the driver leaves.
        assert session_host._recv_task is not None
        await session_host._recv_task
        await session_host.aclose()


def command(host: str, port: int) -> list[str]:
    return [sys.executable, str(Path(__file__)), host, str(port)]


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2])))
