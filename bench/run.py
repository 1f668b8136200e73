"""Measures every figure and writes bench/README.md and its charts; `make bench` runs it.

The exit status is 1 if a figure exceeds its limit.
"""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from importlib import metadata
from pathlib import Path

import adoption
import charts
import encoding
import generator
import imports
import many_sessions
import sessions
import typescript
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

Written by `make bench`. Ours and its peers run in turn, in the same run on the same machine.
Each figure is the 10th percentile of all rounds, since other processes of the machine only make
a round slower. The limit is on the ratio, or on the number if there is no peer. `generate` and
`check` handle the outputs of this repository: Python, TypeScript and vectors. Sessions are
measured in two processes that are connected over loopback; the process at the other end is the
same for each subject and does not parse messages. A bare protocol is an `asyncio.Protocol` that
parses and makes the same messages by hand, writes them in the same batches, and does nothing
else.

![Ours beside each peer](figures.svg)

| figure | ours | peer | ratio | limit | holds |
| --- | --- | --- | --- | --- | --- |
"""


def main() -> int:
    """Measures, writes the table, and returns the exit status."""
    with tempfile.TemporaryDirectory(prefix="sessiongen-bench-") as folder:
        rows = [*generator.rows(Path(folder)), imports.row()]
    rows += [*encoding.rows(), *typescript.rows(), *adoption.rows()]
    rows += [*sessions.rows(), *many_sessions.rows()]
    (_HERE / "figures.svg").write_text(charts.draw(rows), encoding="utf-8")
    (_HERE / "README.md").write_text(_HEAD + "".join(map(_line, rows)) + _foot(), encoding="utf-8")
    for row in rows:
        print(_line(row), end="")
    return 0 if all(row.holds for row in rows) else 1


def _line(row: Row) -> str:
    holds = "yes" if row.holds else "**no**"
    peer = f"{row.peer[0]}, {row.peer[1].text}" if row.peer else "-"
    limit = f"{'≥' if row.at_least else '≤'} {row.limit:g}{row.unit}"
    if row.at_most is not None:
        limit += f", ≤ {row.at_most:g}{row.unit}"
    digits = 0 if row.ratio >= 1000 else 2
    cells = (row.name, row.ours.text, peer, f"{row.ratio:,.{digits}f}{row.unit}", limit)
    return f"| {' | '.join((*cells, holds))} |\n"


def _foot() -> str:
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in _PACKAGES)
    machine = (
        f"{platform.python_implementation()} {platform.python_version()}, {os.cpu_count()} cores"
    )
    return f"\nWith {versions}; {machine}, {platform.system()} {platform.machine()}.\n"


if __name__ == "__main__":
    sys.exit(main())
