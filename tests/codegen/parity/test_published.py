"""Tests of the section of protobuf packages."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_protocol import AT, DRIVER, SDK, Small, difference_ids, replace

from sessiongen import parity
from sessiongen.parity.matrix import Section
from sessiongen.vocabulary.model import Place, Requirement
from sessiongen.vocabulary.protobuf_packages import ProtobufPackage, PublishedMessages, dump

REQUIREMENT = Requirement("messages", ">=1.0", "1.0", Place("METADATA", 5))
MESSAGES = {
    "Ended": {"reason": 1, "detail": 2},
    "Ask": {"text": 1},
    "Event": {"ended": 1},
    "Request": {"request_id": 1, "ask": 2},
    "Answer": {"text": 1},
    "Response": {"request_id": 1, "ask": 2},
}
ENUMS = {"End": {"END_UNKNOWN": 0, "END_DONE": 1}}
REQUIRING = replace(SDK, requirement=REQUIREMENT)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


def compare(small: Small, *versions: PublishedMessages) -> parity.Parity:
    """Returns the parity of an SDK whose protobuf package has these versions."""
    path = small.folder / "sdk0.messages.json"
    path.write_text(dump(ProtobufPackage("messages", versions)), encoding="utf-8")
    return small.compare(REQUIRING)


def section(result: parity.Parity) -> Section:
    [match] = [item for item in result.sections if item.title == "protobuf packages"]
    return match


def texts(result: parity.Parity) -> dict[str, list[str]]:
    return {row.label: [cell.text for cell in row.cells] for row in section(result).rows}


def test_packages_with_everything_have_no_section(small: Small) -> None:
    result = compare(small, PublishedMessages("1.0", MESSAGES, ENUMS))
    assert difference_ids(result) == []
    assert "protobuf packages" not in [item.title for item in result.sections]


def test_what_the_lowest_version_lacks(small: Small) -> None:
    old = {**MESSAGES, "Ended": {"reason": 1}}
    result = compare(
        small,
        PublishedMessages("1.0", old, {}),
        PublishedMessages("2.0", MESSAGES, ENUMS),
    )
    assert section(result).columns == ("messages 1.0", "messages 2.0")
    # The values of an enum that is missing have no rows.
    assert texts(result) == {"Ended.detail": ["-", "yes"], "End": ["-", "yes"]}
    assert difference_ids(result) == ["published Ended.detail: minimum", "published End: minimum"]
    [field, _] = section(result).findings()
    assert field.state == "Ended.detail: the lowest allowed messages lacks it"
    assert field.place == Place("METADATA", 5) and field.span.line == 11


def test_what_the_newest_version_lacks_is_one_finding(small: Small) -> None:
    old = {**MESSAGES, "Answer": {}}
    published = [PublishedMessages(version, old, ENUMS) for version in ("1.0", "2.0")]
    result = compare(small, *published)
    assert texts(result) == {"Answer.text": ["-", "-"]}
    assert difference_ids(result) == ["published Answer.text: newest"]


def test_an_element_with_another_name(small: Small) -> None:
    renamed = {"End": {"END_UNKNOWN": 0, "END_OVER": 1}}
    result = compare(small, PublishedMessages("1.0", MESSAGES, renamed))
    assert texts(result) == {"End.END_DONE": ["END_OVER"]}
    [finding] = section(result).findings()
    assert finding.state == "End.END_DONE: the newest messages calls it END_OVER"


def test_the_same_name_with_another_number(small: Small) -> None:
    moved = {**MESSAGES, "Answer": {"text": 7}}
    result = compare(small, PublishedMessages("1.0", moved, ENUMS))
    assert difference_ids(result) == ["published Answer.text: newest"]


def test_a_list_of_other_versions_than_the_sdk_requires(small: Small) -> None:
    result = compare(small, PublishedMessages("0.9", MESSAGES, ENUMS))
    assert difference_ids(result) == ["published *"]
    assert texts(result) == {"(lowest allowed version)": ["1.0"]}


def test_an_sdk_without_a_list(small: Small) -> None:
    assert difference_ids(small.compare(REQUIRING)) == []


def test_driver_cannot_receive_an_arm_that_its_messages_lack(small: Small) -> None:
    driver = replace(DRIVER, receives=(), emits_by_arm_name=AT)
    path = small.folder / "sdk0.messages.json"
    without = {**MESSAGES, "Event": {}}
    versions = (PublishedMessages("1.0", without, ENUMS),)
    path.write_text(dump(ProtobufPackage("messages", versions)), encoding="utf-8")
    result = small.compare(replace(REQUIRING, driver=driver))
    assert "event ended: driver" in difference_ids(result)
    messages = [item.message for item in result.diagnostics]
    assert (
        "small-sdk: event ended: its driver cannot receive it, as its messages have no such arm"
        in messages
    )
