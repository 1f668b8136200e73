"""A small protocol with a module of overrides."""

from __future__ import annotations

from pathlib import Path

from sessiongen_command import CONFIG, Project, project

OVERRIDES_PROTO = """\
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
CONFIG_WITH_OVERRIDES = CONFIG + 'overrides = "hand.py"\n'
FILL = "def fill(source, to):\n    to.text = source.text.upper()\n\n\n"
VALID = FILL + 'OVERRIDES = {"Note.text": fill}\n'


def write_project(
    root: Path,
    text: str | bytes | None,
    config: str = CONFIG_WITH_OVERRIDES,
    proto: str = OVERRIDES_PROTO,
) -> Project:
    """Writes a project; without a text there is no module."""
    small_project = project(root, proto, config)
    if text is not None:
        (root / "hand.py").write_bytes(text.encode() if isinstance(text, str) else text)
    return small_project


def table(entries: str) -> str:
    """Returns a module whose table has the entries."""
    return f"{FILL}OVERRIDES = {{{entries}}}\n"
