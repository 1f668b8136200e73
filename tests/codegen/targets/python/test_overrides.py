"""Tests of overrides: the fields that they fill, and the faults that are reported."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, Outcome, Project, project, replaced, tree

PROTO = """\
syntax = "proto3";
package small;

message Note {
  string text = 1;
  optional string tag = 2;
  repeated string lines = 3;
  Mark mark = 4;
  Sign sign = 5;
}

message Mark {
  oneof mark {
    Dot dot = 1;
    Dash dash = 2;
  }
  oneof size {
    int32 small = 3;
    int32 large = 4;
  }
}

message Sign {
  oneof sign {
    Dot dot = 1;
    Dash dash = 2;
  }
}

message Dot {
  int32 at = 1;
}

message Dash {
  int32 from = 1;
}

message Event {
  oneof event {
    Note note = 1;
  }
}

message Request {
  oneof request {
    Dot ask = 1;
  }
}

message Response {
  oneof response {
    Note ask = 1;
  }
}
"""
WITH = CONFIG + 'overrides = "hand.py"\n'
FILL = "def fill(source, to):\n    to.text = source.text.upper()\n\n\n"
GOOD = FILL + 'OVERRIDES = {"Note.text": fill}\n'


def write_project(
    root: Path, text: str | bytes | None, config: str = WITH, proto: str = PROTO
) -> Project:
    """Write a project; without a text there is no module."""
    small_project = project(root, proto, config)
    if text is not None:
        (root / "hand.py").write_bytes(text.encode() if isinstance(text, str) else text)
    return small_project


def table(entries: str) -> str:
    return f"{FILL}OVERRIDES = {{{entries}}}\n"


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
    "an open bracket": Fault("a = (\n", 1, 5, "the overrides are not Python: '(' was never closed"),
    "an empty file": Fault("", 1, 1, "no table OVERRIDES", FORM),
    "no table": Fault(FILL, 1, 1, "no table OVERRIDES", FORM),
    "a table of another name": Fault("Overrides = {}\n", 1, 1, "no table OVERRIDES", FORM),
    "a table inside": Fault("if True:\n    OVERRIDES = {}\n", 1, 1, "no table OVERRIDES", FORM),
    "two tables": Fault("OVERRIDES = {}\n" * 2, 2, 1, "OVERRIDES is used a second", ONCE),
    "a table that grows": Fault(
        f'{GOOD}OVERRIDES["Note.tag"] = fill\n', 6, 1, "OVERRIDES is used a second", ONCE
    ),
    "a table joined": Fault(f"{GOOD}OVERRIDES |= {{}}\n", 6, 1, "OVERRIDES is used", ONCE),
    "a table used": Fault(
        f"OVERRIDES = {{}}\n\n\ndef f():\n    OVERRIDES.clear()\n", 5, 5, "OVERRIDES is used"
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
    proto = PROTO.replace("package small;", 'package small;\nimport "other.proto";')
    proto = proto.replace("Note note = 1;", "Note note = 1;\n    other.Note far = 2;")
    outcome = write_project(tmp_path, GOOD, proto=proto).invoke("generate")
    assert outcome.status == 2
    assert outcome.errors.splitlines() == [
        "hand.py:5:14: error[SG028]: the override names 'Note.text', which is ambiguous: several "
        "proto packages have it",
        "  help: rename one of the messages in the .proto",
    ]


@pytest.mark.parametrize("value", ["3", '""', '["hand.py"]', "true", '{a = "b"}', '"a\\u0000b"'])
def test_the_key_of_another_type(value: str, tmp_path: Path) -> None:
    config = CONFIG + f"overrides = {value}\n"
    line = config.splitlines().index(f"overrides = {value}") + 1
    outcome = write_project(tmp_path, GOOD, config).invoke("--format", "json", "generate")
    assert outcome.status == 2
    [record] = outcome.records()
    assert (record["file"], record["line"], record["column"]) == ("codegen.toml", line, 1)
    assert record["message"] == "output.overrides is not a string with no control character"


# ---------------------------------------------------------------------------------------
# What a good module does.


def python(small_project: Project, code: str) -> str:
    """Run code that can import the generated package."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, 'out')\n{code}"]
    done = subprocess.run(
        command, cwd=small_project.root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout.strip()


ENCODE = """
from small_protocol import encoders
source = {"text": "a", "tag": None, "lines": ["x"], "sign": None}
source["mark"] = {"mark": {"type": "dot", "at": 3}}
note = encoders.encode_note(source)
"""


def test_function_fills_only_its_field(tmp_path: Path) -> None:
    small_project = write_project(tmp_path, GOOD).generated()
    assert python(
        small_project, ENCODE + "print(note.text, list(note.lines), note.mark.dot.at)"
    ) == ("A ['x'] 3")


def test_positional_only_parameters(tmp_path: Path) -> None:
    small_project = write_project(tmp_path, GOOD.replace("source, to", "source, to, /")).generated()
    assert python(small_project, ENCODE + "print(note.text)") == "A"


def test_without_overrides_there_is_no_module(tmp_path: Path) -> None:
    small_project = write_project(tmp_path, None, CONFIG).generated()
    assert not (small_project.package / "overrides.py").exists()
    assert python(small_project, ENCODE + "print(note.text)") == "a"
    empty = write_project(tmp_path / "empty", "OVERRIDES = {}\n").generated()
    assert not (empty.package / "overrides.py").exists()


def test_override_of_a_tagged_arm_receives_its_source(tmp_path: Path) -> None:
    text = """\
def fill_dot(source, to):
    to.dot.at = 2 * source["at"]


def fill_large(source, to):
    to.large = 9


OVERRIDES = {"Mark.dot": fill_dot, "Mark.large": fill_large}
"""
    small_project = write_project(tmp_path, text).generated()
    shown = python(
        small_project, ENCODE + "print(note.mark.dot.at, note.mark.large, note.mark.small)"
    )
    assert shown == "6 9 0"


def test_oneof_is_set_if_the_override_writes_nothing(tmp_path: Path) -> None:
    text = 'def fill(source, to):\n    pass\n\n\nOVERRIDES = {"Sign.dot": fill}\n'
    small_project = write_project(tmp_path, text).generated()
    code = ENCODE.replace('"sign": None', '"sign": {"type": "dot"}')
    shown = python(
        small_project, code + 'print(note.HasField("sign"), note.sign.WhichOneof("sign"))'
    )
    assert shown == "True None"


def test_message_is_set_if_the_override_writes_nothing(tmp_path: Path) -> None:
    text = 'def fill(source, to):\n    pass\n\n\nOVERRIDES = {"Dot.at": fill}\n'
    small_project = write_project(tmp_path, text).generated()
    shown = python(small_project, ENCODE + 'print(note.mark.WhichOneof("mark"), note.mark.dot.at)')
    assert shown == "dot 0"


def test_an_arm_that_an_override_fills_needs_no_attribute(tmp_path: Path) -> None:
    text = 'def fill(source, to):\n    pass\n\n\nOVERRIDES = {"Mark.large": fill}\n'
    small_project = write_project(tmp_path, text).generated()
    code = "from types import SimpleNamespace\nfrom small_protocol import encoders\n"
    code += "print(encoders.encode_mark(SimpleNamespace(mark=None, small=3)).small)"
    assert python(small_project, code) == "3"


def test_package_has_a_copy_of_the_overrides(tmp_path: Path) -> None:
    small_project = write_project(tmp_path, "\ufeff" + GOOD.replace("\n", "\r\n")).generated()
    copy = (small_project.package / "overrides.py").read_bytes().decode()
    assert copy.endswith(GOOD) and "\r" not in copy and "Do not edit" in copy
    (tmp_path / "hand.py").rename(tmp_path / "elsewhere.py")
    assert python(small_project, ENCODE + "print(note.text)") == "A"


def drift(outcome: Outcome) -> list[str]:
    return [Path(str(item["file"])).name for item in outcome.records()]


def test_edits_of_both_files_are_drift(tmp_path: Path) -> None:
    small_project = write_project(tmp_path, GOOD).generated()
    assert small_project.invoke("check").status == 0
    replaced(small_project.package / "overrides.py", "upper", "lower")
    outcome = small_project.invoke("--format", "json", "check")
    assert (outcome.status, drift(outcome)) == (1, ["overrides.py"])
    small_project.generated()
    replaced(tmp_path / "hand.py", "upper", "title")
    outcome = small_project.invoke("--format", "json", "check")
    assert (outcome.status, drift(outcome)) == (1, ["overrides.py"])
    assert "title" in (small_project.generated().package / "overrides.py").read_text(
        encoding="utf-8"
    )
    assert small_project.invoke("check", "--no-cache").status == 0


def test_copy_is_removed_with_the_module(tmp_path: Path) -> None:
    small_project = write_project(tmp_path, GOOD).generated()
    small_project.config.write_text(CONFIG, encoding="utf-8")
    outcome = small_project.invoke("--format", "json", "check")
    assert (outcome.status, sorted(drift(outcome))) == (1, ["encoders.py", "overrides.py"])
    small_project.generated()
    assert not (small_project.package / "overrides.py").exists()
    assert python(small_project, ENCODE + "print(note.text)") == "a"


def test_invalid_module_leaves_the_generated_files(tmp_path: Path) -> None:
    small_project = write_project(tmp_path, GOOD).generated()
    before = tree(small_project.package)
    (tmp_path / "hand.py").write_text("OVERRIDES = 7\n", encoding="utf-8")
    assert small_project.invoke("generate").status == 2
    assert tree(small_project.package) == before
    (tmp_path / "hand.py").unlink()
    assert small_project.invoke("generate").status == 2
    assert tree(small_project.package) == before


def test_overrides_of_installed_messages(tmp_path: Path) -> None:
    """Typed layers over a published module of messages take overrides too."""
    config = """\
[input]
messages = "livekit.protocol.agent_pb.agent_session"

[output]
path = "out"
package = "bound_protocol"
overrides = "hand.py"

[annotations."livekit.agent.SessionRequest.ping"]
response = "pong"
"""
    text = (
        "def fill(source, to):\n    to.message = 'told'\n\n\n"
        'OVERRIDES = {"AgentSessionEvent.Error.message": fill}\n'
    )
    small_project = write_project(tmp_path, text, config)
    small_project.generated()
    code = "from bound_protocol import encoders\nprint(encoders.encode_error({}).message)"
    assert python(small_project, code) == "told"
    replaced(tmp_path / "hand.py", "Error.message", "Error.text")
    outcome = small_project.invoke("generate")
    assert outcome.status == 2
    assert "did you mean 'AgentSessionEvent.Error.message'?" in outcome.errors
