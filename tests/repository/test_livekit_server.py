"""`make livekit-server` and what CI does with it, with a program in place of Go."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSION = "1.9.11"
GO = """#!/bin/sh
[ "$1" = version ] && { echo "go version"; exit; }
echo "go: downloading example.org/module v1.0.0" >&2
echo "$@" > "$RECORD"
cp "$0" "$GOBIN/server"
"""
OFFLINE = """#!/bin/sh
[ "$1" = version ] && exit
echo "go: the proxy cannot be reached" >&2
exit 1
"""


@pytest.fixture
def server(tmp_path: Path) -> Path:
    """Where the server is built."""
    return tmp_path / "agent-session-protocol" / f"livekit-server-{VERSION}" / "livekit-server"


def run_make(folder: Path, go: str | None) -> subprocess.CompletedProcess[str]:
    """Runs `make livekit-server` with a text as Go; None if there is no Go."""
    program = folder / "go"
    if go is not None:
        program.write_text(go)
        program.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name != "LIVEKIT_SERVER"}
    environment |= {"XDG_CACHE_HOME": str(folder), "RECORD": str(folder / "arguments")}
    return subprocess.run(
        ["make", "--no-print-directory", "livekit-server", f"GO={program}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_pinned_version_is_built_once_outside_the_tree(tmp_path: Path, server: Path) -> None:
    first = run_make(tmp_path, GO)
    assert first.returncode == 0, first.stderr
    assert f"building livekit-server {VERSION}" in first.stdout
    assert "   example.org/module\n" in first.stdout
    assert (tmp_path / "arguments").read_text().split() == [
        "install",
        f"github.com/livekit/livekit-server/cmd/server@v{VERSION}",
    ]
    assert list(server.parent.iterdir()) == [server]
    second = run_make(tmp_path, None)
    assert (second.returncode, second.stdout, second.stderr) == (0, "", "")


def test_without_go_it_says_what_is_missing(tmp_path: Path, server: Path) -> None:
    result = run_make(tmp_path, None)
    assert result.returncode != 0 and not server.exists()
    assert "Go 1.24 or newer is needed" in result.stdout


def test_a_failed_download_leaves_nothing_and_says_why(tmp_path: Path, server: Path) -> None:
    result = run_make(tmp_path, OFFLINE)
    assert result.returncode != 0
    assert "go: the proxy cannot be reached" in result.stdout
    assert list(server.parent.iterdir()) == []


@pytest.mark.parametrize(
    ("build", "rooms", "status", "output"),
    [
        (0, 0, 0, ""),
        (0, 1, 1, ""),
        (2, 0, 0, "SKIPPED: make test-rooms, as livekit-server could not be built"),
        (124, 0, 0, "SKIPPED: make test-rooms, as building livekit-server took more than"),
    ],
)
def test_ci_skips_what_cannot_be_built_and_fails_on_a_failed_test(
    tmp_path: Path, build: int, rooms: int, status: int, output: str
) -> None:
    """CI runs with programs in place of `make` and `timeout`."""
    make = f'#!/bin/sh\n[ "$1" = livekit-server ] && exit {build}\n'
    make += f'[ "$1" = test-rooms ] && exit {rooms}\nexit 0\n'
    for name, text in (("make", make), ("timeout", '#!/bin/sh\nshift\n"$@"\n')):
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    result = subprocess.run(
        [ROOT / ".ci" / "run"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert result.returncode == status
    assert result.stdout.startswith(output) and bool(result.stdout) == bool(output)
