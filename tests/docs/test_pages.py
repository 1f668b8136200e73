"""The pages: links resolve, Python and TOML parse, commands and examples run as printed."""

from __future__ import annotations

import ast
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import tomli
from pages import ROOT, Block, blocks, matches, pages
from sessiongen_command import invoke

PAGES = pages()
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_RUN = re.compile(r"sessiongen (explain|parity)\b|python examples/")
# Commands that another test runs: the file of that test, and what it runs.
ELSEWHERE = {
    "make generate": ("tests/repository/test_pre_commit.py", '"make", "generate"'),
    ".venv/bin/agent-session demo": ("tests/end_to_end/test_demo.py", '"demo"'),
    "agent-session demo": ("tests/end_to_end/test_demo.py", '"demo"'),
    "agent-session listen": ("tests/runtime/command/test_listen.py", '"listen"'),
    "agent-session listen 127.0.0.1:24024 --once --json": (
        "tests/runtime/command/test_listen_json.py",
        '"--once", "--json"',
    ),
    'pip install "path/to/agent-session-protocol[livekit]"': (
        "tests/repository/test_install.py",
        '"path/to/agent-session-protocol"',
    ),
    'pip install "agent-session-protocol[livekit] @'
    ' git+https://ADDRESS/agent-session-protocol.git@REVISION"': (
        "tests/repository/test_install.py",
        '"git+https://ADDRESS/agent-session-protocol.git@REVISION"',
    ),
    "python driver.py": ("tests/docs/test_pages.py", '"driver.py"'),
    "sessiongen --format github check --no-cache": ("tests/codegen/test_check.py", '"github"'),
    "sessiongen vocabulary update": (
        "tests/codegen/vocabulary/test_configured.py",
        '"vocabulary", "update"',
    ),
    "sessiongen vocabulary update --sdk livekit-agents=1.8.9": (
        "tests/codegen/vocabulary/test_configured.py",
        '"--sdk", "one=2.0"',
    ),
    "sessiongen vocabulary update --sdk livekit-agents=path/to/livekit-agents": (
        "tests/codegen/vocabulary/test_configured.py",
        '"two=../two"',
    ),
    "sessiongen vocabulary watch": (
        "tests/codegen/vocabulary/test_configured.py",
        '"vocabulary", "watch"',
    ),
}
# Commands whose output a test compares with the page: here, or in test_demo.py.
COMPARED = {"make generate", ".venv/bin/agent-session demo", "python driver.py"}
# What `make generate` reads.
INPUTS = ("codegen.toml", "overrides", "proto", "templates", "vocabularies")
# Pages whose commands a test of their own runs.
OWN_TESTS = {"agents-js.md", "livekit-agents.md", "rules.md", "protocol-owner.md", "typescript.md"}


def _blocks(*languages: str) -> Iterator[tuple[Path, Block]]:
    for page in PAGES:
        for block in blocks(page.read_text(encoding="utf-8")):
            if block.language in languages:
                yield page, block


