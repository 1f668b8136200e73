"""`agent-session listen` at a terminal with a prompt."""

from __future__ import annotations

import signal
import termios
from typing import Any

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from command_process import (
    NAMES,
    Command,
    agent,
    at_terminal,
    message_event,
    run_response,
    state_event,
)
from scripted_host import Host
from transport_messages import run

# The flags of the terminal that a prompt disables.
LINE_MODE = termios.ICANON | termios.ECHO


async def prompt_is(command: Command, text: str, column: int | None = None) -> None:
    """Waits until the last row is the prompt with a text, and the cursor is at a column."""
    at = len(f"> {text}") if column is None else column
    await command.until(
        lambda: (command.screen.rows[-1], command.screen.column) == (f"> {text}", at)
    )


async def next_text(host: Host) -> str:
    """Returns the text of the next run, and answers it without items."""
    request = await host.request()
    host.respond(run_response(request))
    return request.run_input.text


def test_an_event_does_not_change_the_line_that_is_typed() -> None:
    async def main() -> None:
        async with at_terminal("listen", ":0") as command, agent(await command.port()) as host:
            await command.until("an agent is connected")
            command.type("Hello, wor")
            await prompt_is(command, "Hello, wor")
            command.type("\x1b[D\x1b[D")
            await prompt_is(command, "Hello, wor", column=10)
            host.emit(message_event("I was about to say"))
            await command.until("assistant: I was about to say")
            await prompt_is(command, "Hello, wor", column=10)
            command.type("\x05ld\r")
            request = await host.request()
            assert request.run_input.text == "Hello, world"
            host.emit(message_event("Hi"))
            host.respond(run_response(request, "Hi", "and\nwelcome"))
            await command.until("welcome")
            await prompt_is(command, "")
            rows = command.screen.rows
            typed = rows.index("> Hello, world")
            assert rows[typed + 1][12:] == "  conversation_item_added   assistant: Hi"
            assert rows[typed + 2 :] == [
                NAMES.format("answer") + "assistant: Hi",
                NAMES.format("") + "assistant: and",
                NAMES.format("") + "welcome",
                "> ",
            ]

    run(main())


def test_typed_lines_do_not_wait_for_responses() -> None:
    async def main() -> None:
        async with at_terminal("listen", ":0") as command, agent(await command.port()) as host:
            await command.until("an agent is connected")
            command.type("first\rsecond\r")
            first, second = await host.request(), await host.request()
            refusal = pb.SessionResponse(request_id=first.request_id, error="superseded")
            refusal.run_input.SetInParent()
            host.respond(refusal)
            host.respond(run_response(second, "yes"))
            await command.until("assistant: yes")
            assert NAMES.format("run_input failed") + "superseded" in command.screen.rows

    run(main())


def test_editing_keys() -> None:
    async def main() -> None:
        async with at_terminal("listen", ":0") as command, agent(await command.port()) as host:
            await command.until("an agent is connected")
            # "wörld" in two parts, split inside of a character; then "big " is inserted.
            encoded = "wörld".encode()
            command.type(b"hello " + encoded[:2])
            await prompt_is(command, "hello w")
            command.type(encoded[2:])
            await prompt_is(command, "hello wörld")
            command.type("\x1b[D" * 5 + "big \x01\x1b[3~H\r")
            assert await next_text(host) == "Hello big wörld"
            command.type("one two  \x17\x7f!\r")  # deletes a word, then the space before it
            assert await next_text(host) == "one!"
            command.type(
                "\x1b[A\x1b[A\x10\x1b[B\x1b[F!\r"
            )  # recalls the oldest line, then the next one
            assert await next_text(host) == "one!!"
            command.type("\x1b[A\x1bOH\x06\x06\x0b\x02\x1b[4~?\r")  # keeps two letters of it
            assert await next_text(host) == "on?"
            command.type("gone\x15\x1b[Zkept\r")
            assert await next_text(host) == "kept"

    run(main())


