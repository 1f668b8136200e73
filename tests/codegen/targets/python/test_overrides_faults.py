"""Tests of faults in modules of overrides, and of their positions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, tree

from overrides_case import FILL, VALID, OVERRIDES_PROTO, table, write_project


@dataclass(frozen=True)
class Fault:
    """A module, and where and how it is refused; `help` is a part of the advice."""

    text: str | bytes | None
    line: int
    column: int
    message: str
    help: str = ""
    rule: str = "SG028"


FORM = 'write it as OVERRIDES = {"Message.field": function}'
TWO = "give it two parameters, the source and the message to fill"
ONCE = "assign the complete table once"
FAULTS = {
    "a missing file": Fault(None, 1, 1, "cannot read the overrides: ", "readable UTF-8", "SG002"),
    "not UTF-8": Fault(b"x = '\xff'\n", 1, 1, "cannot read the overrides: ", "UTF-8", "SG002"),
    "no Python": Fault("x = 1\nif x\n", 2, 5, "the overrides are not Python: ", "fix"),
    "no Python, behind odd letters": Fault("x = 'é' +\n", 1, 10, "the overrides are not Python"),
    "a repeated parameter": Fault(
        "def fill(a, a):\n    pass\n", 1, 13, "the overrides are not Python: duplicate argument 'a'"
    ),
    "an open bracket": Fault("a = (\n", 1, 5, "the overrides are not Python: '(' was never closed"),
    "an empty file": Fault("", 1, 1, "no table OVERRIDES", FORM),
    "no table": Fault(FILL, 1, 1, "no table OVERRIDES", FORM),
    "a table of another name": Fault("Overrides = {}\n", 1, 1, "no table OVERRIDES", FORM),
    "a table inside": Fault("if True:\n    OVERRIDES = {}\n", 1, 1, "no table OVERRIDES", FORM),
    "two tables": Fault("OVERRIDES = {}\n" * 2, 2, 1, "OVERRIDES is used a second", ONCE),
    "a table that grows": Fault(
        f'{VALID}OVERRIDES["Note.tag"] = fill\n', 6, 1, "OVERRIDES is used a second", ONCE
    ),
    "a table joined": Fault(f"{VALID}OVERRIDES |= {{}}\n", 6, 1, "OVERRIDES is used", ONCE),
    "a table used": Fault(
        "OVERRIDES = {}\n\n\ndef f():\n    OVERRIDES.clear()\n", 5, 5, "OVERRIDES is used"
    ),
    "a list": Fault("OVERRIDES = []\n", 1, 1, "OVERRIDES is not a dict display", FORM),
    "a dict from a call": Fault(
        "x = 1\nOVERRIDES = dict()\n", 2, 1, "OVERRIDES is not a dict", FORM
    ),
    "a comprehension": Fault("OVERRIDES = {x: x for x in ()}\n", 1, 1, "OVERRIDES is not a dict"),
    "a type alone": Fault("OVERRIDES: dict[str, object]\n", 1, 1, "OVERRIDES is not a dict", FORM),
    "entries from another dict": Fault(
        "MORE = {}\nOVERRIDES = {**MORE}\n", 2, 16, "OVERRIDES has entries from another dict", FORM
    ),
    "a number": Fault(table("7: fill"), 5, 14, "the name of a field is not a string", FORM),
    "bytes": Fault(table("b'Note.text': fill"), 5, 14, "the name of a field is not a string"),
    "a name": Fault(table("Note.text: fill"), 5, 14, "the name of a field is not a string"),
    "an f-string": Fault(table("f'Note': fill"), 5, 14, "the name of a field is not"),
    "a near name": Fault(
        table('"Note.texts": fill'),
        5,
        14,
        "the override names 'Note.texts', which is in no event or response",
        "did you mean 'Note.text'?",
    ),
    "a far name": Fault(
        table('"Xyzzy": fill'), 5, 14, "the override names 'Xyzzy', which is in no", "remove it"
    ),
    "a message": Fault(table('"Note": fill'), 5, 14, "the override names 'Note', which is in no"),
    "a full name": Fault(table('"small.Note.text": fill'), 5, 14, "the override names 'small."),
    "a request's own": Fault(table('"Request.ask": fill'), 5, 14, "the override names 'Request."),
    "a oneof": Fault(
        table('"Mark.size": fill'), 5, 14, "the override names 'Mark.size', which is in no"
    ),
    "a second": Fault(
        table('"Note.text": fill, "Note.text": fill'),
        5,
        33,
        "a second override of 'Note.text'",
        "remove one of the two",
    ),
    "after a wide character": Fault(table('"Note.é": fill, 7: fill'), 5, 30, "the name of a field"),
    "a lambda": Fault(
        table('"Note.text": lambda a, b: None'),
        5,
        27,
        "the override is not a function of this",
        FORM,
    ),
    "no function": Fault(
        table('"Note.text": None'), 5, 27, "the override is not a function of this"
    ),
    "one of another module": Fault(table('"Note.text": os.fill'), 5, 27, "the override is no"),
    "imported": Fault(
        "from x import f\nOVERRIDES = {'Note.text': f}\n", 2, 27, "the override is not a function"
    ),
    "a variable": Fault(
        "f = print\nOVERRIDES = {'Note.text': f}\n", 2, 27, "the override is not a function of this"
    ),
    "a class": Fault(
        "class F: ...\nOVERRIDES = {'Note.text': F}\n", 2, 27, "the override is not a function"
    ),
    "a coroutine": Fault(
        "async def f(a, b): ...\nOVERRIDES = {'Note.text': f}\n", 2, 27, "the override is no"
    ),
    "a nested function": Fault(
        "def g():\n    def f(a, b): ...\nOVERRIDES = {'Note.text': f}\n",
        3,
        27,
        "the override is no",
    ),
    "a generator": Fault(
        "def f(a, b):\n    yield\nOVERRIDES = {'Note.text': f}\n", 1, 1, "f is a generator", "yield"
    ),
    **{
        f"f({parameters})": Fault(
            f"x = 1\ndef f({parameters}): ...\nOVERRIDES = {{'Note.text': f}}\n",
            2,
            1,
            "f does not take a source and a message",
            TWO,
        )
        for parameters in ("", "a", "a, b, c", "*a", "a, b, *c", "a, b, *, c", "a, **b", "*, a, b")
    },
}


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_reported_at_its_position(name: str, tmp_path: Path) -> None:
    fault = FAULTS[name]
    small_project = write_project(tmp_path, fault.text)
    before = tree(tmp_path)
    outcome = small_project.invoke("--format", "json", "generate")
    assert outcome.status == 2
    [record] = [item for item in outcome.records() if item["message"].startswith(fault.message)]
    place = (record["file"], record["line"], record["column"], record["rule"])
    assert place == ("hand.py", fault.line, fault.column, fault.rule)
    assert fault.help in record["help"]
    assert tree(tmp_path) == before
    # Nothing is written beside what was generated before, either.
    assert small_project.invoke("check").status == 2


def test_all_faults_are_reported(tmp_path: Path) -> None:
    text = table('7: fill, "Note.text": 8, "Note.tag": fill, "Note.tag": fill')
    records = write_project(tmp_path, text).invoke("--format", "json", "generate").records()
    assert [(item["line"], item["column"]) for item in records] == [(5, 14), (5, 36), (5, 57)]
    text = table('"Note.txt": fill, "Nota.tag": fill')
    records = write_project(tmp_path, text).invoke("--format", "json", "generate").records()
    assert [(item["line"], item["column"]) for item in records] == [(5, 14), (5, 32)]


def test_folder_instead_of_a_module(tmp_path: Path) -> None:
    (tmp_path / "hand.py").mkdir()
    outcome = write_project(tmp_path, None).invoke("generate")
    assert outcome.status == 2
    assert outcome.errors.startswith("hand.py:1:1: error[SG002]: cannot read the overrides: ")


def test_field_name_in_two_proto_packages(tmp_path: Path) -> None:
    other = 'syntax = "proto3";\npackage other;\nmessage Note { string text = 1; }\n'
    (tmp_path / "proto").mkdir()
    (tmp_path / "proto" / "other.proto").write_text(other, encoding="utf-8")
    proto = OVERRIDES_PROTO.replace("package small;", 'package small;\nimport "other.proto";')
    proto = proto.replace("Note note = 1;", "Note note = 1;\n    other.Note far = 2;")
    outcome = write_project(tmp_path, VALID, proto=proto).invoke("generate")
    assert outcome.status == 2
    assert outcome.errors.splitlines() == [
        "hand.py:5:14: error[SG028]: the override names 'Note.text', which is ambiguous: several "
        "proto packages have it",
        "  help: rename one of the messages in the .proto",
    ]


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        ("3", "is not a string"),
        ('["hand.py"]', "is not a string"),
        ("true", "is not a string"),
        ('{a = "b"}', "is not a string"),
        ('""', "has an empty string"),
        ('"a\\u0000b"', "has a control character: 'a\\x00b'"),
    ],
)
def test_the_key_of_another_type(value: str, fault: str, tmp_path: Path) -> None:
    config = CONFIG + f"overrides = {value}\n"
    line = config.splitlines().index(f"overrides = {value}") + 1
    outcome = write_project(tmp_path, VALID, config).invoke("--format", "json", "generate")
    assert outcome.status == 2
    [record] = outcome.records()
    assert (record["file"], record["line"], record["column"]) == ("codegen.toml", line, 1)
    assert record["message"] == f"output.overrides {fault}"
