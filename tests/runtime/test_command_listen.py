"""`agent-session listen` at pipes: what it shows, what it sends, and how it ends."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import socket
import subprocess
import sys

import pytest
from agent_session import listen
from agent_session.command.lines import Lines
from agent_session.command.listen import Watcher
from agent_session.command.report import PeopleReport
from agent_session.command.screen import Screen
from agent_session_protocol import agent_session_pb2 as pb
from command_support import agent, message_event, piped, run_response, state_event
from remote_support import UNKNOWN_ARM, Host, closed_event, transcript_event
from transport_support import run

NO_REQUEST = "there is no such request; /help tells what there is"
NAMES = " " * 14 + "{:<26}"


def usage_response(request: pb.SessionRequest) -> pb.SessionResponse:
    response = pb.SessionResponse(request_id=request.request_id)
    llm = response.get_session_usage.usage.model_usage.add().llm
    llm.provider, llm.model, llm.input_tokens, llm.output_tokens = "acme", "m1", 12, 3
    return response


async def goodbye(host: Host, event: pb.AgentSessionEvent | None = None) -> None:
    """Tell that the session is over, and why, and leave."""
    host.emit(event or closed_event())
    await host.transport.close()


def test_each_event_is_a_line() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once") as command:
            async with agent(await command.port()) as host:
                event = state_event(pb.AS_LISTENING)
                event.created_at.FromMilliseconds(1_700_000_000_123)
                host.emit(event)
                host.emit(transcript_event("two\nlines"))
                host.emit(pb.AgentSessionEvent.FromString(UNKNOWN_ARM))
                host.emit(pb.AgentSessionEvent())
                await goodbye(host, closed_event(pb.CR_ERROR, "no model"))
            assert await command.status() == 0
            rows = command.screen.rows
            assert rows[1] == "an agent is connected"
            # The hour is that of this machine's time zone.
            assert rows[2][2:] == ":13:20.123  agent_state_changed       initializing → listening"
            assert [row[14:] for row in rows[3:7]] == [
                "user_input_transcribed    two\\nlines (interim)",
                "unknown event, field 99",
                "an empty event",
                "session_closed            CR_ERROR: no model",
            ]
            assert rows[7:] == ["ended: CR_ERROR, no model", ""]

    run(main())


def test_lines_are_said_one_after_the_other_once_the_agent_has_begun() -> None:
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


class TwoLines(Lines):
    """A program's lines, without a program."""

    waits = True
    end_is_quit = True

    def __init__(self) -> None:
        self.left = ["one", "two"]

    async def next(self) -> str | None:
        return self.left.pop(0) if self.left else None


def test_an_agent_that_never_says_its_state_is_talked_to_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agent_session.command.listen._BEGINNING", 0.01)

    async def main() -> None:
        written = io.StringIO()
        watcher = Watcher(PeopleReport(Screen(written, False)))
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
                NAMES.format("ping") + "something unknown, field 99",
                "> /info",
                NAMES.format("/info failed") + "that can be get_agent_info or get_framework_info",
                "> /nothing",
                NAMES.format("/nothing failed") + NO_REQUEST,
                "> /",
                NAMES.format("/ failed") + NO_REQUEST,
                "> /ping {]",
                NAMES.format("/ping failed")
                + "these are not its fields in JSON: "
                + "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)",
                "> /quit",
                "",
            ]

    run(main())


def test_an_agent_that_is_lost_and_the_next_one() -> None:
    async def main() -> None:
        async with piped("listen", ":0") as command:
            port = await command.port()
            async with agent(port) as host:
                host.emit(state_event(pb.AS_LISTENING))
                command.type("hello\n")
                await host.request()
                host.transport._put(b"\0\0\1\0half a frame")
            await command.until("waiting for the next agent")
            assert command.screen.rows[4:] == [
                NAMES.format("run_input failed")
                + "the connection is gone: the stream ended 16 bytes into a frame, of 260",
                "lost: the stream ended 16 bytes into a frame, of 260",
                "waiting for the next agent",
                "",
            ]
            async with agent(port) as host:
                await goodbye(host)
            await command.until("ended: CR_COMPLETED")
            command.signal(signal.SIGINT)
            assert await command.status() == 0

    run(main())


def test_one_that_is_lost_is_a_status_of_its_own() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once") as command:
            async with agent(await command.port()):
                await command.until("connected")
            assert await command.status() == 1
            assert command.screen.rows[-2] == "lost: the agent is gone and never said why"

    run(main())


