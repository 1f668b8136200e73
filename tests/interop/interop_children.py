"""Peer programs as child processes.

Comes in: a command line. Goes out: what the program says, and its answers to commands. Every wait
is bounded, and `stop` ends the program whatever it does.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import threading
from collections.abc import Callable
from typing import Any

# Longer than any peer takes on a busy machine; nothing that works waits this long.
PATIENCE = 30.0


class PeerError(Exception):
    """What a peer raised on a command.

    Attributes:
        kind: the name of its class, in the peer's own language.
        message: its text.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(f"{kind}: {message}")
        self.kind = kind
        self.message = message


class PeerGone(Exception):
    """The peer ended, or said nothing for too long. The text has what it logged."""


class Child:
    """One peer program.

    Attributes:
        events: the events that it received, as it printed them.
        killed: whether it was ended by `kill`.
    """

    def __init__(self, command: list[str]) -> None:
        self.events: list[dict[str, Any]] = []
        self.killed = False
        self._notes: dict[str, dict[str, Any]] = {}
        self._answers: dict[int, dict[str, Any]] = {}
        self._count = 0
        self._reading = True
        self._news = threading.Condition()
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

    def begin(self, verb: str, **given: object) -> int:
        """Give a command; returns its number, for `answer`."""
        self._count += 1
        assert self._process.stdin is not None
        try:
            print(
                json.dumps({"id": self._count, "do": verb, **given}),
                file=self._process.stdin,
                flush=True,
            )
        except BrokenPipeError:
            raise PeerGone(self.log()) from None
        return self._count

    def answer(self, number: int, timeout: float = PATIENCE) -> Any:
        """The result of a command.

        Raises:
            PeerError: the peer raised.
            PeerGone: there is no answer.
        """
        self.wait(lambda: number in self._answers, f"the answer to command {number}", timeout)
        answer = self._answers[number]
        if "error" in answer:
            raise PeerError(answer["error"]["type"], answer["error"]["message"])
        return answer["result"]

    def answered(self, number: int) -> bool:
        with self._news:
            return number in self._answers

    def ask(self, verb: str, timeout: float = PATIENCE, **given: object) -> Any:
        """Give a command and wait for its result; raises as `answer` does."""
        return self.answer(self.begin(verb, **given), timeout)

    def note(self, name: str, timeout: float = PATIENCE) -> dict[str, Any]:
        """What the peer says by itself, once it has said it."""
        self.wait(lambda: name in self._notes, f"the note {name!r}", timeout)
        return self._notes[name]

    def has_noted(self, name: str) -> bool:
        with self._news:
            return name in self._notes

    def wait(self, come: Callable[[], bool], what: str, timeout: float = PATIENCE) -> None:
        """Wait until a condition on what was said holds."""
        with self._news:
            self._news.wait_for(lambda: come() or not self._reading, timeout)
            if come():
                return
        raise PeerGone(f"{what} did not come; it logged:\n{self.log()}")

    def log(self) -> str:
        """What the peer wrote to stderr."""
        return os.pread(self._log.fileno(), 1 << 20, 0).decode(errors="replace")

    def kill(self) -> None:
        """End it at once, as a crash would."""
        self.killed = True
        self._end()

    def _end(self) -> None:
        self._process.kill()
        self._process.wait(PATIENCE)

    def stop(self) -> int:
        """Let it end by itself, and end it if it does not; returns its exit code."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._end()
        self._reader.join(PATIENCE)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log.close()
        return self._process.returncode

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            with self._news:
                self._take(json.loads(line))
                self._news.notify_all()
        with self._news:
            self._reading = False
            self._news.notify_all()

    def _take(self, said: dict[str, Any]) -> None:
        if "event" in said:
            self.events.append(said)
        elif "note" in said:
            self._notes[said["note"]] = said
        else:
            self._answers[said["id"]] = said


def _environment() -> dict[str, str]:
    """Ours, without what would let a peer reach a server."""
    return {name: value for name, value in os.environ.items() if not name.startswith("LIVEKIT_")}
