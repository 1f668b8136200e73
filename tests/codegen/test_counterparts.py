"""`generate` warns of enums and tagged oneofs that the vocabulary of the SDK does not have."""

from __future__ import annotations

import shutil
from pathlib import Path

from generated_packages import ROOT
from sessiongen_command import Outcome, invoke

from sessiongen import pipeline
from sessiongen.config import reader
from sessiongen.counterparts import missing_counterparts

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


def test_the_contract_has_counterparts_or_declared_gaps() -> None:
    config = reader.load(ROOT / "codegen.toml")
    assert missing_counterparts(pipeline.model(config), config) == []