def test_what_is_no_agent() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once") as command:
            _, writer = await asyncio.open_connection("127.0.0.1", await command.port())
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            assert await command.status() == 1
            writer.close()
            # "GET " read as a length.
            assert command.screen.rows[-2] == (
                f"lost: a frame of {0x47455420} bytes, {1 << 20} are allowed"
            )

    run(main())


def test_a_second_agent_is_turned_away() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once") as command:
            port = await command.port()
            async with agent(port) as host:
                await command.until("connected")
                async with agent(port) as other:
                    await other.until(lambda: bool(other.others))
                await command.until("warning: an agent was turned away: 1 are connected")
                await goodbye(host)
            assert await command.status() == 0

    run(main())


def test_an_answer_that_is_late() -> None:
    """What the agent still owes when it says that the session is over is shown."""

    async def main() -> None:
        async with piped("listen", ":0", "--once") as command:
            async with agent(await command.port()) as host:
                host.emit(state_event(pb.AS_LISTENING))
                command.type("/usage\n")
                request = await host.request()
                host.emit(closed_event())
                await command.until("session_closed")
                host.respond(usage_response(request))
            assert await command.status() == 0
            assert "llm acme/m1" in command.screen.rows[-3]
            assert command.screen.rows[-2] == "ended: CR_COMPLETED"

    run(main())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_and_what_it_asked(number: signal.Signals) -> None:
    async def main() -> None:
        async with piped("listen", ":0") as command:
            async with agent(await command.port()) as host:
                host.emit(state_event(pb.AS_LISTENING))
                command.type("hello\n")
                await host.request()
                command.signal(number)
                assert await command.status() == 0
                await host.until(lambda: host.others == ["end: None"])
            assert command.screen.rows[-2:] == ["> hello", ""]

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


def test_nothing_that_an_agent_says_steers_the_terminal() -> None:
    async def main() -> None:
        evil = "\x1b]0;title\x07\x1b[2J\r\x08\x7f\x9b31m\u202egnp.exe\u2028end"
        async with piped("listen", ":0", "--once", "--color") as command:
            async with agent(await command.port()) as host:
                host.emit(state_event(pb.AS_LISTENING))
                host.emit(message_event(evil))
                host.emit(pb.AgentSessionEvent(error=pb.AgentSessionEvent.Error(message=evil)))
                event = pb.AgentSessionEvent()
                event.debug_message.payload[evil] = evil
                host.emit(event)
                command.type("hello\n")
                request = await host.request()
                response = run_response(request, evil)
                response.error = evil
                host.respond(response)
                await command.until("assistant: ")
                await goodbye(host, closed_event(pb.CR_ERROR, evil))
            assert await command.status() == 0
            # The screen of these tests takes nothing but colours; see to what it was given, too.
            plain = command.screen.raw
            for style in ("0", "1", "2", "31", "32", "33", "36"):
                plain = plain.replace(f"\x1b[{style}m", "")
            assert {each for each in plain if not each.isprintable()} == {"\n"}
            spelled = "\\x1b]0;title\\x07\\x1b[2J\\r\\x08\\x7f\\x9b31m\\u202egnp.exe\\u2028end"
            assert plain.count(spelled) == 6  # the debug message is spelled as JSON does first
            assert f"assistant: {spelled}" in plain and f"ended: CR_ERROR, {spelled}" in plain

    run(main())


def test_an_event_that_is_long_is_cut_and_an_answer_is_not() -> None:
    async def main() -> None:
        long = "long " * 1000
        async with piped("listen", ":0", "--once") as command:
            async with agent(await command.port()) as host:
                host.emit(state_event(pb.AS_LISTENING))
                host.emit(transcript_event(long))
                command.type("hello\n")
                host.respond(run_response(await host.request(), long))
                await command.until(NAMES.format("answer"))
                await goodbye(host)
            assert await command.status() == 0
            assert command.screen.rows[3][40:] == f"{long[:400]}… (5010 characters)"
            assert command.screen.rows[5][40:] == f"assistant: {long}"

    run(main())


