"""`agent-session listen` with lines from a pipe or a file."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys

import pytest
from agent_session import listen
from agent_session.command.input_lines import Lines
from agent_session.command.listen import Watcher
from agent_session.command.report import TextReport
from agent_session.command.screen import Screen
from agent_session_protocol import agent_session_pb2 as pb
from command_process import (
    NAMES,
    NO_REQUEST,
    agent,
    goodbye,
    message_event,
    piped,
    run_response,
    state_event,
    usage_response,
)
from scripted_host import UNKNOWN_ARM, closed_event
from transport_messages import run


def test_lines_are_sent_one_after_the_other_once_the_agent_has_started() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once") as command:
            command.type("one\n\n  \ntwo")
            command.end_input()
            async with agent(await command.port()) as host:
                host.emit(state_event(pb.AS_INITIALIZING))
                await command.until("agent_state_changed")
                assert "> one" not in command.text
                host.emit(state_event(pb.AS_LISTENING))
                first = await host.request()
                assert first.run_input.text == "one" and not host.requests
                host.respond(run_response(first, "1"))
                second = await host.request()
                assert second.run_input.text == "two"
                host.respond(run_response(second))
                await command.until("(nothing)")
                await goodbye(host)
            assert await command.status() == 0
            rows = command.screen.rows
            assert rows[4:8] == [
                "> one",
                NAMES.format("answer") + "assistant: 1",
                "> two",
                NAMES.format("answer") + "(nothing)",
            ]

    run(main())


@pytest.mark.parametrize("before", ["", "/help\n", "/nothing\n"])
def test_quit_does_not_wait_for_an_agent(before: str) -> None:
    async def main() -> None:
        async with piped("listen", ":0") as command:
            await command.port()
            command.type(f"{before}/quit\n")
            assert await command.status() == 0
            assert command.screen.rows[-2:] == ["> /quit", ""]

    run(main())


@pytest.mark.parametrize("lost", [False, True])
def test_lines_not_sent_to_the_first_agent_are_sent_to_the_second(lost: bool) -> None:
    async def main() -> None:
        async with piped("listen", ":0") as command:
            port = await command.port()
            command.type("one\ntwo\n/quit\n")
            async with agent(port) as host:
                host.emit(state_event(pb.AS_LISTENING))
                assert (await host.request()).run_input.text == "one"
                if not lost:
                    host.emit(closed_event())
                    await command.until("run_input failed")
            await command.until("waiting for the next agent")
            assert "> two" not in command.text
            async with agent(port) as host:
                host.emit(state_event(pb.AS_LISTENING))
                second = await host.request()
                assert second.run_input.text == "two"
                host.respond(run_response(second, "2"))
                assert await command.status() == 0
            assert command.screen.rows[-4:] == [
                "> two",
                NAMES.format("answer") + "assistant: 2",
                "> /quit",
                "",
            ]

    run(main())


class TwoLines(Lines):
    """A source of two lines."""

    sequential = True
    quits_at_end = True

    def __init__(self) -> None:
        self.left = ["one", "two"]

    async def next(self) -> str | None:
        return self.left.pop(0) if self.left else None


def test_lines_are_sent_after_a_timeout_without_a_state_event(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent_session.command.listen._START_TIMEOUT", 0.01)

    async def main() -> None:
        written = io.StringIO()
        watcher = Watcher(TextReport(Screen(written, False)))
        async with await listen() as listener:
            serving = asyncio.ensure_future(watcher.serve(listener, once=True))
            reading = asyncio.ensure_future(watcher.read(TwoLines()))
            async with agent(listener.port) as host:
                for text in ("one", "two"):
                    request = await host.request()
                    assert request.run_input.text == text
                    host.respond(run_response(request, f"to {text}"))
                assert await reading == 0
            assert await serving == 1
        assert "assistant: to two" in written.getvalue()

    run(main())


def test_requests_by_name() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once") as command:
            async with agent(await command.port()) as host:
                host.emit(state_event(pb.AS_LISTENING))
                command.type("/usage\n")
                request = await host.request()
                assert request.HasField("get_session_usage")
                host.respond(usage_response(request))
                command.type('/update_io {"input": {"audio_enabled": false}}\n')
                request = await host.request()
                assert request.update_io == pb.SessionRequest.UpdateIO(
                    input=pb.SessionRequest.UpdateIO.Input(audio_enabled=False)
                )
                host.respond(pb.SessionResponse(request_id=request.request_id, error="no audio"))
                command.type("/ping\n")
                request = await host.request()
                host.respond(
                    pb.SessionResponse.FromString(
                        b"\x0a"
                        + bytes([len(request.request_id)])
                        + request.request_id.encode()
                        + UNKNOWN_ARM
                    )
                )
                command.type("/info\n/nothing\n/\n/ping {]\n/quit\nnever said\n")
                assert await command.status() == 0
            assert not host.requests
            assert command.screen.rows[3:] == [
                "> /usage",
                NAMES.format("get_session_usage") + "usage: llm acme/m1: input 12, output 3",
                '> /update_io {"input": {"audio_enabled": false}}',
                NAMES.format("update_io failed") + "no audio",
                "> /ping",
                NAMES.format("ping") + "unknown field 99",
                "> /info",
                NAMES.format("/info failed")
                + "ambiguous name: get_agent_info or get_framework_info",
                "> /nothing",
                NAMES.format("/nothing failed") + NO_REQUEST,
                "> /",
                NAMES.format("/ failed") + NO_REQUEST,
                "> /ping {]",
                NAMES.format("/ping failed")
                + "the fields are not valid: "
                + "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
                "> /quit",
                "",
            ]

    run(main())


@pytest.mark.parametrize("closed", [False, True])
def test_without_standard_input(closed: bool) -> None:
    async def main() -> None:
        redirection = "<&-" if closed else "</dev/null"
        script = f'exec "$0" -m agent_session listen :0 --once {redirection}'
        process = await asyncio.create_subprocess_exec(
            "sh", "-c", script, sys.executable, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        assert process.stdout is not None
        first = (await process.stdout.readline()).decode()
        async with agent(int(first.rpartition(":")[2])) as host:
            host.emit(message_event("Anybody there?"))
            await goodbye(host)
        rest = (await process.stdout.read()).decode()
        assert await process.wait() == 0
        assert "assistant: Anybody there?" in rest and "ended: CR_COMPLETED" in rest

    run(main())


def test_lines_of_a_file(tmp_path: object) -> None:
    async def main() -> None:
        path = f"{tmp_path}/lines"
        with open(path, "w", encoding="utf-8") as file:
            file.write("from a file\n/quit\n")
        with open(path, "rb") as file:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "agent_session", "listen", ":0"),
                stdin=file,
                stdout=subprocess.PIPE,
            )
        assert process.stdout is not None
        first = (await process.stdout.readline()).decode()
        async with agent(int(first.rpartition(":")[2])) as host:
            host.emit(state_event(pb.AS_LISTENING))
            request = await host.request()
            assert request.run_input.text == "from a file"
            host.respond(run_response(request))
            await process.stdout.read()
        assert await process.wait() == 0

    run(main())