def _commands() -> list[tuple[str, str, str]]:
    return [
        (page.name, command, printed)
        for page, block in _blocks("console")
        if page.name not in OWN_TESTS
        for command, printed in block.runs()
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in _LINK.findall(text):
        if link.startswith(("http://", "https://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if anchor:
            heads = re.findall(r"^#+ (.*)$", target.read_text(encoding="utf-8"), re.M)
            assert anchor in {_anchor(head) for head in heads}, link


def _anchor(head: str) -> str:
    return re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-")


def test_the_pictures_are_xml() -> None:
    for picture in (ROOT / "docs").glob("*.svg"):
        ElementTree.fromstring(picture.read_text(encoding="utf-8"))


def test_python_and_toml_parse() -> None:
    for _, block in _blocks("python"):
        ast.parse(block.text)
    for _, block in _blocks("toml"):
        tomli.loads(block.text)


def test_python_is_typed(tmp_path: Path) -> None:
    """The Python blocks of docs/ pass `mypy --strict`."""
    names = []
    for number, (page, block) in enumerate(_blocks("python")):
        if page.parent.name == "docs" and page.name not in OWN_TESTS:
            names.append(tmp_path / f"block_{number}.py")
            names[-1].write_text(block.text, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", *map(str, names)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_command_is_run_by_a_test() -> None:
    commands = {command for _, command, _ in _commands()}
    assert {item for item in commands if not _RUN.match(item)} <= set(ELSEWHERE)


@pytest.mark.parametrize("command", ELSEWHERE)
def test_the_other_test_runs_the_command(command: str) -> None:
    name, text = ELSEWHERE[command]
    assert text in (ROOT / name).read_text(encoding="utf-8")


def test_every_printed_output_is_compared() -> None:
    commands = {command for _, command, printed in _commands() if printed.strip()}
    assert {item for item in commands if not _RUN.match(item)} == COMPARED


def test_the_output_of_make_generate(tmp_path: Path) -> None:
    """The first run, which writes all files. `make` itself prints lines of other programs."""
    for name in INPUTS:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, tmp_path / name)
    output = invoke(tmp_path, "generate").all
    printed = [item for item in _commands() if item[1] == "make generate"]
    assert {page for page, _, _ in printed} == {"README.md", "sdk-maintainer.md"}
    for page, _, text in printed:
        assert matches(text, output), f"{page}:\n{output}"


@pytest.mark.parametrize(
    ("page", "command", "printed"), [item for item in _commands() if _RUN.match(item[1])]
)
def test_the_command_prints_what_the_page_says(page: str, command: str, printed: str) -> None:
    program, *arguments = shlex.split(command)
    if program == "sessiongen":
        output = invoke(ROOT, *arguments).all
    else:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True
        )
        output = done.stdout + done.stderr
    assert matches(printed, output), f"{page}: {command}\n{output}"


def test_the_lines_that_a_new_event_leaves_to_fill_in() -> None:
    text = (ROOT / "docs" / "sdk-maintainer.md").read_text(encoding="utf-8")
    errors = re.findall(r"^ +(examples/\S+):…: error: .* for \"(\w+)\"", text, re.M)
    assert len(errors) == 2
    for name, group in errors:
        assert f"{group}(" in (ROOT / name).read_text(encoding="utf-8")


def test_the_example_is_the_one_in_the_folder() -> None:
    text = (ROOT / "docs" / "generated-code.md").read_text(encoding="utf-8")
    example = (ROOT / "examples" / "ping.py").read_text(encoding="utf-8")
    [printed] = [block.text for block in blocks(text) if block.language == "python"]
    assert example.endswith(printed)


def _write_programs(folder: Path) -> str:
    """Writes the programs of driver-author.md, but for the port; returns the text of the page."""
    text = (ROOT / "docs" / "driver-author.md").read_text(encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for block in blocks(text):
        if block.info.startswith("title="):
            program = block.text.replace("24024", str(port))
            (folder / block.info.removeprefix("title=")).write_text(program, encoding="utf-8")
    return text


def test_ctrl_c_ends_the_session_of_the_host(tmp_path: Path) -> None:
    """The driver of driver-author.md, but for its goodbye, learns that the session has ended."""
    _write_programs(tmp_path)
    program = tmp_path / "driver.py"
    text = program.read_text(encoding="utf-8")
    goodbye = 'await session.run_input(text="Thank you, bye!")'
    assert goodbye in text
    program.write_text(text.replace(goodbye, 'print("ready", flush=True)'), encoding="utf-8")
    settings: dict[str, Any] = {"cwd": tmp_path, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "driver.py"], **settings) as driver:
        assert driver.stdout is not None and driver.stdout.readline()
        with subprocess.Popen(
            [sys.executable, "host.py"], cwd=tmp_path, stderr=subprocess.DEVNULL
        ) as host:
            assert "ready\n" in iter(driver.stdout.readline, "")
            host.send_signal(signal.SIGINT)
            rest, _ = driver.communicate(timeout=120)
            host.wait(120)
    assert rest == "Ended(reason=CR_USER_INITIATED, error=None)\n"


def test_the_driver_and_the_host(tmp_path: Path) -> None:
    """The two programs of driver-author.md as printed, but for the port, in two processes."""
    text = _write_programs(tmp_path)
    [printed] = [
        output
        for block in blocks(text)
        for command, output in block.runs()
        if command == "python driver.py"
    ]
    driver = subprocess.Popen(
        [sys.executable, "driver.py"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    )
    assert driver.stdout is not None
    first = driver.stdout.readline()
    host = subprocess.run(
        [sys.executable, "host.py"], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    rest, _ = driver.communicate(timeout=120)
    assert host.returncode == 0, host.stderr
    assert matches(printed, first + rest), first + rest
