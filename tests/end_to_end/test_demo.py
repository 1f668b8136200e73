"""`agent-session demo`, run as a subprocess."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import google.protobuf
import pytest
from agent_session import Ended, RemoteSession, listen
from agent_session_protocol import agent_session_pb2 as pb
from pages import blocks, matches

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = str(Path(sys.executable).with_name("agent-session"))
LIMIT = 60

# The output of the demo, without times and padding.
OUTPUT = """
agent_state_changed initializing
conversation_item_added parcel_desk takes over
agent_state_changed initializing → listening
> Where is my parcel, number 7?
conversation_item_added user: Where is my parcel, number 7?
agent_state_changed listening → thinking
session_usage_updated llm demo/script: input 36, output 12
tool_execution_updated started find_parcel({"number": 7})
tool_execution_updated ended done: on the van, 7 stops away
function_tools_executed find_parcel({"number": 7}) → on the van, 7 stops away
session_usage_updated llm demo/script: input 96, output 24
agent_state_changed thinking → speaking
conversation_item_added assistant: Your parcel is on the van, 7 stops away.
agent_state_changed speaking → listening
answer find_parcel({"number": 7})
find_parcel → on the van, 7 stops away
assistant: Your parcel is on the van, 7 stops away.
> Thank you, bye!
conversation_item_added user: Thank you, bye!
agent_state_changed listening → thinking
session_usage_updated llm demo/script: input 180, output 36
tool_execution_updated started hang_up()
tool_execution_updated ended done
function_tools_executed hang_up() → (nothing)
agent_state_changed thinking → listening
answer hang_up()
hang_up → (nothing)
session_closed CR_USER_INITIATED
ended: CR_USER_INITIATED
"""


def demo(
    *command: str, cwd: Path | None = None, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Runs the demo, and checks that it leaves no process."""
    process = subprocess.Popen(
        [*command, "demo"],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(timeout=LIMIT)
    finally:
        process.kill()
    assert set(members(process.pid)) == set()
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def members(session: int) -> Iterator[int]:
    """Yields the processes of a session, if the system can list them."""
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            yield int(entry.name)


def wait_for_exit(process: int, seconds: float) -> None:
    """Waits for the exit of a process that is not a child of this one."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return
    try:
        assert select.select([descriptor], [], [], seconds)[0], "the process has not exited"
    finally:
        os.close(descriptor)


def output_lines(output: str) -> list[str]:
    """Returns the lines of the output, without times and padding."""
    lines = [re.sub(r"^\d\d:\d\d:\d\d\.\d{3}", "", line) for line in output.splitlines()]
    return [" ".join(line.split()) for line in lines]


@pytest.fixture(scope="module")
def beside_traps(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """Runs the installed command in a folder with modules that must not be imported."""
    folder = tmp_path_factory.mktemp("traps")
    for name in ("livekit", "logging", "agent_session", "protobuf"):
        (folder / f"{name}.py").write_text("raise SystemExit('not this one')")
    return demo(INSTALLED, cwd=folder)


def assert_shown(done: subprocess.CompletedProcess[str]) -> None:
    """Checks that the output is the whole conversation."""
    first, *rest = output_lines(done.stdout)
    assert re.fullmatch(r"listening on 127\.0\.0\.1:\d+; the agent is starting", first)
    assert rest == OUTPUT.strip().splitlines()
    assert len(done.stdout.splitlines()) < 40 and "\x1b" not in done.stdout


def test_modules_in_the_working_directory_are_not_imported(
    beside_traps: subprocess.CompletedProcess[str],
) -> None:
    assert (beside_traps.returncode, beside_traps.stderr) == (0, "")


def test_the_output_of_the_demo(beside_traps: subprocess.CompletedProcess[str]) -> None:
    assert_shown(beside_traps)


def test_the_readme_shows_the_output() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    runs = [run for block in blocks(readme) for run in block.runs()]
    [printed] = [text for command, text in runs if command == ".venv/bin/agent-session demo"]
    lines = output_lines(printed)
    assert matches("\n".join(lines), OUTPUT.strip())


def test_the_demo_as_a_module() -> None:
    done = demo(sys.executable, "-m", "agent_session")
    assert (done.returncode, done.stderr) == (0, "")
    assert_shown(done)


def test_without_livekit_agents_the_error_names_the_package(tmp_path: Path) -> None:
    done = demo(*without_livekit(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "agent-session: the demo's agent needs livekit-agents: "
        'pip install "livekit-agents~=1.8.9"\n'
    )


def test_livekit_without_agents_is_not_enough(tmp_path: Path) -> None:
    command = without_livekit(tmp_path)
    (tmp_path / "livekit").mkdir()
    assert demo(*command).returncode == 2


def without_livekit(folder: Path) -> list[str]:
    """Returns the command line of a Python that has only protobuf and this package."""
    (folder / "google").symlink_to(Path(google.protobuf.__file__).parents[1])
    paths = [str(folder), str(ROOT / "generated" / "python"), str(ROOT / "runtime")]
    code = f"import sys; sys.path[:0] = {paths}; from agent_session.__main__ import run; run()"
    return [sys.executable, "-I", "-S", "-c", code]


def test_an_agent_that_does_not_start(tmp_path: Path) -> None:
    package = tmp_path / "livekit" / "agents"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").write_text("")
    (package / "__init__.py").write_text("raise ImportError('this is some other version')")
    done = demo(sys.executable, "-m", "agent_session", PYTHONPATH=str(tmp_path))
    assert done.returncode == 2
    assert done.stderr == (
        "agent-session: the demo's agent does not start: ImportError: this is some other version\n"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
@pytest.mark.parametrize("after", ["the agent is starting", "session_usage_updated"])
def test_a_signal_ends_all_processes(number: signal.Signals, after: str) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "agent_session", "demo"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None and process.stderr is not None
    with process:
        assert any(after in line for line in process.stdout)
        process.send_signal(number)
        process.wait(LIMIT)
        for member in members(process.pid):
            wait_for_exit(member, LIMIT)
        assert process.stderr.read() == ""
        # The demo may have ended before the signal arrived.
        assert process.returncode in (130 if number is signal.SIGINT else -number, 0)


_AGENT = """
import sys
from agent_session.command.demo_agent import run
run("127.0.0.1", int(sys.argv[1]))
"""


def test_an_interrupted_agent_sends_session_closed() -> None:
    async def main() -> object:
        async with await listen() as listener:
            agent = await asyncio.create_subprocess_exec(
                *(sys.executable, "-c", _AGENT, str(listener.port)), stderr=subprocess.DEVNULL
            )
            try:
                async with RemoteSession(await listener.accept()) as session:
                    await session.wait_for_ready()
                    await session.run_input(text="Hello")
                    agent.send_signal(signal.SIGINT)
                    return await session.wait_ended()
            finally:
                with contextlib.suppress(ProcessLookupError):
                    agent.kill()
                await agent.wait()

    outcome = asyncio.run(asyncio.wait_for(main(), LIMIT))
    assert outcome == Ended(pb.CR_USER_INITIATED, None)
