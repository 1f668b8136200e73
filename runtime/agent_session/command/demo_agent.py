"""The agent of the demo: a real session of livekit-agents with a scripted model.

It connects to the address of a driver and runs until the agent hangs up or the driver disconnects.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

from livekit.agents import APIConnectOptions, llm
from livekit.agents.llm import function_tool
from livekit.agents.voice import Agent, AgentSession, RunContext

from .. import main_task
from ..host.host import SessionHost
from ..transport.session import TcpSessionTransport

# The tool that the model calls for each word in the user's text.
_TOOLS: Final[Mapping[str, tuple[str, str]]] = {
    "parcel": ("find_parcel", '{"number": 7}'),
    "bye": ("hang_up", "{}"),
}
_GREETING: Final = "Hello, this is the parcel desk. How can I help?"
_TOKENS: Final = 12  # the assumed number of tokens in each item
_TOOL_REPLY: Final = "Your parcel is {}."


class ParcelDesk(Agent):
    """Answers where a parcel is, and hangs up."""

    def __init__(self) -> None:
        super().__init__(instructions="You work at the parcel desk. Be brief.")

    @function_tool
    async def find_parcel(self, number: int) -> str:
        """Returns where a parcel is."""
        return f"on the van, {number} stops away"

    @function_tool
    async def hang_up(self, context: RunContext[None]) -> None:
        """Ends the call."""
        context.session.shutdown()


class ScriptedModel(llm.LLM[Any]):
    """A language model with scripted replies, which needs no API key."""

    @property
    def model(self) -> str:
        return "script"

    @property
    def provider(self) -> str:
        return "demo"

    def chat(
        self,
        *,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool] | None = None,
        conn_options: APIConnectOptions = APIConnectOptions(),
        **_: Any,
    ) -> llm.LLMStream:
        return _Reply(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)


class _Reply(llm.LLMStream):
    async def _run(self) -> None:
        delta = _next_reply(self._chat_ctx.items[-1])
        self._event_ch.send_nowait(llm.ChatChunk(id="reply", delta=delta))
        prompt = _TOKENS * len(self._chat_ctx.items)
        usage = llm.CompletionUsage(
            prompt_tokens=prompt, completion_tokens=_TOKENS, total_tokens=prompt + _TOKENS
        )
        self._event_ch.send_nowait(llm.ChatChunk(id="reply", usage=usage))


def _next_reply(item: llm.ChatItem) -> llm.ChoiceDelta:
    """Returns the reply of the model to the newest item of the conversation."""
    if item.type == "function_call_output":
        return llm.ChoiceDelta(role="assistant", content=_TOOL_REPLY.format(item.output))
    text = (item.text_content or "") if item.type == "message" else ""
    for word, (tool, arguments) in _TOOLS.items():
        if word in text:
            call = llm.FunctionToolCall(name=tool, arguments=arguments, call_id=f"call_{tool}")
            return llm.ChoiceDelta(role="assistant", tool_calls=[call])
    return llm.ChoiceDelta(role="assistant", content=_GREETING)


async def serve(host: str, port: int) -> None:
    """Serves a session to the driver at an address, until the session or the connection ends."""
    session: AgentSession[None] = AgentSession(llm=ScriptedModel(), user_away_timeout=None)
    async with SessionHost(session, TcpSessionTransport(host, port)) as session_host:
        try:
            await session.start(ParcelDesk(), session_host=False)
            await session_host.wait_closed()
        finally:
            await session.aclose()  # before the host closes, so that it sends session_closed


def run(host: str, port: int) -> None:
    """Runs the agent. The entry point of its subprocess."""
    logging.disable()  # only exceptions belong in the error output
    main_task.run(serve(host, port))
