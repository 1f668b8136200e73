"""The keys `messages` and `protos` together: the files have the comments of installed messages."""

from __future__ import annotations

from pathlib import Path

import pytest
from sessiongen_command import PROTO, Project, install_messages, place_of, project

CONFIG = """\
[input]
messages = "installed.small_pb2"
{protos}
[output]
path = "out"
package = "bound"
"""
COMMENTED = PROTO.replace("message Empty {}", "// Nothing.\nmessage Empty {}").replace(
    "  oneof event {", "  // What happened.\n  oneof event {"
)

# The request arm; the response arm is the same.
PING = "Empty ping = 2;\n  }\n}\n\nmessage Response"


@pytest.fixture
def bound(tmp_path: Path) -> Project:
    """Returns a project over installed messages, whose .proto is not configured."""
    made = project(tmp_path, proto=COMMENTED, config=CONFIG.format(protos=""))
    install_messages(made)
    return made


def _documented(bound: Project, protos: str = "proto/small.proto") -> Project:
    bound.config.write_text(CONFIG.format(protos=f'protos = ["{protos}"]'), encoding="utf-8")
    return bound


def _text(bound: Project, name: str) -> str:
    return (bound.root / "out" / "bound" / name).read_text(encoding="utf-8")


def test_without_the_files_there_are_no_comments(bound: Project) -> None:
    bound.generated()
    assert '        """Request arm 2, answered by `ping` (2)."""\n' in _text(bound, "client.py")
    assert "class Empty:\n    pass\n" in _text(bound, "models.py")
    assert "installed/small_pb2.py#small.proto:1" in bound.invoke("explain", "Request.ping").output


def test_comments_and_positions(bound: Project) -> None:
    _documented(bound).generated()
    assert "Is anybody there?\n" in _text(bound, "client.py")
    assert 'class Empty:\n    """Nothing."""\n' in _text(bound, "models.py")
    line, column = place_of(COMMENTED, PING)
    explained = bound.invoke("explain", "Request.ping").output
    assert f"proto/small.proto:{line}:{column}" in explained
    assert bound.invoke("check").status == 0


def test_files_of_another_version_and_name(bound: Project) -> None:
    """A message that the installed ones lack is ignored, and one that the files lack has no docs."""
    text = "// A newer file.\n" + COMMENTED.replace(
        "message Envelope {", "// Not there yet.\nmessage Late {}\n\nmessage Envelope {"
    ).replace("    Empty tick = 1;\n", "    // Only here.\n    Empty tock = 9;\n")
    path = bound.root / "docs" / "renamed.proto"
    path.parent.mkdir()
    path.write_text(text, encoding="utf-8")
    _documented(bound, "docs/renamed.proto").generated()
    assert "Is anybody there?\n" in _text(bound, "client.py")
    assert "Only here" not in _text(bound, "events.py") and "Late" not in _text(bound, "models.py")
    line, column = place_of(text, PING)
    explained = bound.invoke("explain", "Request.ping").output
    assert f"docs/renamed.proto:{line}:{column}" in explained


def test_faults_are_at_the_files(bound: Project) -> None:
    _documented(bound)
    text = bound.config.read_text(encoding="utf-8")
    config = f'{text}layers = ["peer"]\n[roles]\nenvelope = false\n'
    bound.config.write_text(config, encoding="utf-8")
    outcome = bound.invoke("generate")
    line, column = place_of(config, '"peer"')
    assert outcome.status == 2
    assert f"codegen.toml:{line}:{column}: error[SG012]" in outcome.errors


def test_files_of_another_protocol(bound: Project) -> None:
    other = PROTO.replace("package small;", "package other;")
    bound.proto.write_text(other, encoding="utf-8")
    outcome = _documented(bound).invoke("generate")
    assert outcome.status == 2
    assert outcome.errors.startswith(
        "codegen.toml:3:1: error[SG004]: the .proto files have no message of installed.small_pb2"
    )


def test_files_that_are_not_valid(bound: Project) -> None:
    bound.proto.write_text(COMMENTED.replace("Empty ping = 2;", "Nothing ping = 2;", 1), "utf-8")
    outcome = _documented(bound).invoke("generate")
    assert outcome.status == 2 and '"Nothing" is not defined' in outcome.errors
