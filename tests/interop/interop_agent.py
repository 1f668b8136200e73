"""The agent of the interop tests: a real AgentSession of livekit-agents with a scripted model.

The conversation is scripted in `conversation.json`, so it needs no API key and no network. The
tests compare the received messages with the state of the session, which `facts_of` returns.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from livekit.agents import APIConnectionError, APIConnectOptions, JobContext, llm
from livekit.agents.llm import ToolError, function_tool
from livekit.agents.testing import fake_job_context
from livekit.agents.voice import Agent, AgentSession, RunContext
from livekit.agents.voice.agent_session import SessionConnectOptions

CONVERSATION: dict[str, Any] = json.loads(
    Path(__file__).with_name("conversation.json").read_text(encoding="utf-8")
)
_TOOLS: dict[str, Any] = CONVERSATION["tools"]


class ScriptedModel(llm.LLM[Any]):
    """A model that replies with the scripted steps for each text of the user."""

    @property
    def model(self) -> str:
        return str(CONVERSATION["model"]["name"])

    @property
    def provider(self) -> str:
        return str(CONVERSATION["model"]["provider"])

    def chat(
        self,
        *,
        chat_ctx: llm.ChatContext,
        tools: list[llm.Tool] | None = None,
        conn_options: APIConnectOptions = APIConnectOptions(),
        **_: Any,
    ) -> llm.LLMStream:
        return _ScriptedStream(
            self, chat_ctx=chat_ctx, tools=tools or [], conn_options=conn_options
        )


class _ScriptedStream(llm.LLMStream):
    async def _run(self) -> None:
        step = next_step(self._chat_ctx)
        if step is None:
            return
        if "fail" in step:
            raise APIConnectionError(step["fail"], retryable=False)
        if "wait" in step:
            await asyncio.Event().wait()
        delta = llm.ChoiceDelta(role="assistant", content=step.get("say"))
        if "call" in step:
            delta.tool_calls = [
                llm.FunctionToolCall(
                    name=step["call"], arguments=step["arguments"], call_id=step["call_id"]
                )
            ]
        self._event_ch.send_nowait(llm.ChatChunk(id="chunk", delta=delta))
        self._event_ch.send_nowait(llm.ChatChunk(id="chunk", usage=_usage()))


def _usage() -> llm.CompletionUsage:
    usage = CONVERSATION["usage"]
    return llm.CompletionUsage(
        prompt_tokens=usage["prompt_tokens"],
        prompt_cached_tokens=usage["cached_tokens"],
        completion_tokens=usage["completion_tokens"],
        total_tokens=usage["prompt_tokens"] + usage["completion_tokens"],
    )


def next_step(context: llm.ChatContext) -> dict[str, Any] | None:
    """Returns the next step of the user's last turn; None when the turn has ended."""
    taken, text = 0, None
    for item in reversed(context.items):
        if item.type == "message" and item.role == "user":
            text = item.text_content
            break
        is_step = item.type == "message" and item.role == "assistant"
        taken += is_step or (item.type == "function_call" and "_" not in item.call_id[5:])
    steps: list[dict[str, Any]] = CONVERSATION["turns"].get(text, [])
    return steps[taken] if taken < len(steps) else None


class Clerk(Agent):
    """An agent with a tool that can fail, one that reports progress, and one that hands over."""

    def __init__(self) -> None:
        agent = CONVERSATION["agent"]
        super().__init__(id=agent["id"], instructions=agent["instructions"])

    @function_tool
    async def find_parcel(self, number: int) -> str:
        """Returns where a parcel is."""
        places: dict[str, str] = _TOOLS["find_parcel"]
        if str(number) not in places:
            raise ToolError(f"no parcel {number}")
        return places[str(number)]

    @function_tool
    async def watch_parcel(self, context: RunContext[None], number: int) -> str:
        """Reports on a parcel until it is delivered."""
        for update in _TOOLS["watch_parcel"]["updates"]:
            await context.update(update)
        return str(_TOOLS["watch_parcel"]["result"])

    @function_tool
    async def call_manager(self) -> tuple[Agent, str]:
        """Hands over to the manager."""
        return Manager(), str(_TOOLS["call_manager"])


class Manager(Agent):
    """An agent without tools. The result of call_manager contains its repr, so it must be fixed."""

    def __init__(self) -> None:
        manager = CONVERSATION["manager"]
        super().__init__(id=manager["id"], instructions=manager["instructions"])

    def __repr__(self) -> str:
        return "Manager"


def scripted_session() -> AgentSession[None]:
    """Returns a session. The second failure of the model closes it."""
    return AgentSession(
        llm=ScriptedModel(),
        conn_options=SessionConnectOptions(max_unrecoverable_errors=1),
        tool_handling={"async_options": {"update_template": "so far: {message}"}},
        user_away_timeout=None,
    )


@contextmanager
def job(verdict: str | None) -> Iterator[JobContext]:
    """Yields a job. With a verdict, the job runs in a simulation, which the agent fails with it."""
    with fake_job_context() as context:
        if verdict is not None:
            _simulate(context, verdict)
        yield context


def _simulate(context: JobContext, verdict: str) -> None:
    dispatch = {"simulationRunId": "run-1", "mode": "SIMULATION_MODE_TEXT"}
    context.job.attributes["lk.simulator.dispatch"] = json.dumps(dispatch)

    async def judge(simulation: Any) -> None:
        received = simulation.simulator_verdict
        simulation.fail(f"{verdict}; received {received.success}, {received.reason}")
        if verdict == "raise":
            raise RuntimeError("the judge failed")

    context._simulation_end_fnc = judge


def facts_of(session: AgentSession[None]) -> dict[str, Any]:
    """Returns the state of the session."""
    inputs, outputs = session.input, session.output
    return {
        "started_at": session._started_at,
        "history": [
            {"id": item.id, "type": item.type, "created_at": item.created_at}
            for item in session.history.items
        ],
        "switches": {
            "input_audio": inputs.audio_enabled,
            "input_video": inputs.video_enabled,
            "output_audio": outputs.audio_enabled,
            "output_video": outputs.video_enabled,
            "output_transcription": outputs.transcription_enabled,
        },
    }
