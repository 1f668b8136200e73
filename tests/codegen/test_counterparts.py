"""`generate` and `check` warn of enums and tagged oneofs that the vocabulary of the SDK does not have."""

from __future__ import annotations

import shutil
from pathlib import Path

from generated_packages import ROOT
from sessiongen_command import CONFIG as SMALL_CONFIG
from sessiongen_command import PROTO, Outcome, age, invoke, project

from sessiongen import pipeline
from sessiongen.config import reader
from sessiongen.counterparts import missing_counterparts
from sessiongen.vocabulary import dump
from sessiongen.vocabulary.model import Vocabulary

CONFIG = """\
[input]
messages = "livekit.protocol.agent_pb.agent_session"

[output]
path = "out"
package = "unannotated"

[annotations]
"livekit.agent.SessionRequest.ping".response = "pong"

[sdks]
vocabularies = ["vocabularies/livekit-agents.json"]
"""
MISSING = {
    "livekit-agents has no class for these arms of "
    "livekit.agent.AgentSessionEvent.ToolExecutionUpdated.update, so the generated code takes "
    "their names as tags: started, call_updated, reply_updated, ended": [
        "ToolCallStarted, ToolCallUpdated, ToolCallEnded, ToolReplyUpdated",
        '"message AgentSessionEvent.ToolExecutionUpdated.Started"',
    ],
    "livekit-agents has no enum for livekit.agent.ToolCallStatus, so the generated code has none "
    "of its values": ['sdk_enum = "..."; with such values it has ToolCallEnded.status;'],
    "livekit-agents has no enum for livekit.agent.ToolReplyStatus, so the generated code has none "
    "of its values": ['sdk_enum = "..."; with such values it has ToolReplyUpdated.status;'],
}

# A message that the event `tick` of the small protocol carries, with an enum that acme lacks.
WITH_ENUM = "enum Mood {\n  MOOD_CALM = 0;\n}\n\nmessage Empty {\n  Mood mood = 1;\n}"
WITH_SDK = SMALL_CONFIG + '\n[sdks]\nvocabularies = ["vocabularies/acme.json"]\n'
WARNED_LINE = PROTO[: PROTO.index("message Empty {}")].count("\n") + 1
ACME = dump(Vocabulary("acme", "python", "1.0"))


def _generate(folder: Path, annotations: str = "", gaps: str = "") -> Outcome:
    vocabularies = folder / "vocabularies"
    vocabularies.mkdir(exist_ok=True)
    shutil.copy(ROOT / "vocabularies" / "livekit-agents.json", vocabularies)
    (vocabularies / "livekit-agents.gaps.toml").write_text(gaps, encoding="utf-8")
    text = CONFIG.replace("\n[sdks]", f"{annotations}\n\n[sdks]")
    (folder / "codegen.toml").write_text(text, encoding="utf-8")
    outcome = invoke(folder, "--format", "json", "generate")
    assert outcome.status == 0
    return outcome


def test_published_messages_without_annotations(tmp_path: Path) -> None:
    records = _generate(tmp_path).records()
    assert {(item["rule"], item["severity"]) for item in records} == {("SG057", "warning")}
    assert {item["message"] for item in records} == set(MISSING)
    for item in records:
        assert all(part in item["help"] for part in MISSING[item["message"]])
        assert item["file"].startswith("/") and item["file"].endswith(".proto")


def test_an_annotated_element_is_not_missing(tmp_path: Path) -> None:
    annotated = '"livekit.agent.ToolCallStatus".sdk_enum = "ToolCallEnded.status"\n'
    tools = "livekit.agent.AgentSessionEvent.ToolExecutionUpdated"
    annotated += f'"{tools}.Started".sdk_class = "ToolCallStarted"\n'
    messages = [item["message"] for item in _generate(tmp_path, annotated).records()]
    assert len(messages) == 2
    assert messages[0].endswith("as tags: call_updated, reply_updated, ended")
    assert "ToolReplyStatus" in messages[1]


def test_a_wrong_name_is_missing(tmp_path: Path) -> None:
    annotated = '"livekit.agent.ChatRole".sdk_enum = "NoSuchEnum"\n'
    messages = [item["message"] for item in _generate(tmp_path, annotated).records()]
    assert len(messages) == 4 and "has no enum for livekit.agent.ChatRole" in messages[1]


def test_a_declared_gap_is_not_reported(tmp_path: Path) -> None:
    gaps = '[[gaps]]\nkind = "not-yet"\nreason = "No tools."\n[gaps.covers]\n'
    for name in ("Started", "CallUpdated", "ReplyUpdated", "Ended"):
        gaps += f'"message AgentSessionEvent.ToolExecutionUpdated.{name}" = "none"\n'
    gaps += '"enum livekit.agent.ToolCallStatus" = "none"\n'
    messages = [item["message"] for item in _generate(tmp_path, gaps=gaps).records()]
    assert len(messages) == 1 and "ToolReplyStatus" in messages[0]


def test_the_warning_appears_in_every_run(tmp_path: Path) -> None:
    """Generates from a .proto, so that the second run of each command is a cached one."""
    project_ = project(tmp_path, PROTO.replace("message Empty {}", WITH_ENUM), WITH_SDK)
    vocabulary = tmp_path / "vocabularies" / "acme.json"
    vocabulary.parent.mkdir()
    vocabulary.write_bytes(ACME)
    age(project_.proto.parent)
    commands = ("generate", "generate", "check", "check", "check --no-cache", "generate")
    for command in commands:
        outcome = project_.invoke(*command.split())
        assert outcome.status == 0
        assert outcome.errors.startswith(f"proto/small.proto:{WARNED_LINE}:1: warning[SG057]: acme")
    elsewhere = invoke(tmp_path / "vocabularies", "--config", "../codegen.toml", "check")
    assert elsewhere.errors.startswith(f"{project_.proto}:{WARNED_LINE}:1: warning[SG057]")
    # With drift, beside its error.
    (project_.package / "events.py").unlink()
    assert "warning[SG057]" in project_.invoke("check").errors
    project_.generated()
    declared = '[[gaps]]\nkind = "not-yet"\nreason = "No moods."\n[gaps.covers]\n'
    gaps = f'{declared}"enum small.Mood" = "acme has no enum for small.Mood"\n'
    (vocabulary.parent / "acme.gaps.toml").write_text(gaps, encoding="utf-8")
    assert [project_.invoke(name).errors for name in ("check", "generate")] == ["", ""]


def test_warnings_of_protoc_appear_in_every_run(tmp_path: Path) -> None:
    (tmp_path / "proto").mkdir()
    unused = tmp_path / "proto" / "unused.proto"
    unused.write_text('syntax = "proto3"; package unused;', encoding="utf-8")
    imported = PROTO.replace("package small;", 'package small; import "unused.proto";')
    project_ = project(tmp_path, imported)
    age(unused.parent)
    for command in ("generate", "generate", "check", "check"):
        assert "Import unused.proto is unused" in project_.invoke(command).errors


def test_the_contract_has_counterparts_or_declared_gaps() -> None:
    config = reader.load(ROOT / "codegen.toml")
    assert missing_counterparts(pipeline.model(config), config) == []
