"""The typed dicts of responses: their keys are the fields, and mypy reports a missing one."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import case_protocols
import generated_packages
import pytest
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import encoders, responses
from generated_packages import CASES

RESPONSES: dict[str, Any] = {
    "Pong": encoders.encode_pong,
    "GetChatHistoryResponse": encoders.encode_get_chat_history_response,
    "RunInputResponse": encoders.encode_run_input_response,
    "GetAgentInfoResponse": encoders.encode_get_agent_info_response,
    "GetSessionStateResponse": encoders.encode_get_session_state_response,
    "GetRTCStatsResponse": encoders.encode_get_rtc_stats_response,
    "GetSessionUsageResponse": encoders.encode_get_session_usage_response,
    "GetFrameworkInfoResponse": encoders.encode_get_framework_info_response,
    "UpdateIOResponse": encoders.encode_update_io_response,
    "FinalizeSimulationResponse": encoders.encode_finalize_simulation_response,
}


def test_each_response_has_a_typed_dict() -> None:
    arms = pb.SessionResponse.DESCRIPTOR.oneofs_by_name["response"].fields
    assert {getattr(field.message_type, "name", None) for field in arms} == set(RESPONSES)


@pytest.mark.parametrize("name", RESPONSES)
def test_keys_are_the_fields(name: str) -> None:
    fields = pb.SessionResponse.DESCRIPTOR.nested_types_by_name[name].fields
    keys = getattr(responses, name).__annotations__
    assert set(keys) == {field.name for field in fields}
    nones = {key: None for key, type_ in keys.items() if "Literal" not in str(type_)}
    literals = {"agent_state": "thinking", "user_state": "away"} if len(nones) < len(keys) else {}
    encoded = RESPONSES[name]({**nones, **literals})
    assert len(encoded.ListFields()) <= len(literals)


# Written by hand after tests/cases/response_forms.proto.
FORMS = {
    "Sheet": {
        "implicit": "int | None",
        "explicit": "str | None",
        "required": "bytes",
        "open": "str",
        "open_explicit": "str | None",
        "closed": "str | None",
        "closed_required": "str",
        "many": "Iterable[str | None] | None",
        "by_word": "Mapping[str, Any] | None",
        "spans": "Mapping[bool, Any] | None",
        "times": "Iterable[TimestampLike | None] | None",
        "data": "StructLike",
        "part": "Any",
        "parts": "Iterable[Any] | None",
        "text": "str | None",
        "word": "str | None",
        "nothing": "Any",
        "from_": "str",
        "held": "Any",
        "chosen": "Any",
    },
    "Either": {"either": "Any"},
    "Both": {"first": "str | None", "second": "str | None"},
}


def test_types_of_keys(tmp_path: Path) -> None:
    """Messages that events (Told) or other messages (Nothing, Chain, Apart) contain have none."""
    package = case_protocols.make("response_forms", tmp_path / "in", tmp_path / "out")
    module_names = vars(package.module("responses"))
    dicts = {name: item for name, item in module_names.items() if hasattr(item, "__total__")}
    assert {name: item.__total__ for name, item in dicts.items()} == dict.fromkeys(FORMS, True)
    assert {
        name: {key: type_.__forward_arg__ for key, type_ in item.__annotations__.items()}
        for name, item in dicts.items()
    } == FORMS


PROGRAM = """
from agent_session_protocol import encoders, models, responses
encoders.encode_get_framework_info_response({"sdk": "python", "sdk_version": "1"})
encoders.encode_get_framework_info_response(
    models.GetFrameworkInfoResponse(sdk="python", sdk_version="1")
)
encoders.encode_get_framework_info_response(responses.GetFrameworkInfoResponse(sdk="python"))
encoders.encode_get_framework_info_response({"sdk": "python"})
encoders.encode_get_session_state_response(
    {
        "agent_state": "asleep",
        "user_state": "away",
        "agent_id": "a",
        "options": {},
        "created_at": 1.5,
    }
)
"""


def test_mypy_reports_a_missing_key_and_a_literal_that_is_none(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "program.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    errors = [line.partition(" error: ")[::2] for line in done.stdout.splitlines()[:-1]]
    assert [place for place, _ in errors] == [
        "program.py:7:",
        "program.py:8:",
        "program.py:10:",
    ], done.stdout
    assert 'Missing key "sdk_version"' in errors[0][1]


@pytest.mark.parametrize(
    ("layers", "type_"),
    [
        (["encoders"], "Any"),
        (["encoders", "models"], "models.Pong"),
        (["encoders", "responses"], "responses.Pong"),
        (["encoders", "models", "responses"], "models.Pong | responses.Pong"),
    ],
)
def test_encoders_need_neither_models_nor_responses(
    layers: list[str], type_: str, tmp_path: Path
) -> None:
    source = generated_packages.protos([CASES / "shared_response.proto"], [CASES])
    config = generated_packages.configured(
        tmp_path, "_".join(["only", *layers]), source, rest=f"layers = {layers}"
    )
    package = generated_packages.generate(config)
    modules = {path.stem for path in package.folder.glob("*.py")}
    assert modules & {"models", "responses"} == set(layers) - {"encoders"}
    assert f"def encode_pong(source: {type_}) -> " in package.text("encoders.py")
