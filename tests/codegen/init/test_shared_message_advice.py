"""What is said of a message that has requests and responses: nothing twice, and no arm that exists."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessiongen_command import CONFIG, Outcome, project

HEAD = 'syntax = "proto3";\npackage acme;\nmessage A { string name = 1; }\n'
ROLES = '[roles]\nevent = false\nrequest = "acme.Msg"\nresponse = "acme.Msg"\n'
SUFFIXES = 'requests = "*_req"\nresponses = "*_rsp"\n'


def generated(folder: Path, arms: str, roles: str, fields: str = "") -> Outcome:
    """Runs `generate` for a message with these arms and fields."""
    proto = f"{HEAD}message Msg {{ {fields} oneof m {{ {arms} }} }}\n"
    return project(folder, proto, f"{CONFIG}{ROLES}{roles}").invoke("generate")


def test_a_request_without_a_response_is_told_the_name_of_its_pattern(tmp_path: Path) -> None:
    arms = "A open_req = 1; A open_rsp = 2; A log_req = 3;"
    outcome = generated(tmp_path, arms, SUFFIXES)
    assert 'help: add an arm "log_rsp" to acme.Msg, or name the arm that answers it: ' in (
        outcome.errors
    )


def test_a_response_without_a_request_is_told_the_name_of_its_pattern(tmp_path: Path) -> None:
    arms = "A open_req = 1; A open_rsp = 2; A log_rsp = 3;"
    outcome = generated(tmp_path, arms, SUFFIXES)
    assert 'help: add an arm "log_req" to acme.Msg, or name it as the answer of ' in outcome.errors


def test_an_arm_that_exists_is_not_to_be_added(tmp_path: Path) -> None:
    roles = 'requests = ["open"]\nresponses = ["opened"]\n'
    outcome = generated(tmp_path, "A open = 1; A opened = 2;", roles)
    assert outcome.errors.count("error[SG014]") == 2
    assert "add an arm" not in outcome.errors
    assert "  help: name the arm that answers it: " in outcome.errors
    assert "  help: name it as the answer of a request: " in outcome.errors


def test_an_arm_of_another_role_cannot_answer(tmp_path: Path) -> None:
    roles = f'{SUFFIXES}[annotations]\n"acme.Msg.open_req".response = "open_req"\n'
    outcome = generated(tmp_path, "A open_req = 1; A open_rsp = 2;", roles)
    assert "error[SG015]: acme.Msg has no response arm 'open_req'\n" in outcome.errors


def test_a_missing_correlation_names_the_message_once(tmp_path: Path) -> None:
    arms = "A open_req = 1; A open_rsp = 2;"
    outcome = generated(tmp_path, arms, SUFFIXES, "repeated int32 codes = 8;")
    assert outcome.status == 0
    assert (
        "note[SG029]: acme.Msg has no field that says which request it answers\n"
        "  help: add a string, integer or bytes field to it, outside of the oneof "
        "(acme.Msg has codes (int)), or set" in outcome.errors
    )


@pytest.mark.parametrize("roles", ["", 'error = "error_text"\n'])
def test_the_error_text_is_beside_the_arms(roles: str, tmp_path: Path) -> None:
    arms = "A open_req = 1; A open_rsp = 2;"
    fields = "string id = 8; string error_text = 9;"
    outcome = generated(tmp_path, arms, SUFFIXES + roles, fields)
    assert (outcome.status, outcome.errors) == (0, "")
    assert "  correlation  id\n  error        error_text\n" in outcome.output
    client = (tmp_path / "out" / "small_protocol" / "client.py").read_text(encoding="utf-8")
    assert "    async def open_req(self, *, name: str, timeout: float | None = None)" in client
