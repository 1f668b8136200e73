"""The livekit-agents example: its configuration, its generated package and its form.

Its messages are compared with the SDK's in `test_livekit_agents_messages.py`. The host and the
driver of the example meet each other peer in `interop/test_interop_example.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import generated_packages
from livekit.agents.llm import FunctionCall
from livekit.agents.voice import remote_session
from pages import blocks
from sessiongen_command import ROOT, invoke

EXAMPLE = ROOT / "examples" / "livekit-agents"


def test_the_generated_modules_are_current() -> None:
    outcome = invoke(EXAMPLE, "check", "--no-cache")
    assert outcome.status == 0, outcome.all


def test_the_configuration_is_the_preset(tmp_path: Path) -> None:
    assert invoke(tmp_path, "init", "--preset", "livekit-agents").status == 0
    preset = (tmp_path / "codegen.toml").read_text(encoding="utf-8")
    own = (EXAMPLE / "codegen.toml").read_text(encoding="utf-8")
    changed = [line for line in own.splitlines() if line not in preset.splitlines()]
    keys = [line.partition(" = ")[0] for line in changed if line and line[0] != "#"]
    assert keys == ["oldest", "path", "overrides", "header", "vocabularies"]
    missing = [line for line in preset.splitlines() if line not in own.splitlines()]
    assert [line.partition(" = ")[0] for line in missing if line and line[0] != "#"] == keys[:3] + [
        "vocabularies"
    ]


def test_overrides_of_the_page_leave_out_keys_of_the_sdk(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "livekit-agents.md").read_text(encoding="utf-8")
    [code] = [block.text for block in blocks(page) if block.language == "python"]
    assert invoke(tmp_path, "init", "--preset", "livekit-agents").status == 0
    (tmp_path / "overrides" / "livekit_agents.py").write_text(code, encoding="utf-8")
    config = tmp_path / "codegen.toml"
    text = config.read_text(encoding="utf-8").replace('"session_protocol"', '"keys_left_out"')
    config.write_text(text, encoding="utf-8")
    assert invoke(tmp_path, "generate").status == 0
    package = generated_packages.Package("keys_left_out", tmp_path / "generated" / "python")
    extra = {"__livekit_agents_tool_non_blocking": True, "own": 1}
    call = FunctionCall(call_id="call_1", name="look", arguments="{}", extra=extra)
    message = package.module("encoders").encode_function_call(call)
    assert dict(message.extra) == {"own": "1"}


def test_ruff_reports_no_error() -> None:
    # The folder is the root of the package's imports, as for an application.
    first_party = [
        "--config",
        "lint.isort.known-first-party = ['session_protocol', 'session_requests']",
    ]
    assert generated_packages.ruff("check", EXAMPLE.glob("*.py"), *first_party) == ""
    third_party = ["--config", "lint.isort.known-first-party = []"]
    assert generated_packages.ruff("check", [EXAMPLE / "session_protocol"], *third_party) == ""
    assert generated_packages.ruff("format", [EXAMPLE]) == ""


def test_the_example_copies_nothing_of_the_sdk() -> None:
    """No three lines in a row are in the SDK's modules, apart from the signatures of its methods."""
    published = {
        tuple(run)
        for name in ("voice/remote_session.py", "_proto.py")
        for run in runs((Path(remote_session.__file__).parents[1] / name).read_text("utf-8"))
    }
    for path in EXAMPLE.glob("*.py"):
        same = [run for run in runs(path.read_text(encoding="utf-8")) if tuple(run) in published]
        assert same == [], path.name


SIGNATURE = re.compile(r"(from|import|async def) |self,$|\w+: [\w |]+( = \S+)?,$|\) -> ")


def runs(text: str) -> Iterator[list[str]]:
    """Yields each three lines in a row that have more than punctuation."""
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if any(map(str.isalnum, line)) and not SIGNATURE.match(line)]
    yield from (lines[index : index + 3] for index in range(len(lines) - 2))
