"""Tests of generated packages in one process with packages from the same .proto files.

The other packages are a second generated package, and `googleapis-common-protos`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from sessiongen_command import Project

from sessiongen.targets.python.import_names import restored

PROTO = """\
syntax = "proto3";
package twice;
import "google/rpc/status.proto";
import "google/rpc/error_details.proto";
import "google/api/field_behavior.proto";

message Note {
  string long_name = 1 [(google.api.field_behavior) = REQUIRED];
  string text = 2 [json_name = "words"];
  optional string quote = 3;
}

message Event {
  oneof event {
    google.rpc.Status status = 1;
    google.rpc.BadRequest bad = 2;
    Note note = 3;
  }
}

message Request {
  string id = 1;
  oneof request {
    bool ping = 2;
  }
}

message Response {
  string id = 1;
  oneof response {
    bool ping = 2;
  }
}
"""
CONFIG = """\
[input]
protos = ["proto/twice.proto"]
include = ["proto", "{shared}"]

[[output]]
language = "python"
path = "out"
package = "{package}"
"""
SCRIPT = """\
import importlib, pickle, sys
from google.protobuf import descriptor_pb2
from google.protobuf.internal import api_implementation

assert api_implementation.Type() == sys.argv[1], api_implementation.Type()
for name in sys.argv[2:]:
    importlib.import_module(name)
    if "." not in name:
        importlib.import_module(name + ".events")
        importlib.import_module(name + ".encoders")
from google.rpc import error_details_pb2, status_pb2
from one import twice_pb2 as one
from two import twice_pb2 as two

event = one.Event(status=status_pb2.Status(code=3, message="gone"))
assert type(event.status) is status_pb2.Status
assert two.Event is one.Event
assert pickle.loads(pickle.dumps(event)) == event
file = descriptor_pb2.FileDescriptorProto()
one.DESCRIPTOR.CopyToProto(file)
assert file.name == "twice.proto"
note = descriptor_pb2.DescriptorProto()
one.Note.DESCRIPTOR.CopyToProto(note)
assert [field.name for field in note.field] == ["long_name", "text", "quote"]
assert one.Note.DESCRIPTOR.fields_by_name["long_name"].json_name == "longName"
assert one.Note.DESCRIPTOR.fields_by_name["text"].json_name == "words"
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Returns a folder with two packages that were generated from one .proto."""
    root = tmp_path_factory.mktemp("twice")
    (root / "proto").mkdir()
    (root / "proto" / "twice.proto").write_text(PROTO, encoding="utf-8")
    spec = find_spec("google.rpc.status_pb2")
    assert spec is not None and spec.origin is not None
    shared = Path(spec.origin).parents[2]
    for package in ("one", "two"):
        config = CONFIG.format(shared=shared.as_posix(), package=package)
        (root / "codegen.toml").write_text(config, encoding="utf-8")
        Project(root).generated()
    return root / "out"


@pytest.mark.parametrize("implementation", ["upb", "python"])
@pytest.mark.parametrize(
    "order",
    [
        ("one", "two"),
        ("two", "one"),
        ("one", "google.rpc.status_pb2", "google.rpc.error_details_pb2"),
        ("google.rpc.status_pb2", "google.api.field_behavior_pb2", "one"),
    ],
)
def test_packages_with_the_same_files_load_in_one_process(
    packages: Path, implementation: str, order: tuple[str, ...]
) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(packages),
        "PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION": implementation,
    }
    process = subprocess.run(
        [sys.executable, "-c", SCRIPT, implementation, *order],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (process.returncode, process.stderr) == (0, "")


def test_a_name_with_a_quote_and_a_control_character_is_escaped() -> None:
    own = "it's\a.proto"
    name = f"p/{own}"
    serialized = FileDescriptorProto(name=name).SerializeToString()
    text = f"# source: {name}\nregister('{name}')\nAddSerializedFile({serialized!r})\n"
    serialized = FileDescriptorProto(name=own).SerializeToString()
    assert restored(text, {own: name}) == (
        f"# source: it's?.proto\nregister({own!r})\nAddSerializedFile({serialized!r})\n"
    )


def test_module_without_a_descriptor_is_unchanged() -> None:
    assert restored("x = 1\n", {"a.proto": "p/a.proto"}) == "x = 1\n"
