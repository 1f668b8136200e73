"""Measures the wall time of commands in turn, and the peak memory of a process tree."""

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
class Row:
    """One figure: what was measured, against what, and the limit of the ratio.

    at_least: the ratio must reach the limit rather than stay below it.
    """

    what: str
    ours: str
    peer: str
    ratio: float
    limit: float
    unit: str = "×"
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the ratio keeps to its limit."""
        return self.margin >= 1

    @property
    def margin(self) -> float:
        """How many times better the ratio is than its limit."""
        return self.ratio / self.limit if self.at_least else self.limit / max(self.ratio, 1e-9)

    @property
    def bound(self) -> str:
        """The limit with its direction and unit."""
        return f"{'≥' if self.at_least else '≤'} {self.limit:g}{self.unit}"


def alternate(runs: int, *actions: Callable[[], None]) -> list[float]:
    """Return the seconds of each action in its good rounds, run in turn."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(runs):
        for found, action in zip(times, actions, strict=True):
            start = time.perf_counter()
            action()
            found.append(time.perf_counter() - start)
    return [good(found) for found in times]


def good(seconds: Sequence[float]) -> float:
    """Return what a round takes that nothing else on the machine held up, and no luck helped:
    nine tenths take as long or longer."""
    return statistics.quantiles(seconds, n=10, method="inclusive")[0]


def command(*arguments: str) -> Callable[[], None]:
    """Return an action that runs a command and fails if it does.

    The environment's own tools come first: a peer calls its formatter by name.
    """
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])

    def run() -> None:
        subprocess.run(arguments, check=True, capture_output=True, env={**os.environ, "PATH": path})

    return run


def peak_memory(arguments: Sequence[str]) -> float:
    """Run a command and return the peak MiB of all its processes together."""
    child = subprocess.Popen(arguments, stdout=subprocess.DEVNULL)
    root = psutil.Process(child.pid)
    peak = 0
    while child.poll() is None:
        peak = max(peak, _together(root))
        time.sleep(_SAMPLE_SECONDS)
    if child.returncode != 0:
        raise RuntimeError(f"{arguments} ended with status {child.returncode}")
    return peak / 2**20


def _together(root: psutil.Process) -> int:
    size = 0
    for process in [root, *_children(root)]:
        with suppress(psutil.Error):
            size += process.memory_info().rss
    return size


def _children(root: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return root.children(recursive=True)
    return []
