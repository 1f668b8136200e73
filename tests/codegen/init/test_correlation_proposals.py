"""The field that is proposed to correlate requests and responses."""

from __future__ import annotations

from pathlib import Path

import pytest
import tomli
from sessiongen_command import fresh

UNION = "oneof body { string open = 20; string close = 21; }"


def proposed(folder: Path, request: str, response: str) -> tuple[dict[str, object], str]:
    """Returns the roles that `init` writes for fields of request and response, and the text."""
    project = fresh(
        folder,
        'syntax = "proto3";\n'
        f"message Request {{ {request} {UNION} }}\nmessage Response {{ {response} {UNION} }}\n",
    )
    project.invoke("init", "proto/small.proto")
    text = project.config.read_text(encoding="utf-8")
    return tomli.loads(text)["roles"], text


@pytest.mark.parametrize(
    "fields, correlation",
    [
        ("uint32 version = 1; uint64 request_id = 2;", "request_id"),
        ("string session_id = 1; string id = 2;", "id"),
        ("string trace_id = 1; bytes call_ref = 2; int32 seq = 3;", "call_ref"),
        ("int64 timestamp = 1; uint32 sequence_number = 2;", "sequence_number"),
        ("string sender = 1; string messageId = 2;", "messageId"),
        ("string user_id = 1; string cookie = 2;", "cookie"),
        ("uint32 version = 1;", False),
        ("string session_id = 1; int64 timestamp = 2;", False),
        ("string job = 1;", "job"),
    ],
)
def test_the_name_decides(fields: str, correlation: object, tmp_path: Path) -> None:
    roles, _ = proposed(tmp_path, fields, fields)
    assert roles["correlation"] == correlation


def test_names_that_do_not_decide_are_a_choice(tmp_path: Path) -> None:
    fields = "string job = 1; string unit = 2; uint32 version = 3;"
    roles, text = proposed(tmp_path, fields, fields)
    assert "correlation" not in roles
    assert '# correlation = "job"\n# correlation = "unit"\n' in text


def test_the_number_of_a_response_does_not_correlate_it(tmp_path: Path) -> None:
    roles, _ = proposed(tmp_path, "int32 seq = 1;", "int32 seq = 1; int32 request_seq = 2;")
    assert roles["correlation"] is False


@pytest.mark.parametrize(
    "same", [("int32", "sfixed32"), ("uint64", "fixed64"), ("int64", "sint64")]
)
def test_types_with_equal_values(same: tuple[str, str], tmp_path: Path) -> None:
    roles, _ = proposed(tmp_path, f"{same[0]} id = 1;", f"{same[1]} id = 1;")
    assert roles["correlation"] == "id"


@pytest.mark.parametrize("types", [("uint32", "uint64"), ("int64", "int32"), ("int32", "uint32")])
def test_types_with_different_values(types: tuple[str, str], tmp_path: Path) -> None:
    roles, text = proposed(tmp_path, f"{types[0]} id = 1;", f"{types[1]} id = 1;")
    assert "correlation" not in roles
    reason = f"# Correlation: id is {types[0]} in requests, and {types[1]} in responses."
    assert f"{reason} If that is right:\n# correlation = false\n" in text


def test_a_field_of_equal_type_is_taken_first(tmp_path: Path) -> None:
    roles, _ = proposed(tmp_path, "int32 id = 1; bytes tag = 2;", "int64 id = 1; bytes tag = 2;")
    assert roles["correlation"] == "tag"
