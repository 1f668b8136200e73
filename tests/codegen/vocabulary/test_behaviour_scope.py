"""Tests the part of a scope file that says where behaviour beside messages is defined."""

from __future__ import annotations

from pathlib import Path

import pytest
from edited_sdks import FOLDER

from sessiongen import pipeline
from sessiongen.config import reader
from sessiongen.diagnostics import InputError
from sessiongen.vocabulary.behaviour_scope import BehaviourScope, Parts, Timeout, WrittenText
from sessiongen.vocabulary.scope import load_scope

ROLES = pipeline.roles(reader.load(FOLDER / "codegen.toml"))
SCOPE = """\
language = "python"
distribution = "sdk"
package = "sdk"
[messages]
module = "sdk_messages"
name = "messages"
"""


def behaviour(folder: Path, text: str) -> BehaviourScope:
    """Returns what a scope file with this text says of behaviour."""
    (folder / "sdk.scope.toml").write_text(SCOPE + text, encoding="utf-8")
    return load_scope(folder / "sdk.json", ROLES).behaviour


def test_every_key_is_read(tmp_path: Path) -> None:
    scope = behaviour(
        tmp_path,
        """
[parts.Prompt]
names = ["spoken", "written"]
fields = ["Reply.text"]
[timeouts]
parameter = "patience"
unit = "ms"
[texts.cause]
definition = "Report.as_dict"
key = "end"
enum = "EndCause"
""",
    )
    assert scope.parts == (Parts("Prompt", ("spoken", "written"), ("Reply.text",)),)
    assert scope.timeout == Timeout("patience", "ms")
    assert scope.texts == (WrittenText("cause", "Report.as_dict", "end", "EndCause"),)


def test_the_repeated_fields_are_those_of_the_protocol(tmp_path: Path) -> None:
    scope = behaviour(tmp_path, "")
    assert scope.repeated >= {
        "TalkMessage.content",
        "RobotDialogEvent.ToolsFinished.tool_uses",
        "DialogResponse.GetTalkLogResponse.items",
        "DialogResponse.SayLineResponse.items",
    }
    # A map is no list.
    assert "DialogResponse.GetDialogModeResponse.options" not in scope.repeated
    assert (scope.parts, scope.timeout, scope.texts) == ((), None, ())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ('[timeouts]\nparameter = "t"\nunit = "min"', "unknown unit 'min'"),
        ('[timeouts]\nunit = "s"', "parameter"),
        ('[parts.Prompt]\npieces = ["a"]', "pieces"),
        ('[texts.cause]\nkey = "end"\nenum = "EndCause"', "definition"),
        ('[texts]\ncause = "end"', "cause"),
    ],
)
def test_a_fault_names_its_key(tmp_path: Path, text: str, fault: str) -> None:
    with pytest.raises(InputError) as error:
        behaviour(tmp_path, text)
    assert fault in error.value.diagnostics[0].message
