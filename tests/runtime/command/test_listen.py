"""`agent-session listen`: its output, and its end."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from command_process import (
    NAMES,
    agent,
    goodbye,
    message_event,
    piped,
    run_response,
    state_event,
    usage_response,
)
from scripted_host import UNKNOWN_ARM, closed_event, transcript_event
from transport_messages import run


def test_each_event_is_printed_on_a_line() -> None:
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
            # The hour depends on the time zone of this machine.
            assert rows[2][2:] == ":13:20.123  agent_state_changed       initializing → listening"
            assert [row[14:] for row in rows[3:7]] == [
                "user_input_transcribed    two\\nlines (interim)",
                "unknown event, field 99",
                "an empty event",
                "session_closed            CR_ERROR: no model",
            ]
            assert rows[7:] == ["ended: CR_ERROR, no model", ""]

    run(main())


def test_a_lost_agent_and_the_next_agent() -> None:
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
                + "the connection was lost: the stream ended in a frame, after 16 of 260 bytes",
                "lost: the stream ended in a frame, after 16 of 260 bytes",
                "waiting for the next agent",
                "",
            ]
            async with agent(port) as host:
                await goodbye(host)
            await command.until("ended: CR_COMPLETED")
            command.signal(signal.SIGINT)
            assert await command.status() == 0

    run(main())


def test_the_exit_status_of_a_lost_agent() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once") as command:
            async with agent(await command.port()):
                await command.until("connected")
            assert await command.status() == 1
            assert command.screen.rows[-2] == "lost: the agent disconnected without session_closed"

    run(main())


def test_a_connection_that_is_not_an_agent() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once") as command:
            _, writer = await asyncio.open_connection("127.0.0.1", await command.port())
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            assert await command.status() == 1
            writer.close()
            # "GET " is read as a length.
            assert command.screen.rows[-2] == (
                f"lost: a frame of {0x47455420} bytes exceeds the limit of {1 << 20} bytes"
            )

    run(main())


def test_a_second_agent_is_refused() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once") as command:
            port = await command.port()
            async with agent(port) as host:
                await command.until("connected")
                async with agent(port) as other:
                    await other.until(lambda: bool(other.others))
                await command.until("warning: a connection was refused: 1 peers are connected")
                await goodbye(host)
            assert await command.status() == 0

    run(main())


def test_a_response_after_session_closed() -> None:
    """A response that arrives after session_closed is shown."""

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
def test_a_signal_ends_the_command_and_its_requests(number: signal.Signals) -> None:
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


def test_control_characters_of_an_agent_are_escaped() -> None:
    async def main() -> None:
        control_text = "\x1b]0;title\x07\x1b[2J\r\x08\x7f\x9b31m\u202egnp.exe\u2028end"
        async with piped("listen", ":0", "--once", "--color") as command:
            async with agent(await command.port()) as host:
                host.emit(state_event(pb.AS_LISTENING))
                host.emit(message_event(control_text))
                host.emit(
                    pb.AgentSessionEvent(error=pb.AgentSessionEvent.Error(message=control_text))
                )
                event = pb.AgentSessionEvent()
                event.debug_message.payload[control_text] = control_text
                host.emit(event)
                command.type("hello\n")
                request = await host.request()
                response = run_response(request, control_text)
                response.error = control_text
                host.respond(response)
                await command.until("assistant: ")
                await goodbye(host, closed_event(pb.CR_ERROR, control_text))
            assert await command.status() == 0
            # Checks the raw output, apart from colours.
            plain = command.screen.raw
            for style in ("0", "1", "2", "31", "32", "33", "36"):
                plain = plain.replace(f"\x1b[{style}m", "")
            assert {each for each in plain if not each.isprintable()} == {"\n"}
            escaped = "\\x1b]0;title\\x07\\x1b[2J\\r\\x08\\x7f\\x9b31m\\u202egnp.exe\\u2028end"
            assert plain.count(escaped) == 6  # the debug message is escaped as JSON first
            assert f"assistant: {escaped}" in plain and f"ended: CR_ERROR, {escaped}" in plain

    run(main())


def test_long_events_are_truncated_and_long_responses_are_not() -> None:
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


def test_a_reader_of_the_output_that_exits() -> None:
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
            # What shells report for a command that SIGPIPE has ended.
            assert await process.wait() == 141
        with open(errors_read, encoding="utf-8") as errors:
            assert errors.read() == ""

    run(main())
