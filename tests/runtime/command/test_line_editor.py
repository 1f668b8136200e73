"""The parts of the command without I/O: the line editor, requests and addresses."""

from __future__ import annotations

import re

import pytest
from agent_session.command.address import Address, parse_address
from agent_session.command.line_editor import LineEditor, width
from agent_session.command.requests import (
    InvalidRequest,
    find_request,
    make_request,
    request_help,
)
from agent_session.command.screen import clean
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import SESSION_REQUEST_ARMS
from hypothesis import given, settings
from hypothesis import strategies as st

KEYS = st.sampled_from(
    [
        "a",
        "é",
        "日",
        "e\u0301",
        " ",
        "\x1b",
        "[",
        "O",
        "\x1b[D",
        "\x1b[C",
        "\x1b[3~",
        "\x1b[1;5",
        "D",
    ]
    + [chr(code) for code in range(32)]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(KEYS), st.integers(2, 12))
def test_any_keys_result_in_a_printable_line(keys: list[str], room: int) -> None:
    editor = LineEditor()
    for key in keys:
        for line in editor.feed(key):
            assert clean(line) == line
    shown, column = editor.view(room)
    assert width(shown) < room and column < room and clean(shown) == shown


@given(st.text("ab \x1b[DO\x7f\x01\x05\x04"), st.integers(0, 30))
def test_keys_may_arrive_in_parts(keys: str, cut: int) -> None:
    at_once, parts = LineEditor(), LineEditor()
    entered = at_once.feed(keys + "\r")
    assert parts.feed(keys[:cut]) + parts.feed(keys[cut:] + "\r") == entered
    assert parts.view(99) == at_once.view(99) and parts.ended == at_once.ended


def test_the_width_of_wide_and_combining_characters() -> None:
    editor = LineEditor()
    editor.feed("日本e\u0301x\x02")
    assert editor.view(10) == ("日本e\u0301x", 5)
    assert editor.view(5) == ("本e\u0301x", 3)
    assert (width("日本"), width("e\u0301"), width("👩\u200d💻")) == (4, 1, 4)


def test_a_request_is_found_by_a_unique_part_of_its_name() -> None:
    assert find_request("get_session_usage") == find_request("usage") == "get_session_usage"
    assert find_request("run") == "run_input"
    for word in ("session", "", "x", "Usage"):
        with pytest.raises(InvalidRequest):
            find_request(word)


def test_a_request_with_its_fields() -> None:
    assert make_request("ping", "") == pb.SessionRequest(ping=pb.SessionRequest.Ping())
    request = make_request("finalize_simulation", '{"provisional_success": true}')
    assert request.finalize_simulation.provisional_success
    for fields in (
        "x",
        "[]",
        "[1]",
        "1",
        "null",
        "[" * 10_000,
        '{"no": 1}',
        '{"provisional_reason": 1}',
    ):
        with pytest.raises(InvalidRequest):
            make_request("finalize_simulation", fields)


def test_an_error_shows_the_form_of_the_fields() -> None:
    form = '{"input": …, "output": …}'
    for fields, text in (
        ("audio", f"the fields are not valid, expected {form}: "),
        ("[]", f"the fields must be a JSON object: {form}"),
    ):
        with pytest.raises(InvalidRequest, match=re.escape(text)):
            make_request("update_io", fields)
    with pytest.raises(InvalidRequest, match="^the fields must be a JSON object$"):
        make_request("ping", "[]")


def test_help_has_each_request_of_the_protocol() -> None:
    entries = dict(request_help())
    assert list(entries) == [
        f"/{arm.name}" for arm in pb.SessionRequest.DESCRIPTOR.oneofs[0].fields
    ]
    assert entries["/get_chat_history"] == "Returns the conversation so far"
    assert (
        entries["/update_io"]
        == 'Turns inputs and outputs of the agent on or off {"input": …, "output": …}'
    )
    assert entries.keys() == {f"/{name}" for name in SESSION_REQUEST_ARMS}


def test_a_request_with_the_name_of_a_method_of_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    arms = {"send": SESSION_REQUEST_ARMS["ping"]}
    monkeypatch.setattr("agent_session.command.requests.SESSION_REQUEST_ARMS", arms)
    assert dict(request_help()) == {"/send": ""}


@pytest.mark.parametrize(
    ("text", "address", "shown"),
    [
        ("", Address("127.0.0.1", 24024), "127.0.0.1:24024"),
        ("5000", Address("127.0.0.1", 5000), "127.0.0.1:5000"),
        (":0", Address("127.0.0.1", 0), "127.0.0.1:0"),
        ("localhost", Address("localhost", 24024), "localhost:24024"),
        ("10.0.0.1:1", Address("10.0.0.1", 1), "10.0.0.1:1"),
        ("[::1]", Address("::1", 24024), "[::1]:24024"),
        ("[::1]:65535", Address("::1", 65535), "[::1]:65535"),
    ],
)
def test_addresses(text: str, address: Address, shown: str) -> None:
    assert parse_address(text) == address
    assert str(address) == shown


@pytest.mark.parametrize("text", ["a:", "a:b", ":65536", ":-1", ":٣", "::1", "[::1", "[::1]:x"])
def test_texts_that_are_not_addresses(text: str) -> None:
    with pytest.raises(ValueError):
        parse_address(text)


def test_control_characters_are_escaped() -> None:
    assert clean("a\x1b[0m\x9b\u202e\n\r\t\x00") == "a\\x1b[0m\\x9b\\u202e\\n\\r\\t\\x00"
    printable = "Grüße,\u00a0日本 👩\u200d💻 e\u0301"
    assert clean(printable) == printable
