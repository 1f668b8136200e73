"""The vectors of generated/vectors, and what implementations in other languages make of them.

An implementation decodes and encodes each vector, and parses its JSON. Its result is a JSON
document:

- `messages`: for each vector `file`, `name`, the bytes it encoded again (`hex`), its `json`, and
  the bytes of the message that it parsed from the vector's JSON (`parsed`).
- `enums`: the numbers of the values of each enum by name; null for an enum that it lacks.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_session_protocol import agent_session_pb2
from google.protobuf import json_format, message_factory
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message
from interop_node import NODE_FOLDER
from interop_typescript import compiled

FOLDER = Path(__file__).resolve().parents[2] / "generated" / "vectors"
GO_FOLDER = Path(__file__).parent / "go"
# Where the Makefile looks for Go as well.
_GO = shutil.which("go") or "/usr/local/go/bin/go"
Json = Any


@dataclass(frozen=True)
class Vector:
    """A vector and the message that it is."""

    file: str
    name: str
    message: str
    arm: str
    hex: str
    json: Json

    @property
    def descriptor(self) -> Descriptor:
        """The type of the message in the contract."""
        types = agent_session_pb2.DESCRIPTOR.pool
        return types.FindMessageTypeByName(self.message)


@functools.cache
def vectors() -> list[Vector]:
    """Returns the vectors of all files."""
    return list(_read())


def _read() -> Iterator[Vector]:
    for path in sorted(FOLDER.glob("*.*.json")):
        data = json.loads(path.read_text(encoding="utf-8"))
        for item in data["vectors"]:
            values = (item[key] for key in ("arm", "hex", "json"))
            yield Vector(path.name, item["name"], data["message"], *values)


def enum_values() -> list[dict[str, Any]]:
    """Returns the values of all enums."""
    values: list[dict[str, Any]]
    values = json.loads((FOLDER / "enums.json").read_text(encoding="utf-8"))["values"]
    return values


def without(descriptor: Descriptor, data: Json, lacking: frozenset[str]) -> Json:
    """Returns the JSON of a message without fields, fields as `Message.field`."""
    result = {}
    by_json_name = {field.json_name: field for field in descriptor.fields}
    if descriptor.full_name.startswith("google.protobuf."):
        return data
    for key, value in data.items():
        field = by_json_name[key]
        if f"{descriptor.full_name.partition('.')[2]}.{field.name}" in lacking:
            continue
        kind = field.message_type
        if kind is not None and not kind.GetOptions().map_entry:
            several = isinstance(value, list)
            items = [without(kind, item, lacking) for item in (value if several else [value])]
            value = items if several else items[0]
        result[key] = value
    return result


def encoded_json(vector: Vector, data: Json) -> str:
    """Returns the bytes of the contract's own message for some JSON."""
    message: Message = message_factory.GetMessageClass(vector.descriptor)()
    json_format.ParseDict(data, message)
    return message.SerializeToString(deterministic=True).hex()


def node_result() -> dict[str, Any]:
    """Returns the result of the published JavaScript messages."""
    return _result(["node", "vectors.mjs", str(FOLDER)], NODE_FOLDER)


def own_node_result() -> dict[str, Any]:
    """Returns the result of the messages that protoc-gen-es 2 made of the contract."""
    folder = compiled(2)
    return _result(["node", "vectors.js", str(FOLDER)], folder)


@functools.cache
def go_is_missing() -> str | None:
    """Why the Go program cannot be built; None if it can. Downloads its modules."""
    if shutil.which(_GO) is None:
        return "Go is not installed"
    done = _go("mod", "download")
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines() or ["it gave no reason"]
    return f"go mod download failed: {lines[0]}"


def go_result(folder: Path) -> dict[str, Any]:
    """Returns the result of the published Go messages. folder: a place for the program."""
    program = folder / "vectors"
    built = _go("build", "-o", str(program), ".")
    assert built.returncode == 0, built.stderr
    return _result([str(program), str(FOLDER)], folder)


def _go(*arguments: str) -> subprocess.CompletedProcess[str]:
    # Another toolchain is not downloaded: an old Go is a reason to skip.
    env = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
    return subprocess.run(
        [_GO, *arguments], cwd=GO_FOLDER, env=env, capture_output=True, text=True, timeout=300
    )


def _result(command: list[str], folder: Path) -> dict[str, Any]:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def numbers(values: list[dict[str, Any]]) -> Mapping[str, dict[str, int]]:
    """Returns the numbers of the values of each enum."""
    result: dict[str, dict[str, int]] = {}
    for value in values:
        result.setdefault(value["enum"], {})[value["name"]] = value["number"]
    return result
