"""Tests of overrides: the fields that they fill, and the copy in the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from sessiongen_command import CONFIG, Outcome, Project, replaced, tree

from overrides_case import VALID, write_project


def python(small_project: Project, code: str) -> str:
    """Runs code that can import the generated package."""
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
    small_project = write_project(tmp_path, VALID).generated()
    assert python(
        small_project, ENCODE + "print(note.text, list(note.lines), note.mark.dot.at)"
    ) == ("A ['x'] 3")


def test_positional_only_parameters(tmp_path: Path) -> None:
    small_project = write_project(
        tmp_path, VALID.replace("source, to", "source, to, /")
    ).generated()
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
    small_project = write_project(tmp_path, "\ufeff" + VALID.replace("\n", "\r\n")).generated()
    copy = (small_project.package / "overrides.py").read_bytes().decode()
    assert copy.endswith(VALID) and "\r" not in copy and "Do not edit" in copy
    (tmp_path / "hand.py").rename(tmp_path / "elsewhere.py")
    assert python(small_project, ENCODE + "print(note.text)") == "A"


def drift(outcome: Outcome) -> list[str]:
    return [Path(str(item["file"])).name for item in outcome.records()]


def test_edits_of_both_files_are_drift(tmp_path: Path) -> None:
    small_project = write_project(tmp_path, VALID).generated()
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
    small_project = write_project(tmp_path, VALID).generated()
    small_project.config.write_text(CONFIG, encoding="utf-8")
    outcome = small_project.invoke("--format", "json", "check")
    assert (outcome.status, sorted(drift(outcome))) == (1, ["encoders.py", "overrides.py"])
    small_project.generated()
    assert not (small_project.package / "overrides.py").exists()
    assert python(small_project, ENCODE + "print(note.text)") == "a"


def test_invalid_module_leaves_the_generated_files(tmp_path: Path) -> None:
    small_project = write_project(tmp_path, VALID).generated()
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
