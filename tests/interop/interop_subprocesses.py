"""Peer programs as subprocesses.

A peer reads commands and prints results, notes and events: see `interop_commands`. All waits have a
timeout, and `stop` ends the process in any case.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable
from typing import Any

# Longer than any command takes on a busy machine, in seconds.
TIMEOUT = 30.0


class PeerError(Exception):
    """The error of a peer's command.

    Attributes:
        kind: the name of the error's class in the language of the peer.
        message: the text of the error.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class PeerExited(Exception):
    """The peer has exited or did not respond in time. The text contains its log."""


class Peer:
    """A peer program that runs in a subprocess.

    Attributes:
        events: the events that it has received, as it printed them.
        killed: whether it was ended by `kill`.
    """

    def __init__(self, command: list[str]) -> None:
        self.events: list[dict[str, Any]] = []
        self.killed = False
        self._notes: dict[str, dict[str, Any]] = {}
        self._results: dict[int, dict[str, Any]] = {}
        self._count = 0
        self._reading = True
        self._changed = threading.Condition()
        self._log = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            encoding="utf-8",
            env=_environment(),
        )
        self._reader = threading.Thread(target=self._read, name=f"reads {command[-1]}")
        self._reader.start()

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def begin(self, command: str, **arguments: object) -> int:
        """Sends a command. Returns its number, for `result`."""
        self._count += 1
        assert self._process.stdin is not None
        try:
            print(
                json.dumps({"id": self._count, "command": command, **arguments}),
                file=self._process.stdin,
                flush=True,
            )
        except BrokenPipeError:
            raise PeerExited(self.log()) from None
        return self._count

    def result(self, number: int, timeout: float = TIMEOUT) -> Any:
        """Waits for the result of a command, and returns it.

        Raises:
            PeerError: the command has failed.
            PeerExited: there is no result.
        """
        self.wait(lambda: number in self._results, f"the result of command {number}", timeout)
        result = self._results[number]
        if "error" in result:
            raise PeerError(result["error"]["type"], result["error"]["message"])
        return result["result"]

    def has_result(self, number: int) -> bool:
        with self._changed:
            return number in self._results

    def call(self, command: str, timeout: float = TIMEOUT, **arguments: object) -> Any:
        """Sends a command, and returns its result. Raises as `result` does."""
        return self.result(self.begin(command, **arguments), timeout)

    def note(self, name: str, timeout: float = TIMEOUT) -> dict[str, Any]:
        """Waits for a note of the peer, and returns it."""
        self.wait(lambda: name in self._notes, f"the note {name!r}", timeout)
        return self._notes[name]

    def has_noted(self, name: str) -> bool:
        with self._changed:
            return name in self._notes

    def wait(self, condition: Callable[[], bool], what: str, timeout: float = TIMEOUT) -> None:
        """Waits until a condition on the output of the peer is true."""
        with self._changed:
            self._changed.wait_for(lambda: condition() or not self._reading, timeout)
            if condition():
                return
        raise PeerExited(f"{what} did not arrive; the log of the peer:\n{self.log()}")

    def log(self) -> str:
        """Returns what the peer has written to standard error."""
        return os.pread(self._log.fileno(), 1 << 20, 0).decode(errors="replace")

    def kill(self) -> None:
        """Kills the process, as in a crash."""
        self.killed = True
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait(TIMEOUT)

    def stop(self) -> int:
        """Closes standard input, and returns the exit code. Kills a process that does not exit."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._end()
        self._reader.join(TIMEOUT)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log.close()
        return self._process.returncode

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._changed:
                self._handle(json.loads(line))
                self._changed.notify_all()
        with self._changed:
            self._reading = False
            self._changed.notify_all()

    def _handle(self, line: dict[str, Any]) -> None:
        if "event" in line:
            self.events.append(line)
        elif "note" in line:
            self._notes[line["note"]] = line
        elif "id" in line:
            self._results[line["id"]] = line
        # All other lines are log entries of livekit's native library for Node.


def _environment() -> dict[str, str]:
    """Returns the environment without the variables that would let a peer connect to a server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("LIVEKIT_")}
