"""Tests of Python functions that take the fields of a message from their callers."""

from __future__ import annotations

import pytest
from edited_sdks import sources, vocabulary_of

PATH = "parlor/robots/voice/dialog_driver.py"
ANSWER = """                wire.DialogResponse(
                    request_id=asked.request_id,
                    pong=wire.DialogResponse.Pong(),
                )
"""
RESPOND = "    async def _respond(self"
HELPERS = {
    "all fields": ("**fields", "**fields", "pong=wire.DialogResponse.Pong()"),
    "a name": (
        "arm: str, payload: Any",
        "**{arm: payload}",
        '"pong", wire.DialogResponse.Pong()',
    ),
    "named arguments": (
        "arm: str, payload: Any",
        "**{arm: payload}",
        'payload=wire.DialogResponse.Pong(), arm="pong"',
    ),
    "a dict": ("**fields", "**fields", '**{"pong": wire.DialogResponse.Pong()}'),
}


def edited(helper: str, answer: str) -> dict[str, str]:
    """Returns the small SDK with a helper, and with another message of the answer to a ping."""
    text = sources("python")[PATH]
    assert text.count(ANSWER) == text.count(RESPOND) == 1
    text = text.replace(ANSWER, f"                {answer}\n").replace(RESPOND, helper + RESPOND)
    return {**sources("python"), PATH: text}


def response_of_ping(files: dict[str, str]) -> str | None:
    host = vocabulary_of("python", files).host
    assert host is not None
    [answer] = [item for item in host.answers if item.arm == "ping"]
    return answer.response


@pytest.mark.parametrize("case", HELPERS)
def test_field_that_a_caller_names(case: str) -> None:
    parameters, fields, arguments = HELPERS[case]
    helper = (
        f"    def _build(self, asked: Any, {parameters}) -> wire.DialogResponse:\n"
        f"        return wire.DialogResponse(request_id=asked.request_id, {fields})\n\n"
    )
    assert response_of_ping(edited(helper, f"self._build(asked, {arguments})")) == "pong"


def test_field_that_is_set_by_its_name() -> None:
    helper = (
        "    def _build(self, asked: Any, arm: str, payload: Any) -> wire.DialogResponse:\n"
        "        response = wire.DialogResponse(request_id=asked.request_id)\n"
        "        getattr(response, arm).CopyFrom(payload)\n"
        "        return response\n\n"
    )
    answer = 'self._build(asked, "pong", wire.DialogResponse.Pong())'
    assert response_of_ping(edited(helper, answer)) == "pong"


def test_fields_that_pass_through_two_functions() -> None:
    helper = (
        "    def _outer(self, asked: Any, **fields: Any) -> wire.DialogResponse:\n"
        "        return self._inner(asked, **fields)\n\n"
        "    def _inner(self, asked: Any, **fields: Any) -> wire.DialogResponse:\n"
        "        return wire.DialogResponse(request_id=asked.request_id, **fields)\n\n"
    )
    answer = "self._outer(asked, pong=wire.DialogResponse.Pong())"
    assert response_of_ping(edited(helper, answer)) == "pong"


def test_function_that_nothing_calls_fills_unknown_fields() -> None:
    code = "\n\ndef pack(**fields):\n    return wire.ToolUse(use_id='', **fields)\n"
    files = {**sources("python"), PATH: sources("python")[PATH] + code}
    facts = vocabulary_of("python", files).constructions
    assert [(it.open, it.fields) for it in facts if it.within == "pack"] == [(True, ())]


HEARD = """                    words=event.words,
                    is_final=event.is_final,
                    tongue=event.tongue,
"""
NAMES = '("words", "is_final", "tongue")'


@pytest.mark.parametrize(
    "fields",
    [f"**{{it: getattr(event, it) for it in {NAMES}}}", f"**event.model_dump(include={NAMES})"],
)
def test_fields_by_constant_names(fields: str) -> None:
    files = sources("python")
    text = files[PATH].replace(HEARD, f"                    {fields},\n")
    assert text != files[PATH]
    before, after = (vocabulary_of("python", it) for it in (files, {**files, PATH: text}))
    message = "RobotDialogEvent.CallerSpeechHeard"
    filled = [
        [(it.fields, it.open) for it in vocabulary.constructions if it.message == message]
        for vocabulary in (before, after)
    ]
    assert filled[0] == filled[1] == [(("is_final", "tongue", "words"), False)]


def test_message_that_is_parsed_has_unknown_fields() -> None:
    code = "\n\ndef pack(item):\n    return ParseDict(item.whole(), wire.ToolUse())\n"
    files = {**sources("python"), PATH: sources("python")[PATH] + code}
    facts = vocabulary_of("python", files).constructions
    assert [it.open for it in facts if it.within == "pack"] == [True]


@pytest.mark.parametrize(("arguments", "beside"), [("", False), (", error=str(asked)", True)])
def test_parameter_with_an_empty_default(arguments: str, beside: bool) -> None:
    helper = (
        "    def _build(self, asked: Any, error: str | None = None, **arm: Any) -> Any:\n"
        "        return wire.DialogResponse(request_id=asked.request_id, error=error, **arm)\n\n"
    )
    answer = f"self._build(asked, pong=wire.DialogResponse.Pong(){arguments})"
    host = vocabulary_of("python", edited(helper, answer)).host
    assert host is not None
    [ping] = [item for item in host.answers if item.arm == "ping"]
    assert (ping.response, ping.error_beside_result) == ("pong", beside)