def test_a_long_line_is_scrolled_to_its_cursor() -> None:
    async def main() -> None:
        async with at_terminal("listen", ":0", columns=20) as command:
            async with agent(await command.port()) as host:
                await command.until("an agent is connected")
                line = "0123456789abcdefghijklmnopqrstuvwxyz"
                command.type(line)
                await prompt_is(command, "jklmnopqrstuvwxyz")
                command.type("\x01")
                await prompt_is(command, "0123456789abcdefg", column=2)
                command.type("\r")
                assert await next_text(host) == line

    run(main())


@pytest.mark.parametrize("way", ["\x04", "/quit\r", "\x03", signal.SIGTERM])
def test_the_mode_of_the_terminal_is_restored(way: str | signal.Signals) -> None:
    async def main() -> None:
        async with at_terminal("listen", ":0") as command:
            port = await command.port()
            await prompt_is(command, "")
            assert not command.mode()[3] & LINE_MODE
            async with agent(port) as host:
                await command.until("an agent is connected")
                await prompt_is(command, "")
                if isinstance(way, str):
                    command.type(way)
                else:
                    command.signal(way)
                assert await command.status() == 0
                await host.until(lambda: host.others == ["end: None"])  # the agent is notified
            assert command.mode()[3] & LINE_MODE == LINE_MODE
            assert command.screen.rows[-1] == ""  # the prompt is removed

    run(main())


def test_ctrl_d_in_a_line_deletes() -> None:
    async def main() -> None:
        async with at_terminal("listen", ":0") as command, agent(await command.port()) as host:
            await command.until("an agent is connected")
            command.type("xno\x01\x04\x05\x04\r")
            assert await next_text(host) == "no"

    run(main())


def test_the_prompt_works_after_a_stop() -> None:
    """A shell changes the mode of the terminal while the command is stopped."""

    async def main() -> None:
        async with at_terminal("listen", ":0") as command, agent(await command.port()) as host:
            await command.until("an agent is connected")
            command.type("be")
            await prompt_is(command, "be")
            command.signal(signal.SIGSTOP)
            mode = command.mode()
            mode[3] |= LINE_MODE
            command.set_mode(mode)
            command.signal(signal.SIGCONT)
            await command.until(lambda: not command.mode()[3] & LINE_MODE)
            command.type("fore\r")
            assert await next_text(host) == "before"

    run(main())


def test_lines_typed_without_an_agent() -> None:
    async def main() -> None:
        async with at_terminal("listen", ":0") as command:
            await command.port()
            command.type("hello\r")
            await command.until("no agent is connected")
            command.type("/help\r")
            await command.until("A unique part of a name")
            await prompt_is(command, "")

    run(main())


@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ((), {}, True),
        ((), {"NO_COLOR": "1"}, False),
        (("--color",), {"NO_COLOR": "1"}, True),
        (("--no-color",), {}, False),
        ((), {"TERM": "dumb"}, False),
    ],
)
def test_use_of_colours(
    arguments: tuple[str, ...], environment: dict[str, Any], coloured: bool
) -> None:
    async def main() -> None:
        async with at_terminal(*arguments, "listen", ":0", *arguments, **environment) as command:
            async with agent(await command.port()) as host:
                host.emit(message_event("Hi"))
                await command.until("assistant: Hi")
                assert ("\x1b[36mconversation_item_added\x1b[0m" in command.screen.raw) == coloured
                assert ("\x1b[1m" in command.screen.raw) == coloured

    run(main())


def test_a_dumb_terminal_has_no_prompt() -> None:
    async def main() -> None:
        async with at_terminal("listen", ":0", TERM="dumb") as command:
            async with agent(await command.port()) as host:
                host.emit(state_event(pb.AS_LISTENING))
                command.type("hello\n")
                assert await next_text(host) == "hello"
                assert "\x1b" not in command.screen.raw
                command.type("\x04")
                assert await command.status() == 0

    run(main())


def test_a_terminal_without_a_controlling_job() -> None:
    async def main() -> None:
        async with at_terminal("listen", ":0", owned=False) as command:
            async with agent(await command.port()) as host:
                await command.until("an agent is connected")
                command.type("hello\r")
                assert await next_text(host) == "hello"
                await prompt_is(command, "")

    run(main())
