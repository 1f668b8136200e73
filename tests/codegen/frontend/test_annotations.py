"""Tests of annotations in codegen.toml: the names of enum values, and a fallback that is logged."""

from __future__ import annotations

import logging
from pathlib import Path

import generated_packages
import pytest
from generated_packages import ROOT, Package
from sessiongen_command import CONFIG, project

SOURCE = 'messages = "livekit.protocol.agent_pb.agent_session"'
REST = """layers = ["enums"]
[sdks]
vocabularies = ["{vocabulary}"]
[annotations]
"livekit.agent.SessionRequest.ping".response = "pong"
"livekit.agent.CloseReason".unknown = "CR_UNKNOWN"
"{value}".sdk_value = "task_completed"
"livekit.agent.AgentState".unknown = "AS_IDLE"
"""


def enums(folder: Path, value: str) -> Package:
    vocabulary = (ROOT / "vocabularies" / "livekit-agents.json").as_posix()
    rest = REST.format(vocabulary=vocabulary, value=value)
    name = f"annotated_{value.count('.')}"
    return generated_packages.generate(
        generated_packages.configured(folder, name, SOURCE, rest=rest)
    )


@pytest.mark.parametrize(
    "value", ["livekit.agent.CR_COMPLETED", "livekit.agent.CloseReason.CR_COMPLETED"]
)
def test_an_enum_value_has_two_names(value: str, tmp_path: Path) -> None:
    module = enums(tmp_path, value).module("enums")
    assert module.close_reason_to_proto("task_completed") == 5
    assert module.close_reason_from_proto(5) == "task_completed"


def test_unknown_enum_value(tmp_path: Path) -> None:
    config = f"{CONFIG}[annotations]\n'small.NO_SUCH_VALUE'.sdk_value = 'a'\n"
    outcome = project(tmp_path, config=config).invoke("generate")
    assert outcome.status == 2
    assert "the annotation names 'small.NO_SUCH_VALUE'" in outcome.errors


def test_fallback_that_the_sdk_has_too_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    module = enums(tmp_path, "livekit.agent.CR_COMPLETED").module("enums")
    with caplog.at_level(logging.DEBUG):
        assert module.agent_state_to_proto("dreaming") == 1
        assert module.agent_state_to_proto("dreaming") == 1
        assert module.agent_state_to_proto(None) == 1
        assert module.agent_state_to_proto("speaking") == 4
        # CR_UNKNOWN stands for every reason that the protocol does not have.
        assert module.close_reason_to_proto("a reason of the application") == 0
    [record] = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage() == "livekit.agent.AgentState has no counterpart of 'dreaming'"
