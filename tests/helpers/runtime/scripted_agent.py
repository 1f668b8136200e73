"""A real AgentSession of livekit-agents with a scripted model, and a job to run it in.

The script has the steps of the model for each text of the user. It needs no API key and no network.
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

# Loads the native library of the SDK here: it opens sockets, and the tests check for open sockets.
_NATIVE = FfiClient.instance


@dataclass(frozen=True)
class Say:
    """The model replies with a text, which ends its turn."""

    text: str


@dataclass(frozen=True)
class Call:
    """The model calls a tool; the next step follows the result of the tool."""

    tool: str
    arguments: str = "{}"


@dataclass(frozen=True)
class Wait:
    """The model waits for an event, then replies with a text."""

    event: asyncio.Event
    text: str = ""


@dataclass(frozen=True)
class Fail:
    """The model fails with an error."""

    text: str


Step: TypeAlias = Say | Call | Wait | Fail
Script: TypeAlias = Mapping[str, Sequence[Step]]


class ScriptedModel(llm.LLM[str]):
    """A model that takes the scripted steps for the user's last text, or does not reply."""

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
        """Returns the next step of the user's last turn; None when the turn has ended."""
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
    """An agent that looks for parcels and can hang up."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**{"id": "clerk", "instructions": "You look for parcels.", **settings})

    @function_tool
    async def look(self, number: int) -> str:
        """Looks for a parcel."""
        if number == 0:
            raise llm.ToolError("no such parcel")
        return f"parcel {number} is here"

    @function_tool
    async def hang_up(self, context: RunContext[None]) -> None:
        """Ends the conversation."""
        context.session.shutdown()


def scripted_session(script: Script, *, failures: int = 3, **settings: Any) -> AgentSession[None]:
    """Returns a session with a scripted model.

    Args:
        script: the steps of the model for each text of the user.
        failures: how many failures of the model the session tolerates before it closes.
        settings: further arguments of `AgentSession`.
    """
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
    """Yields a job, in a simulation if `simulated`."""
    with fake_job_context(**settings) as context:
        if simulated:
            simulate(context)
        yield context


def simulate(context: JobContext) -> None:
    """Makes a job run in a simulation, as a dispatch of the server does."""
    dispatch = {"simulationRunId": "run-1", "mode": "SIMULATION_MODE_TEXT"}
    context.job.attributes["lk.simulator.dispatch"] = json.dumps(dispatch)
