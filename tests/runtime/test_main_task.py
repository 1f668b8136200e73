"""`run`: Ctrl-C cancels the main task and nothing else, as on Python 3.11 also on 3.10."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
import asyncio, os, signal, sys, threading
import agent_session.main_task
from agent_session import run

agent_session.main_task.sys = type("sys", (), {"version_info": VERSION})
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupt():
    os.kill(os.getpid(), signal.SIGINT)

async def main():
MAIN

try:
    print("returned", run(main()))
except BaseException as error:
    print(type(error).__name__)
print(signal.getsignal(signal.SIGINT) is signal.default_int_handler)
"""


def output_of(main: str, version: tuple[int, int]) -> list[str]:
    program = PROGRAM.replace("MAIN", textwrap.indent(textwrap.dedent(main), "    "))
    command = [sys.executable, "-c", program.replace("VERSION", repr(version))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    return done.stdout.splitlines()


# Before 3.11, `asyncio.run` itself does something else: the first is tested on newer versions only.
VERSIONS = [(3, 10)] if sys.version_info < (3, 11) else [(3, 10), (3, 11)]


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("main", "printed"),
    [
        pytest.param("return 3", ["returned 3", "True"], id="no interrupt"),
        pytest.param("raise LookupError", ["LookupError", "True"], id="an error"),
        pytest.param(
            """
            async def other():
                await let_go.wait()
                print("the other task goes on")
            let_go = asyncio.Event()
            task = asyncio.ensure_future(other())
            try:
                # From the loop: an error in the coroutine itself would run `finally` in any case.
                asyncio.get_running_loop().call_soon(interrupt)
                await asyncio.Event().wait()
            finally:
                let_go.set()
                await task
            """,
            ["the other task goes on", "KeyboardInterrupt", "True"],
            id="an interrupt",
        ),
        pytest.param(
            """
            try:
                interrupt()
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                interrupt()
                await asyncio.Event().wait()
            """,
            ["KeyboardInterrupt", "True"],
            id="two interrupts",
        ),
        pytest.param(
            "asyncio.current_task().cancel(); await asyncio.sleep(0)",
            ["CancelledError", "True"],
            id="a cancellation of its own",
        ),
    ],
)
def test_run(main: str, printed: list[str], version: tuple[int, int]) -> None:
    assert output_of(main, version) == printed


def test_an_interrupt_that_is_ignored_stays_ignored() -> None:
    before = "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    program = before + textwrap.dedent("""
        import asyncio
        from agent_session import main_task
        main_task.sys = type("sys", (), {"version_info": (3, 10)})
        async def main():
            return signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        print(main_task.run(main()))
        """)
    done = subprocess.run(
        [sys.executable, "-c", "import signal\n" + program], capture_output=True, text=True
    )
    assert (done.stdout, done.stderr) == ("True\n", "")
