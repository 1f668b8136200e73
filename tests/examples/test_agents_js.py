"""The agents-js example: its steps as docs/agents-js.md prints them, in a copy of the folder.

The host and the driver of the example meet each other peer in `interop/test_interop_example.py`.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from interop_node import node_is_missing
from interop_typescript import AGENTS_JS, TYPESCRIPT_FOLDER, run_tool, settings, unformatted
from pages import ROOT, blocks, matches
from sessiongen_command import invoke

PAGE = (ROOT / "docs" / "agents-js.md").read_text(encoding="utf-8")
STEPS, _, CHECKOUT = PAGE.partition("## In a checkout of agents-js")
SKIPPED = "npm ci --ignore-scripts"
LISTEN = "agent-session listen 127.0.0.1:24024 --once"


PRESET = "sessiongen init --preset agents-js"
GENERATE = "sessiongen generate --quiet"


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Yields each command of a part of the page, and what it prints."""
    for block in blocks(text):
        yield from block.runs()


def test_the_preset(tmp_path: Path) -> None:
    """It generates the modules of the example, with nothing else at hand."""
    for command, expected in ((PRESET, dict(commands(CHECKOUT))[PRESET]), (GENERATE, "")):
        outcome = invoke(tmp_path, *shlex.split(command)[1:])
        assert outcome.status == 0 and matches(expected, outcome.all), outcome.all
    generated = tmp_path / "src" / "session_protocol"
    expected_files = {
        path.name: path for path in (AGENTS_JS / "src" / "session_protocol").glob("*.ts")
    }
    assert {path.name for path in generated.glob("*.ts")} == set(expected_files)
    for name, path in expected_files.items():
        assert (generated / name).read_bytes() == path.read_bytes(), name


def test_the_generated_modules_are_current() -> None:
    outcome = invoke(AGENTS_JS, "check", "--no-cache")
    assert outcome.status == 0, outcome.all


def test_the_packages_are_those_of_the_tests() -> None:
    """The tests compile the example with their own packages."""
    own, others = (
        json.loads((folder / "package.json").read_text(encoding="utf-8"))
        for folder in (AGENTS_JS, TYPESCRIPT_FOLDER)
    )
    for kind in ("dependencies", "devDependencies"):
        assert own[kind].items() <= others[kind].items()


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the example where the page has it, and of what its configuration names."""
    if reason := node_is_missing(TYPESCRIPT_FOLDER):
        pytest.skip(reason)
    root = tmp_path_factory.mktemp("checkout")
    for name in ("proto", "overrides", "vocabularies"):
        shutil.copytree(ROOT / name, root / name)
    folder = root / "examples" / "agents-js"
    shutil.copytree(AGENTS_JS, folder, ignore=shutil.ignore_patterns("node_modules", "out", ".s*"))
    return folder


def test_the_lock_fits_the_packages(example: Path) -> None:
    command = [*shlex.split(SKIPPED), "--dry-run", "--offline"]
    done = subprocess.run(command, cwd=example, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_the_steps(example: Path) -> None:
    """Each command prints what the page says, until the host runs."""
    (example / "node_modules").symlink_to(TYPESCRIPT_FOLDER / "node_modules")
    printed = dict(commands(STEPS))
    names = list(printed)
    assert names[0] == SKIPPED and names[-2:] == [LISTEN, "node out/main.js 24024"]
    for command in names[1:-2]:
        program, *arguments = shlex.split(command)
        if program == "sessiongen":
            shutil.rmtree(example / "src" / "session_protocol")
            output = invoke(example, *arguments, "--no-cache").all
        else:
            assert program == "npx"
            _, output = run_tool(example, *arguments)
        assert matches(printed[command], output), f"{command}\n{output}"
    assert_conversation(example, printed[LISTEN])


def assert_conversation(example: Path, expected: str) -> None:
    """Runs the host of the example and the driver of the command, which prints what is expected."""
    command = [sys.executable, "-m", "agent_session", "listen", "127.0.0.1:0", "--once"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as driver:
        assert driver.stdin is not None and driver.stdout is not None
        lines = [driver.stdout.readline()]
        port = lines[0].rsplit(":", 1)[-1].strip()
        with subprocess.Popen(["node", "out/main.js", port], cwd=example) as host:
            driver.stdin.write("hello\n")
            driver.stdin.close()
            for line in driver.stdout:
                lines.append(line)
                if "answer" in line:
                    host.send_signal(signal.SIGINT)
        assert host.returncode == 0
    output = re.sub(r"\d\d:\d\d:\d\d\.\d{3}", "…", "".join(lines).replace(port, "24024"))
    assert matches(expected, output), output


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The modules of the example, with the settings of agents-js."""
    if reason := node_is_missing(TYPESCRIPT_FOLDER):
        pytest.skip(reason)
    folder = settings(tmp_path_factory.mktemp("sources"))
    shutil.copytree(AGENTS_JS / "src", folder / "src")
    return folder


def test_the_modules_are_formatted(sources: Path) -> None:
    assert unformatted(sources, "src/**/*.ts") == []


def test_the_modules_pass_eslint(sources: Path) -> None:
    assert run_tool(sources, "eslint", "src") == (0, "")


def test_the_page_counts_the_lines() -> None:
    for name, lines in re.findall(r"\[`(\w+\.ts)`\]\(\S+\) \((\d+) lines\)", PAGE):
        text = (AGENTS_JS / "src" / name).read_text(encoding="utf-8")
        assert text.count("\n") == int(lines), name


def test_the_page_names_the_lines_that_disappear() -> None:
    if reason := node_is_missing(TYPESCRIPT_FOLDER):
        pytest.skip(reason)
    published = TYPESCRIPT_FOLDER / "node_modules" / "@livekit" / "agents" / "src"
    rows = re.findall(r"^\| `(\S+)` \| (\d+)–(\d+) \| `([\w.]+)`", PAGE, re.M)
    assert len(rows) == 14
    for name, first, last, symbol in rows:
        lines = (published / name).read_text(encoding="utf-8").splitlines()
        assert symbol in lines[int(first) - 1], (name, first)
        assert lines[int(last) - 1].strip()[-1] in ";}", (name, last)
