"""Tests of the values of enums that no code of an SDK uses."""

from __future__ import annotations

import pytest
from scopes import PYTHON, TYPESCRIPT
from small_python_sdk import ROOT
from small_sdks import PYTHON_SDK, TYPESCRIPT_SDK, python_sdk, typescript_sdk

from sessiongen.vocabulary.commands import read_package
from sessiongen.vocabulary.model import EnumFact, LiteralValue, Place, ValueMap, Vocabulary
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.unused_values import unused_values

EVENTS = "voice/events.py"


def unused_in_python(code: str) -> list[str]:
    """Returns the unused values of the small Python SDK with a module of this code."""
    files = {**PYTHON_SDK, "voice/code.py": code}
    package = Package("sdk", {ROOT + name: text.encode() for name, text in files.items()})
    items = unused_values(python_sdk().vocabulary, package)
    return [f"{item.enum}.{item.value}" for item in items]


def unused_in_typescript(code: str) -> list[str]:
    files = {**TYPESCRIPT_SDK, "src/code.ts": code}
    package = Package("sdk", {name: text.encode() for name, text in files.items()})
    items = unused_values(typescript_sdk().vocabulary, package)
    return [f"{item.enum}.{item.value}" for item in items]


ALL = ["CloseReason.by-user", "CloseReason.error", "State.busy", "State.idle"]
PYTHON_CASES = {
    "nothing": ("", ALL),
    "a member": ("close(CloseReason.ERROR)\n", ["CloseReason.by-user", *ALL[2:]]),
    "a member through a module": ("close(events.CloseReason.ERROR)\n", [ALL[0], *ALL[2:]]),
    "the texts of an enum": ("close('error')\n", ["CloseReason.by-user", *ALL[2:]]),
    "a literal": ("set('busy')\nset(\"idle\")\n", ALL[:2]),
    "a comment": ("# CloseReason.ERROR\n", ALL),
    "a comparison": ("if reason is CloseReason.ERROR or CloseReason.BY_USER == reason: ...\n", ALL),
    "a longer name": ("close(CloseReason.ERRORS, MyCloseReason.ERROR)\n", ALL),
    "members from values": ("close(CloseReason(text))\n", ALL[2:]),
}


@pytest.mark.parametrize("case", PYTHON_CASES)
def test_python(case: str) -> None:
    code, expected = PYTHON_CASES[case]
    found = [item for item in unused_in_python(code) if item in ALL]
    assert found == expected


@pytest.mark.parametrize("alias", ["CLOSED", "A_FAULT"])
def test_an_alias_is_a_name_of_its_value(alias: str) -> None:
    package = Package("sdk", {"a.py": ALIASES.encode(), "b.py": f"close(Cause.{alias})".encode()})
    literals = (LiteralValue("error", "ERROR", 2), LiteralValue("closed", "CLOSED", 4))
    enum = EnumFact("Cause", "enum", False, Place("a.py", 1), literals)
    values = [
        item.value for item in unused_values(Vocabulary("sdk", "python", "1", (enum,)), package)
    ]
    assert values == (["error"] if alias == "CLOSED" else ["closed"])


ALIASES = """class Cause(Enum):
    ERROR = "error"

    CLOSED = "closed"
    A_FAULT = "error"
"""


def test_typescript() -> None:
    found = unused_in_typescript("close(CloseReason.ERROR);\nset(`busy`);\n// 'idle'\n")
    assert [item for item in found if item in ALL] == ["CloseReason.by-user", "State.idle"]
    # Declarations are generated from the sources.
    files = {"src/voice/events.d.ts": b"CloseReason.ERROR"}
    package = Package("sdk", files)
    names = [item.value for item in unused_values(typescript_sdk().vocabulary, package)]
    assert "error" in names


def test_tables_of_proto_values_are_no_use() -> None:
    code = "STATES = {\n    'idle': pb.S_IDLE,\n    'busy': pb.S_BUSY,\n}\nset('busy')\n"
    vocabulary = python_sdk().vocabulary
    mapped = (("idle", "S_IDLE"), ("busy", "S_BUSY"))
    table = ValueMap("STATES", Place("voice/code.py", 1), mapped, ())
    vocabulary = vocabulary._replace(maps=(table,))
    package = Package("sdk", {"voice/code.py": code.encode()})
    states = [item.value for item in unused_values(vocabulary, package) if item.enum == "State"]
    assert states == ["idle"]


def test_the_place_is_that_of_the_value() -> None:
    package = Package("sdk", {ROOT + name: text.encode() for name, text in PYTHON_SDK.items()})
    reading = read_package(PYTHON, package)
    assert reading.vocabulary is not None
    places = {item.value: str(item.place) for item in reading.vocabulary.unused_values}
    assert places["by-user"] == f"{ROOT}{EVENTS}:9"
    assert read_package(TYPESCRIPT, Package("sdk", {"package.json": b"{}"})).vocabulary is not None
