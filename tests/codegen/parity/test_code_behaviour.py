"""Tests the comparison of what code does beside filling fields.

The expected cells of the published SDKs were read from their sources by hand.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from sessiongen import pipeline
from sessiongen.config import reader
from sessiongen.parity import code_behaviour
from sessiongen.parity.matrix import Row
from sessiongen.vocabulary.model import Behaviour, Construction, Place, Vocabulary

CONFIG = reader.load(Path(__file__).resolve().parents[3] / "codegen.toml")
PROTOCOL = pipeline.model(CONFIG).protocol
PLACE = Place("host.py", 7)
INFO = "SessionResponse.GetAgentInfoResponse"

PUBLISHED = {
    f"order of {INFO}.tools": ("order of the source", "sorted"),
    "items left out of SessionResponse.GetChatHistoryResponse.items": (
        "nothing",
        "of kind agent_config_update",
    ),
    "an unknown kind of ChatContext.ChatItem": ("an empty message", "undefined"),
    "an unknown kind of ModelUsage": ("left out", "left out"),
    f"parts left out of {INFO}.instructions": ("text", "text"),
    "parts left out of AgentConfigUpdate.instructions": ("audio, text, dynamic", "text"),
    "timeout of run_input": ("60 s", "60 s"),
    "timeout of ping": ("5 s", "n/a"),
    "close_reason in documents": ("names of CloseReason", "not written"),
}


def rows(*vocabularies: Vocabulary) -> dict[str, Row]:
    """Returns the rows of vocabularies by their labels."""
    return {row.label: row for row in code_behaviour.rows(PROTOCOL, vocabularies)}


def sdk(name: str, *behaviours: tuple[str, str, str]) -> Vocabulary:
    """Returns an SDK with these kinds, subjects and values of behaviour."""
    facts = tuple(
        Behaviour(kind, subject, "f", value, PLACE) for kind, subject, value in behaviours
    )
    return Vocabulary(name, "python", "1", behaviours=facts)


@pytest.mark.parametrize("label", PUBLISHED)
def test_the_published_sdks(label: str) -> None:
    cells = rows(*PROTOCOL.vocabularies)[label].cells
    assert tuple(cell.text for cell in cells) == PUBLISHED[label]


def test_what_loses_nothing_is_no_finding() -> None:
    one = sdk("a", ("order", f"{INFO}.tools", "order of the source"))
    (cell,) = rows(one)[f"order of {INFO}.tools"].cells
    assert (cell.text, cell.findings) == ("order of the source", ())
    assert cell.compared[0].pattern == f"order {INFO}.tools: f"


def test_a_finding_is_at_the_field_and_names_the_place() -> None:
    (cell,) = rows(sdk("a", ("order", f"{INFO}.tools", "sorted")))[f"order of {INFO}.tools"].cells
    (finding,) = cell.findings
    assert finding.state == f"{INFO}.tools is sorted in f"
    assert finding.place == PLACE
    field = next(
        item
        for message in PROTOCOL.schema.own_messages()
        if ".".join(message.path) == INFO
        for item in message.fields
        if item.name == "tools"
    )
    assert finding.span == field.span


def test_sdks_are_compared_where_nothing_is_expected() -> None:
    cells = rows(sdk("a", ("timeout", "ping", "5 s")), sdk("b", ("timeout", "ping", "60 s")))
    states = [cell.findings[0].state for cell in cells["timeout of ping"].cells]
    assert states == [
        "request ping: its timeout is 5 s in f, elsewhere 60 s",
        "request ping: its timeout is 60 s in f, elsewhere 5 s",
    ]


def test_one_sdk_alone_is_compared_with_nothing() -> None:
    cell, other = rows(sdk("a", ("timeout", "ping", "5 s")), sdk("b"))["timeout of ping"].cells
    assert (cell.findings, cell.compared, other.text) == ((), (), "n/a")


def test_unreadable_code_is_unverified() -> None:
    (cell,) = rows(sdk("a", ("order", f"{INFO}.tools", "")))[f"order of {INFO}.tools"].cells
    assert cell.text == "unverified"
    assert cell.findings[0].state == f"order of {INFO}.tools cannot be read in f"


def test_code_in_a_form_without_facts_is_unverified() -> None:
    """The message is constructed, and nothing says what becomes of other kinds."""
    known = sdk("a", ("unknown", "ModelUsage", "left out"))
    construction = Construction("ModelUsage", "g", False, PLACE, ())
    cells = rows(known, Vocabulary("b", "python", "1", constructions=(construction,)))
    cell = cells["an unknown kind of ModelUsage"].cells[1]
    assert cell.text == "unverified"
    assert cell.findings[0].id == "unknown ModelUsage: g"


def test_names_of_the_enum_are_what_a_document_should_have() -> None:
    cells = rows(
        sdk("a", ("text", "cause", "names of CloseReason")),
        sdk("b", ("text", "cause", "the SDK's own value")),
    )["cause in documents"].cells
    assert [len(cell.findings) for cell in cells] == [0, 1]


def test_timeout_that_a_generated_client_leaves_to_its_transport() -> None:
    by_hand = sdk("a", ("timeout", "ping", ""))
    [cell] = rows(by_hand)["timeout of ping"].cells
    assert cell.text == "unverified" and len(cell.findings) == 1
    generated = by_hand._replace(generated=PLACE)
    [cell] = rows(generated)["timeout of ping"].cells
    assert cell.text == "n/a" and not cell.findings
