"""RemoteSession with the host of livekit-agents and a real AgentSession in a subprocess."""

from __future__ import annotations

import asyncio
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from agent_session import Alive, Lost, RemoteSession, RequestTimedOut, SessionLost, listen
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.errors import RequestError
from transport_messages import run

pytest.importorskip("livekit.agents.voice.remote_session")

import sdk_host_process  # noqa: E402


@asynccontextmanager
async def agent() -> AsyncIterator[tuple[RemoteSession, subprocess.Popen[bytes]]]:
    async with await listen() as listener:
        command = sdk_host_process.command(listener.host, listener.port)
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
            try:
                session = RemoteSession(await listener.accept())
                await session.wait_for_ready()
                async with session:
                    yield session, process
            finally:
                process.kill()


def texts(items: object) -> list[str]:
    assert isinstance(items, list)
    return [content.text for item in items for content in item.message.content]


def test_a_conversation() -> None:
    async def main() -> None:
        async with agent() as (session, process):
            assert isinstance(await session.probe(), Alive)
            events = session.events()
            answer = await session.run_input(text="grüß dich")
            assert texts(list(answer.items)) == ["you said grüß dich"]
            history = await session.get_chat_history()
            assert texts(list(history.items)) == ["grüß dich", "you said grüß dich"]
            info = await session.get_agent_info()
            assert (info.id, info.instructions) == ("default_agent", "Repeat.")
            state = await session.get_session_state()
            assert state.agent_id == "default_agent" and "max_tool_steps" in state.options
            framework = await session.get_framework_info()
            assert (framework.sdk, framework.sdk_version) == ("python", "1.8.9")
            assert (await session.get_session_usage()).HasField("created_at")
            assert list((await session.get_rtc_stats()).publisher_stats) == []
            muted = pb.SessionRequest.UpdateIO.Input(audio_enabled=False)
            assert await session.update_io(input=muted) == pb.SessionResponse.UpdateIOResponse()
            verdict = await session.finalize_simulation(
                provisional_success=True, provisional_reason="polite"
            )
            assert not verdict.HasField("user_verdict")  # no simulation
            with pytest.raises(RequestError, match="empty"):
                await session.run_input(text="")
            await session.close()
            arms = [received.arm async for received in events]
            assert arms.count("conversation_item_added") == 2
            assert "agent_state_changed" in arms and None not in arms
            assert await asyncio.to_thread(process.wait, 20) == 0

    run(main(), 60)


def test_an_unknown_request_is_not_answered() -> None:
    async def main() -> None:
        async with agent() as (session, _):
            with pytest.raises(RequestTimedOut):
                await session.send(pb.SessionRequest.FromString(bytes([0x9A, 0x06, 0])), 0.2)
            await session.ping()

    run(main(), 60)


def test_an_agent_that_is_killed_while_it_thinks() -> None:
    async def main() -> None:
        async with agent() as (session, process):
            pending_call = asyncio.ensure_future(session.run_input(text="wait"))
            assert isinstance(await session.probe(), Alive)
            process.send_signal(signal.SIGKILL)
            with pytest.raises(SessionLost):
                await pending_call
            outcome = await session.wait_ended()
            # Published hosts do not send session_closed.
            assert isinstance(outcome, Lost) and not outcome.by_driver

    run(main(), 60)
