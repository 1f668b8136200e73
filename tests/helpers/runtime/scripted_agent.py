"""A real agent without a key or a network: an AgentSession whose model is a script.

Comes in: for each text of the user, the steps that the model takes. Goes out: a session of
livekit-agents, and a job to run it in; only LiveKit's server is missing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from livekit.agents import (
    Agent,
    AgentSession,
    APIConnectionError,
    APIConnectOptions,
    JobContext,
    function_tool,
    llm,
)
from livekit.agents.llm import Tool
from livekit.agents.testing import fake_job_context
from livekit.agents.types import DEFAULT_API_CONNECT_OPTIONS
from livekit.agents.voice import RunContext
from livekit.agents.voice.agent_session import SessionConnectOptions
from livekit.rtc._ffi_client import FfiClient

# The SDK's native library opens sockets of its own, once; the tests count those that are left.
_NATIVE = FfiClient.instance


@dataclass(frozen=True)
class Say:
    """The model says a text, and its turn is over."""

    text: str


@dataclass(frozen=True)
class Call:
    """The model calls a tool; the next step is what it makes of the result."""

    tool: str
    arguments: str = "{}"


@dataclass(frozen=True)
class Wait:
    """The model waits for an event before it says a text."""

    event: asyncio.Event
    text: str = ""


@dataclass(frozen=True)
class Fail:
    """The model cannot answer."""

    text: str


Step: TypeAlias = Say | Call | Wait | Fail
Script: TypeAlias = Mapping[str, Sequence[Step]]


class ScriptedModel(llm.LLM[str]):
    """Takes the steps that are written for the user's last text; without any, says nothing."""

    def __init__(self, script: Script) -> None:
        super().__init__()
        self.script = script

    @property
    def model(self) -> str:
        return "script"

    @property
    def provider(self) -> str:
        return "tests"

    def chat(
        self,
        *,
        chat_ctx: llm.ChatContext,
        tools: list[Tool] | None = None,
        conn_options: APIConnectOptions = DEFAULT_API_CONNECT_OPTIONS,
        **_: Any,
    ) -> llm.LLMStream:
        return _Turn(self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options)

    def next_step(self, context: llm.ChatContext) -> Step | None:
        """The first step of the user's last turn that was not taken yet."""
        taken = 0
        for item in reversed(context.items):
            if item.type == "message" and item.role == "user":
                steps = self.script.get(item.text_content or "", ())
                return steps[taken] if taken < len(steps) else None
            taken += item.type == "function_call"
        return None


class _Turn(llm.LLMStream):
    async def _run(self) -> None:
        assert isinstance(self._llm, ScriptedModel)
        step = self._llm.next_step(self._chat_ctx)
        delta = llm.ChoiceDelta(role="assistant")
        if isinstance(step, Fail):
            raise APIConnectionError(step.text, retryable=False)
        if isinstance(step, Wait):
            await step.event.wait()
        if isinstance(step, (Say, Wait)):
            delta.content = step.text
        if isinstance(step, Call):
            call_id = f"call_{len(self._chat_ctx.items)}"
            delta.tool_calls = [
                llm.FunctionToolCall(name=step.tool, arguments=step.arguments, call_id=call_id)
            ]
        self._event_ch.send_nowait(llm.ChatChunk(id="chunk", delta=delta))
        usage = llm.CompletionUsage(completion_tokens=3, prompt_tokens=7, total_tokens=10)
        self._event_ch.send_nowait(llm.ChatChunk(id="chunk", usage=usage))


class Clerk(Agent):
    """Looks for parcels, and can hang up."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"id": "clerk", "instructions": "You look for parcels.", **settings})

    @function_tool
    async def look(self, number: int) -> str:
        """Look for a parcel."""
        if number == 0:
            raise llm.ToolError("no such parcel")
        return f"parcel {number} is here"

    @function_tool
    async def hang_up(self, context: RunContext[None]) -> None:
        """End the conversation."""
        context.session.shutdown()


def scripted_session(script: Script, *, failures: int = 3, **settings: Any) -> AgentSession[None]:
    """A session that says what is written, and nothing by itself; one failure of the model more
    than allowed ends it."""
    return AgentSession(
        llm=ScriptedModel(script),
        vad=None,
        turn_handling={"turn_detection": None},
        conn_options=SessionConnectOptions(max_unrecoverable_errors=failures),
        user_away_timeout=None,
        **settings,
    )


@contextmanager
def job(*, simulated: bool = False, **settings: Any) -> Iterator[JobContext]:
    """A job to run a session in, under a simulation or not."""
    with fake_job_context(**settings) as context:
        if simulated:
            simulate(context)
        yield context


def simulate(context: JobContext) -> None:
    """Let a job run under a simulation, as a dispatch of the server does."""
    dispatch = {"simulationRunId": "run-1", "mode": "SIMULATION_MODE_TEXT"}
    context.job.attributes["lk.simulator.dispatch"] = json.dumps(dispatch)
