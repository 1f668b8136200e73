"""Measures the time of commands in turn, and the peak memory of a process and its children."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

_SAMPLE_SECONDS = 0.05


@dataclass(frozen=True)
class Value:
    """A measured value, and how it is shown.

    rate: whether more is better.
    """

    number: float
    text: str
    rate: bool = False


def seconds(number: float) -> Value:
    """Returns a time, shown in a unit that fits it."""
    for unit, size, digits in (("s", 1.0, 1), ("ms", 1e-3, 0), ("µs", 1e-6, 1), ("ns", 1e-9, 0)):
        if number >= size or unit == "ns":
            break
    return Value(number, f"{number / size:.{digits}f} {unit}")


def per_second(number: float) -> Value:
    """Returns a rate."""
    return Value(number, f"{number:,.0f}/s", rate=True)


def mebibytes(number: float) -> Value:
    """Returns an amount of memory in MiB."""
    return Value(number, f"{number:.0f} MiB")


@dataclass(frozen=True)
class Row:
    """One row of the table.

    peer: the name and the value of what ours is compared with; None if there is no peer.
    ratio: ours in relation to the peer, or a number if there is no peer.
    unit: the unit of the ratio and of its limit.
    at_least: whether the ratio must reach the limit; otherwise it must not exceed it.
    at_most: what a ratio that must reach the limit must not exceed; None for any.
    chart: the title of the chart that shows ours beside the peer; "" for none.
    """

    name: str
    ours: Value
    peer: tuple[str, Value] | None
    ratio: float
    limit: float
    unit: str = "×"
    at_least: bool = False
    chart: str = ""
    at_most: float | None = None

    @property
    def holds(self) -> bool:
        """Whether the ratio keeps to its limit."""
        if self.at_most is not None and self.ratio > self.at_most:
            return False
        return self.ratio >= self.limit if self.at_least else self.ratio <= self.limit


def alternate(rounds: int, *actions: Callable[[], None]) -> list[float]:
    """Runs actions in turn, and returns the seconds of each."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(rounds):
        for action_times, action in zip(times, actions, strict=True):
            start = time.perf_counter()
            action()
            action_times.append(time.perf_counter() - start)
    return [percentile(action_times) for action_times in times]


def percentile(times: Sequence[float]) -> float:
    """Returns the 10th percentile: other processes of the machine only make a round slower."""
    return statistics.quantiles(times, n=10, method="inclusive")[0]


def environment() -> dict[str, str]:
    """Returns the environment of measured commands.

    The tools of this environment are found first, since a peer calls its formatter by name. Python
    may write bytecode, so that no command compiles its modules in each round.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PATH": path}


def command(*arguments: str) -> Callable[[], None]:
    """Returns an action that runs a command, and raises if the command fails."""

    def run() -> None:
        subprocess.run(arguments, check=True, capture_output=True, env=environment())

    return run


def peak_memory(arguments: Sequence[str]) -> float:
    """Runs a command and returns the peak memory in MiB of all its processes together."""
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, env=environment())
    root = psutil.Process(process.pid)
    peak = 0
    while process.poll() is None:
        peak = max(peak, _resident(root))
        time.sleep(_SAMPLE_SECONDS)
    if process.returncode != 0:
        raise RuntimeError(f"{arguments} failed with status {process.returncode}")
    return peak / 2**20


def _resident(root: psutil.Process) -> int:
    size = 0
    for process in [root, *_children(root)]:
        with suppress(psutil.Error):
            size += process.memory_info().rss
    return size


def _children(root: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return root.children(recursive=True)
    return []
