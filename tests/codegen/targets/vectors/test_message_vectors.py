"""The messages of the vectors: what is in them, and that the schema alone decides it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import generated_packages
import pytest
from case_protocols import VALID
from generated_packages import CASES
from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.internal import encoder
from sessiongen_command import CONFIG, PROTO, Project, project

from sessiongen import pipeline
from sessiongen.config import reader
from sessiongen.ir.model import Model
from sessiongen.targets.vectors.message_vectors import message_vectors

VECTORS = CONFIG.partition("[output]")[0] + '[[output]]\nlanguage = "vectors"\npath = "vectors"\n'
EVENT = """
  enum Color { RED = 0; BLUE = 7; }
  message Point {
    int32 x = 1;
    optional string a = 2;
    optional string b = 3;
    string name = 4;
    repeated Color colors = 5;
    map<string, bool> flags = 6;
    double size = 7;
    Point next = 8;
    bytes data = 9;
  }
  oneof event {
    Point point = 3;
    uint64 count = 2;
"""
# The unknown field: 536870911, as a varint of ten bytes.
UNKNOWN = "f8ffffff0f" + "ff" * 9 + "01"


def generated_project(tmp_path: Path) -> Project:
    proto = PROTO.replace("  oneof event {\n    Empty tick = 1;\n", EVENT)
    return project(tmp_path, proto, VECTORS).generated()


def vectors(generated_project: Project, name: str) -> dict[str, dict[str, Any]]:
    """Returns the vectors of a file by name."""
    data = json.loads((generated_project.root / "vectors" / name).read_text(encoding="utf-8"))
    return {item["name"]: item for item in data["vectors"]}


def test_each_arm_has_three_messages(tmp_path: Path) -> None:
    folder = generated_project(tmp_path).root / "vectors"
    assert sorted(path.name for path in folder.iterdir()) == [
        "enums.json",
        "sessiongen.json",
        "small.Envelope.message.json",
        "small.Event.event.json",
        "small.Request.request.json",
        "small.Response.response.json",
    ]
    data = json.loads((folder / "small.Event.event.json").read_text(encoding="utf-8"))
    assert (data["message"], data["oneof"]) == ("small.Event", "event")
    assert [(item["arm"], item["number"]) for item in data["vectors"]] == [
        *[("point", 3)] * 3,
        *[("count", 2)] * 3,
    ]


def test_an_empty_message_has_its_arm_only(tmp_path: Path) -> None:
    entries = vectors(generated_project(tmp_path), "small.Event.event.json")
    assert (entries["point.empty"]["hex"], entries["point.empty"]["json"]) == (
        "1a00",
        {"point": {}},
    )
    assert (entries["count.empty"]["hex"], entries["count.empty"]["json"]) == (
        "1000",
        {"count": "0"},
    )


def test_a_saturated_message_has_every_field(tmp_path: Path) -> None:
    entries = vectors(generated_project(tmp_path), "small.Event.event.json")["point.saturated"]
    assert entries["json"] == {
        "point": {
            "x": 1001,
            "a": "a",
            "b": "b",
            "name": "name",
            "colors": ["BLUE", "RED"],
            "flags": {"flags 1": True, "flags 2": False},
            "size": 1007.5,
            "data": "ZGF0YQ==",
        }
    }
    fields = [
        "08e907",
        "120161",
        "1a0162",
        "22046e616d65",
        "2a020700",
        "320b0a07666c61677320311001",
        "320b0a07666c61677320321000",
        "3900000000007c8f40",
        "4a0464617461",
    ]
    payload = "".join(fields)
    assert entries["hex"] == f"1a{len(payload) // 2:02x}{payload}"


def test_an_edge_message_has_extremes_and_an_unknown_field(tmp_path: Path) -> None:
    entries = vectors(generated_project(tmp_path), "small.Event.event.json")
    edge = entries["point.edge"]
    text = "z\u00e9\u20ac\U0001f642"
    assert edge["json"] == {
        "point": {
            "x": -(2**31),
            # `a` is absent, `b` present and empty.
            "b": "",
            "name": text,
            "colors": ["RED", "RED"],
            "flags": {"": False},
            "size": 5e-324,
            "data": "AP8=",
        }
    }
    assert "08" + "80808080f8ffffffff01" in edge["hex"]
    assert edge["hex"].endswith(UNKNOWN)
    # A scalar arm has the unknown field beside it.
    assert entries["count.edge"]["hex"] == "10" + "ff" * 9 + "01" + UNKNOWN
    assert entries["count.edge"]["json"] == {"count": str(2**64 - 1)}


def test_a_list_has_a_message_for_each_arm(tmp_path: Path) -> None:
    item = "message Item { oneof kind { Empty one = 1; Empty two = 2; } }\n"
    many = PROTO.replace("message Event {", item + "message Event {\n  repeated Item items = 7;")
    entries = vectors(project(tmp_path, many, VECTORS).generated(), "small.Event.event.json")
    assert entries["tick.saturated"]["json"]["items"] == [{"one": {}}, {"two": {}}]
    assert entries["tick.edge"]["json"]["items"] == [{"one": {}}, {"two": {}}, {}]


def test_a_run_gives_the_same_bytes_in_each_process(tmp_path: Path) -> None:
    folder = generated_project(tmp_path).root
    before = {path.name: path.read_bytes() for path in (folder / "vectors").iterdir()}
    for path in (folder / "vectors").iterdir():
        path.unlink()
    command = [sys.executable, "-m", "sessiongen", "generate", "--no-cache"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    assert {path.name: path.read_bytes() for path in (folder / "vectors").iterdir()} == before


def model_of(name: str, folder: Path) -> Model:
    case = VALID[name]
    path = folder / f"{name}.proto" if case.text else CASES / (case.file or f"{name}.proto")
    if case.text:
        path.write_bytes(case.text.encode())
    source = generated_packages.protos([path], [path.parent])
    generated_packages.configured(folder, "unused", source, rest=case.roles)
    return pipeline.model(reader.load(folder / "codegen.toml"))


@pytest.mark.parametrize("name", VALID)
def test_bytes_and_json_are_the_same_message(name: str, tmp_path: Path) -> None:
    model = model_of(name, tmp_path)
    pool = descriptor_pool.DescriptorPool()
    for item in model.annotated.files:
        pool.Add(item)
    files = message_vectors(model)
    assert len(files) == len(model.protocol.unions)
    for text in files.values():
        data = json.loads(text)
        kind = message_factory.GetMessageClass(pool.FindMessageTypeByName(data["message"]))
        for item in data["vectors"]:
            decoded = kind.FromString(bytes.fromhex(item["hex"]))
            assert decoded.WhichOneof(data["oneof"]) == item["arm"]
            assert decoded.SerializeToString(deterministic=True).hex() == item["hex"]
            decoded.DiscardUnknownFields()
            read = json_format.ParseDict(item["json"], kind(), descriptor_pool=pool)
            assert read.SerializeToString(deterministic=True) == decoded.SerializeToString(
                deterministic=True
            )
            # The second number is that of a message that has a field of the largest one.
            tags = [encoder.TagBytes(2**29 - number, 0).hex() for number in (1, 2)]
            unknown = any(f"{tag}{'ff' * 9}01" in item["hex"] for tag in tags)
            assert unknown == item["name"].endswith(".edge")


def test_vectors_are_explained(tmp_path: Path) -> None:
    project_ = generated_project(tmp_path)
    output = project_.invoke("explain", "Event.point").output
    lines = (project_.root / "vectors/small.Event.event.json").read_text().split("\n")
    for kind in ("empty", "saturated", "edge"):
        line = next(i for i, text in enumerate(lines, 1) if f'"point.{kind}"' in text)
        assert f"vectors/small.Event.event.json:{line}  point.{kind}" in output


def test_layers_can_be_chosen(tmp_path: Path) -> None:
    made_ = project(tmp_path, PROTO, VECTORS + 'layers = ["enums"]\n').generated()
    names = sorted(path.name for path in (made_.root / "vectors").iterdir())
    assert names == ["enums.json", "sessiongen.json"]
    assert "vectors/" not in made_.invoke("explain", "Event.tick").output
