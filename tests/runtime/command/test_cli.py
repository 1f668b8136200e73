"""The arguments and the help of `agent-session`."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from agent_session.command.cli import main as command
from command_process import piped
from transport_messages import run


class Refused:
    """Runs the command with invalid arguments, and returns the error output."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> str:
        try:
            status = command(arguments)
        except SystemExit as ended:  # raised by argparse
            status = int(ended.code or 0)
        captured = self._capsys.readouterr()
        assert (status, captured.out) == (2, "")
        return captured.err


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Refused:
    return Refused(capsys)


def test_remote_addresses_need_allow_remote(refused: Refused) -> None:
    for address, shown in (("0.0.0.0:0", "0.0.0.0"), ("[::]:0", "::")):
        assert refused("listen", address) == (
            f"agent-session: {shown} can be reached from other machines, and a session has no "
            "authentication; pass --allow-remote to listen there\n"
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
        done = subprocess.run(
            [sys.executable, "-m", "agent_session", "listen", address],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=20,
        )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"agent-session: cannot listen on {address}: "
        "the address is in use; use another port, or 0 for any free port\n"
    )


def test_an_address_of_another_machine(refused: Refused) -> None:
    # An address that is reserved for documentation.
    assert refused("listen", "192.0.2.1:1", "--allow-remote") == (
        "agent-session: cannot listen on 192.0.2.1:1: this machine does not have that address\n"
    )


def test_invalid_addresses(refused: Refused) -> None:
    assert refused("listen", "a..b:1") == (
        "agent-session: cannot listen on a..b:1: invalid host name\n"
    )
    for address in (":65536", "127.0.0.1:", "127.0.0.1:x", "http://localhost", ":"):
        assert "is not HOST:PORT: a port is a number below 65536" in refused("listen", address)
    for address in ("::1:1", "::1", "::", "fe80::1"):
        assert "an IPv6 address must be in brackets, as in [::1]:24024" in refused(
            "listen", address
        )
    for address in ("tcp://127.0.0.1:1", "a b:1", "[::1", "me@here:1"):
        assert "is not HOST:PORT, as in 127.0.0.1:24024" in refused("listen", address)


def test_a_host_name_that_does_not_resolve(refused: Refused) -> None:
    output = refused("listen", "nobody.invalid:1")
    assert output.startswith("agent-session: cannot listen on nobody.invalid:1: ")
    assert len(output.splitlines()) == 1


def test_the_help_describes_pipes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command(["listen", "--help"])
    assert ended.value.code == 0
    output = " ".join(capsys.readouterr().out.split())
    assert "Lines can also come from a pipe or a file." in output
    assert (
        "After the last line the command continues to show events; the line /quit ends it."
        in output
    )
    assert "Ctrl-C and Ctrl-D end the command" in output


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command([]) == 2
    output = capsys.readouterr().out
    assert "demo" in output and "listen" in output


def test_the_default_address() -> None:
    async def main() -> None:
        async with piped("listen") as command:
            await command.until(lambda: len(command.screen.rows) > 1)
            first = command.screen.rows[0]
            # Another process may use the default port.
            assert "127.0.0.1:24024" in first
            command.signal(signal.SIGINT)
            assert await command.status() in (0, 2)

    run(main())


def test_the_version_is_that_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    project = Path(__file__).resolve().parents[3] / "pyproject.toml"
    (line,) = [
        line for line in project.read_text("utf-8").splitlines() if line.startswith("version = ")
    ]
    with pytest.raises(SystemExit) as ended:
        command(["--version"])
    version = line.removeprefix("version = ").strip('"')
    assert (ended.value.code, capsys.readouterr().out) == (0, f"agent-session {version}\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["listen", "--help"], []])
def test_texts_that_cannot_be_written(arguments: list[str], unbuffered: str) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "agent_session", *arguments],
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    message = "agent-session: cannot write the output: No space left on device\n"
    assert (done.returncode, done.stderr) == (2, message)


def test_a_help_text_whose_reader_has_exited() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "agent_session", "--help"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    assert (process.wait(60), process.stderr and process.stderr.read()) == (141, b"")
