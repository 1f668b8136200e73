"""`make bench`: measure every figure in one run; write bench/README.md and its plot.

Comes in: nothing. Goes out: a table with each figure, its peer, the ratio and the limit; exit
status 1 if a limit does not hold.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import encoding
import generator
import many_sessions
import plot
import sessions
from measure import Row

_HERE = Path(__file__).resolve().parent
_PACKAGES = (
    "black",
    "betterproto2_compiler",
    "grpcio-tools",
    "livekit-agents",
    "mypy-protobuf",
    "protobuf",
)
_HEAD = """# Benchmarks

Written by `make bench`. Each figure is a ratio to a peer that ran in the same run on the
same machine, in turn, over many rounds, of which nine tenths took as long or longer: what else
a machine does costs time only. A limit is on the ratio, or on the number where there is no peer.
Sessions are measured in two processes on loopback; the load is the same for each subject and
takes no messages apart. A bare protocol is an `asyncio.Protocol` that parses and makes the
same messages by hand, writes them in the same batches, and does nothing else.

![how far each figure keeps from its limit](figures.svg)

| figure | ours | peer | ratio | limit | holds |
| --- | --- | --- | --- | --- | --- |
"""


def main() -> int:
    """Measure, write the table, and return the exit status."""
    with tempfile.TemporaryDirectory(prefix="sessiongen-bench-") as folder:
        rows = [
            *generator.rows(Path(folder)),
            *encoding.rows(),
            *sessions.rows(),
            *many_sessions.rows(),
        ]
    plot.draw(rows, _HERE / "figures.svg")
    (_HERE / "README.md").write_text(_HEAD + "".join(map(_line, rows)) + _foot(), encoding="utf-8")
    for row in rows:
        print(_line(row), end="")
    return 0 if all(row.holds for row in rows) else 1


def _line(row: Row) -> str:
    holds = "yes" if row.holds else "**no**"
    cells = (row.what, row.ours, row.peer, f"{row.ratio:.2f}{row.unit}", row.bound)
    return f"| {' | '.join((*cells, holds))} |\n"


def _foot() -> str:
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES)
    machine = (
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores"
    )
    return f"\nWith {versions}; {machine}, {platform.system()} {platform.machine()}.\n"


if __name__ == "__main__":
    sys.exit(main())
