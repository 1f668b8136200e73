"""Tests that no ordinary edit of an SDK goes unnoticed.

Each edit of a small SDK in the style of the published ones must raise its finding, or a diagnostic
where the reader cannot follow it.
"""

from __future__ import annotations

import pytest
from edited_sdks import SDKS, Edit, differences, edits, raised, rewrites, sources

EDITS = [
    pytest.param(edit, id=f"{language} {edit.name}")
    for language in SDKS
    for edit in edits(language)
]

REWRITES = [
    pytest.param(edit, id=f"{language} {edit.name}")
    for language in SDKS
    for edit in rewrites(language)
]


# As in the published SDK, a state that the table lacks is undefined, which is sent as zero.
UNEDITED = {
    "python": [],
    "typescript": [
        "default robot_dialog.CallerMode: DialogHost.onCallerModeChanged",
        "default robot_dialog.RobotMode: DialogHost.onRobotModeChanged",
        "default robot_dialog.RobotMode: DialogHost.treatGetDialogMode",
        "default robot_dialog.TalkRole: packTalkEntry",
    ],
}


@pytest.mark.parametrize("language", SDKS)
def test_the_unedited_sdk_agrees_with_the_protocol(language: str) -> None:
    assert sorted(differences(language, sources(language))) == sorted(UNEDITED[language])


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_is_noticed(edit: Edit) -> None:
    assert edit.raises in raised(edit)


@pytest.mark.parametrize("rewrite", REWRITES)
def test_code_that_does_the_same_raises_nothing(rewrite: Edit) -> None:
    assert raised(rewrite) == []


def test_there_are_enough_edits_with_distinct_names() -> None:
    for language in SDKS:
        names = [edit.name for edit in edits(language)]
        assert len(set(names)) == len(names) >= 60