def test_json_lines() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once", "--json") as command:
            async with agent(await command.port()) as host:
                event = state_event(pb.AS_LISTENING)
                event.created_at.FromMilliseconds(1_700_000_000_123)
                host.emit(event)
                host.emit(pb.AgentSessionEvent.FromString(UNKNOWN_ARM))
                command.type("h\xf6\n/nothing\n/ping\n")
                host.respond(run_response(await host.request(), "1\x1b"))
                ping = await host.request()
                host.respond(pb.SessionResponse(request_id=ping.request_id, error="no"))
                await goodbye(host, closed_event(pb.CR_ERROR, "no model"))
            assert await command.status() == 0
        told = [json.loads(line) for line in command.text.splitlines()]
        assert list(told.pop(0)) == ["listening"]
        items = [{"message": {"role": "ASSISTANT", "content": [{"text": "1\x1b"}]}}]
        assert told == [
            {"connected": True},
            {
                "event": "agent_state_changed",
                "number": 10,
                "created_at": "2023-11-14T22:13:20.123Z",
                "payload": {"new_state": "AS_LISTENING"},
            },
            {"event": None, "number": 99, "created_at": None, "payload": None},
            {"answer": "run_input", "error": None, "payload": {"items": items}},
            {"failed": "/nothing", "error": NO_REQUEST},
            {"answer": "ping", "error": "no", "payload": None},
            {
                "event": "session_closed",
                "number": 24,
                "created_at": None,
                "payload": {"reason": "CR_ERROR", "error": "no model"},
            },
            {"outcome": "ended", "reason": "CR_ERROR", "error": "no model"},
        ]

    run(main())


def test_an_event_that_json_cannot_hold_is_told_all_the_same() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--json", "--once") as command:
            async with agent(await command.port()) as host:
                event = message_event("late")
                event.created_at.seconds = 1 << 60  # no year has it
                event.conversation_item_added.item.message.created_at.seconds = 1 << 60
                host.emit(event)
            assert await command.status() == 1
        told = [json.loads(line) for line in command.text.splitlines()]
        assert told[2] == {
            "event": "conversation_item_added",
            "number": 12,
            "created_at": None,
            "payload": None,
        }
        assert told[3] == {"outcome": "lost", "error": None}

    run(main())


def test_a_reader_that_leaves() -> None:
    async def main() -> None:
        reads, writes = os.pipe()
        errors_read, errors_write = os.pipe()
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "agent_session", "listen", ":0"),
            stdin=subprocess.DEVNULL,
            stdout=writes,
            stderr=errors_write,
        )
        os.close(writes)
        os.close(errors_write)
        first = await asyncio.to_thread(os.read, reads, 4096)
        os.close(reads)
        async with agent(int(first.decode().rpartition(":")[2])):
            assert await process.wait() == 2
        with open(errors_read, encoding="utf-8") as errors:
            assert errors.read() == "agent-session: cannot write the output: Broken pipe\n"

    run(main())


def refused(*arguments: str) -> str:
    """What the command says when it refuses its arguments."""
    done = subprocess.run(
        [sys.executable, "-m", "agent_session", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=20,
    )
    assert (done.returncode, done.stdout) == (2, "")
    return done.stderr


def test_addresses_beyond_loopback_must_be_meant() -> None:
    for address, shown in (("0.0.0.0:0", "0.0.0.0"), ("[::]:0", "::")):
        assert refused("listen", address) == (
            f"agent-session: {shown} can be reached from other machines, and a session has no "
            "authentication: say --allow-remote if that is meant\n"
        )

    async def main() -> None:
        async with piped("listen", "0.0.0.0:0", "--allow-remote") as command:
            await command.until("listening on 0.0.0.0:")
            command.signal(signal.SIGINT)
            assert await command.status() == 0

    run(main())


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert refused("listen", address) == (
            f"agent-session: cannot listen on {address}: "
            "it is in use; give another port, or 0 for any\n"
        )


def test_addresses_that_are_none() -> None:
    assert refused("listen", "a..b:1") == (
        "agent-session: cannot listen on a..b:1: no such name can be\n"
    )
    assert "is no HOST:PORT: a port is a number below 65536" in refused("listen", ":65536")
    assert "an IPv6 address stands in brackets, as in [::1]:1" in refused("listen", "::1:1")


def test_without_a_verb_it_says_what_there_is() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "agent_session"], capture_output=True, text=True, timeout=20
    )
    assert done.returncode == 2 and "demo" in done.stdout and "listen" in done.stdout


def test_the_default_address() -> None:
    async def main() -> None:
        async with piped("listen") as command:
            await command.until(lambda: len(command.screen.rows) > 1)
            first = command.screen.rows[0]
            # Something else may have it, here or wherever the tests run.
            assert "127.0.0.1:24024" in first
            command.signal(signal.SIGINT)
            assert await command.status() in (0, 2)

    run(main())
