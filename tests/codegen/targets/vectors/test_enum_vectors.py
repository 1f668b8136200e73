"""The values of enums: names, numbers, aliases, fallbacks and the spellings of SDKs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sessiongen_command import CONFIG, PROTO, project

ROOT = Path(__file__).resolve().parents[4]
ALIASES = """
enum Reason {
  option allow_alias = true;
  GONE = 0;
  DONE = 5;
  FINISHED = 5;
}
"""


def values(folder: Path) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = json.loads((folder / "enums.json").read_text("utf-8"))["values"]
    return entries


def test_an_alias_is_written_as_the_first_of_its_number(tmp_path: Path) -> None:
    config = CONFIG.partition("[output]")[0] + '[[output]]\nlanguage = "vectors"\n'
    config += 'path = "vectors"\n[annotations."small.Reason"]\nunknown = "GONE"\n'
    small_project = project(tmp_path, PROTO + ALIASES, config).generated()
    entries = values(small_project.root / "vectors")
    keys = ("name", "number", "json", "fallback", "sdk")
    assert [tuple(item[key] for key in keys) for item in entries] == [
        ("GONE", 0, "GONE", True, {}),
        ("DONE", 5, "DONE", False, {}),
        ("FINISHED", 5, "DONE", False, {}),
    ]
    assert {item["enum"] for item in entries} == {"small.Reason"}


def test_the_spellings_of_each_sdk() -> None:
    entries = {item["name"]: item["sdk"] for item in values(ROOT / "generated" / "vectors")}
    assert entries["AS_SPEAKING"] == {"livekit-agents": "speaking", "agents-js": "speaking"}
    assert entries["CR_COMPLETED"] == {"livekit-agents": "task_completed"}
    assert entries["CR_UNKNOWN"] == {}
    assert entries["AMD_MACHINE_VM"] == {"livekit-agents": "machine-vm", "agents-js": "machine-vm"}
