"""Tests of the contract's comments, which are the documentation of the generated code."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from sessiongen import pipeline
from sessiongen.config import reader
from sessiongen.ir.pairing import Call
from sessiongen.ir.schema import Field, Message

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = pipeline.model(reader.load(ROOT / "codegen.toml")).protocol


def _arms() -> Iterator[tuple[Field, Message]]:
    """Yields each event, request and response arm with its payload."""
    arms = [event.arm for event in PROTOCOL.events]
    for call in PROTOCOL.calls:
        arms += [arm for arm in (call.request, call.response) if arm is not None]
    for arm in arms:
        yield arm, PROTOCOL.schema.messages[arm.value.type_name]


def _sentences(text: str) -> list[str]:
    return [item.strip(" .") for item in " ".join(text.split()).split(". ")]


@pytest.mark.parametrize(("arm", "payload"), list(_arms()), ids=lambda item: item.span.line)
def test_facts_are_in_the_comment_of_the_arm(arm: Field, payload: Message) -> None:
    """The generated documentation of an arm does not contain its payload's comment."""
    assert len(_sentences(payload.docs)) == 1
    assert not set(_sentences(arm.docs)) & set(_sentences(payload.docs))


@pytest.mark.parametrize("call", PROTOCOL.calls, ids=lambda call: call.request.name)
def test_request_and_response_do_not_repeat_each_other(call: Call) -> None:
    """A client's method has the comments of both arms."""
    assert call.response is not None
    said = {item.removeprefix("Returns t").lstrip("Tt") for item in _sentences(call.request.docs)}
    assert not said & {item.lstrip("Tt") for item in _sentences(call.response.docs)}
