"""Small protocols in folders, and runs of the command on them."""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from sessiongen.cli.main import main

ROOT = Path(__file__).resolve().parents[3]
PROTO = """\
syntax = "proto3";
package small;

message Empty {}

message Event {
  oneof event {
    Empty tick = 1;
  }
}

message Request {
  string request_id = 1;
  oneof request {
    // Is anybody there?
    Empty ping = 2;
  }
}

message Response {
  string request_id = 1;
  oneof response {
    Empty ping = 2;
  }
}

message Envelope {
  oneof message {
    Event event = 1;
    Request request = 2;
    Response response = 3;
  }
}
"""
# A request that no response answers.
UNPAIRED = PROTO.replace("// Is anybody there?", "Empty frobnicate = 9;")
CONFIG = """\
[input]
protos = ["proto/small.proto"]

[output]
path = "out"
package = "small_protocol"
"""
FILES = [
    "__init__.py",
    "client.py",
    "connection.py",
    "decoders.py",
    "dispatch.py",
    "encoders.py",
    "enums.py",
    "errors.py",
    "events.py",
    "fields.py",
    "models.py",
    "peer.py",
    "py.typed",
    "requests.py",
    "responses.py",
    "sessiongen.json",
    "small_pb2.py",
    "small_pb2.pyi",
    "values.py",
]


@dataclass(frozen=True)
class Outcome:
    """The output and the exit status of a run."""

    status: int
    output: str
    errors: str

    @property
    def all(self) -> str:
        return self.output + self.errors

    def records(self) -> list[dict[str, Any]]:
        """Returns the diagnostics of a run with --format json."""
        result: list[dict[str, Any]] = json.loads(self.output)
        return result


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Makes a folder the working directory of the block."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def invoke(folder: Path, *arguments: str) -> Outcome:
    """Runs the command in this process; an exception other than an exit fails the test."""
    with working_in(folder):
        result = CliRunner().invoke(main, list(arguments), catch_exceptions=False)
    return Outcome(result.exit_code, result.stdout, result.stderr)


def start(
    folder: Path, *arguments: str, env: Mapping[str, str] | None = None, **options: Any
) -> subprocess.Popen[str]:
    """Starts the command in a subprocess with its own process group."""
    return subprocess.Popen(
        [sys.executable, "-m", "sessiongen", *arguments],
        cwd=folder,
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,
        **options,
    )


def run(folder: Path, *arguments: str, env: Mapping[str, str] | None = None) -> Outcome:
    """Runs the command in a subprocess."""
    process = start(folder, *arguments, env=env)
    output, errors = process.communicate(timeout=120)
    return Outcome(process.returncode, output, errors)


@dataclass(frozen=True)
class Project:
    """A folder with a small protocol and its codegen.toml."""

    root: Path

    @property
    def proto(self) -> Path:
        return self.root / "proto" / "small.proto"

    @property
    def config(self) -> Path:
        return self.root / "codegen.toml"

    @property
    def package(self) -> Path:
        return self.root / "out" / "small_protocol"

    def invoke(self, *arguments: str) -> Outcome:
        return invoke(self.root, *arguments)

    def generated(self) -> Project:
        """Runs generate, which must succeed."""
        outcome = self.invoke("generate")
        assert outcome.status == 0, outcome.all
        return self

    def edit(self, old: str, new: str) -> None:
        """Replaces one place in the protocol."""
        text = self.proto.read_text(encoding="utf-8")
        assert text.count(old) == 1, old
        self.proto.write_text(text.replace(old, new), encoding="utf-8")

    def add_arm(self) -> None:
        """Adds an arm to the event, which changes some of the generated files."""
        self.edit("Empty tick = 1;", "Empty tick = 1;\n    Empty tock = 2;")


def project(root: Path, proto: str | bytes = PROTO, config: str | bytes = CONFIG) -> Project:
    """Writes a project into a folder."""
    project_ = Project(root)
    for path, text in ((project_.proto, proto), (project_.config, config)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    return project_


def fresh(root: Path, proto: str = PROTO) -> Project:
    """Returns a project without a configuration."""
    project_ = project(root, proto)
    project_.config.unlink()
    return project_


def compile_set(project_: Project) -> None:
    """Writes the protocol of a project as small.binpb."""
    command = [sys.executable, "-m", "grpc_tools.protoc", "-Iproto", "small.proto"]
    subprocess.run([*command, "--descriptor_set_out=small.binpb"], cwd=project_.root, check=True)


@lru_cache
def _generated_folder() -> Path:
    """Returns the folder of a generated project that all tests of this process copy."""
    folder = Path(tempfile.mkdtemp(prefix="sessiongen-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    project(folder).generated()
    return folder


def generated_copy(root: Path) -> Project:
    """Returns a copy of a generated project, with old timestamps."""
    shutil.copytree(_generated_folder(), root)
    project_ = Project(root)
    age(project_.package)
    return project_


@lru_cache
def tree_with_arm() -> dict[str, str]:
    """Returns the files of the package after `add_arm`, generated in another folder."""
    with tempfile.TemporaryDirectory(prefix="sessiongen-tests-") as folder:
        project_ = project(Path(folder))
        project_.add_arm()
        return tree(project_.generated().package)


def tree(folder: Path) -> dict[str, str]:
    """Returns the digest of each file below a folder, but for caches."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.is_symlink()
        if not {".sessiongen-cache", "__pycache__"} & set(path.relative_to(folder).parts)
    }


def stamps(folder: Path) -> dict[str, int]:
    """Returns the modification time of each file of a folder."""
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.is_file()}


def age(folder: Path) -> None:
    """Sets the modification times of a folder's files to a second long past."""
    for path in folder.iterdir():
        os.utime(path, (1_000_000_000, 1_000_000_000))


def place_of(text: str, marker: str) -> tuple[int, int]:
    """Returns line and column, counted from 1 in characters, of the only `marker`."""
    assert text.count(marker) == 1, marker
    before = text[: text.index(marker)]
    return before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1


def replaced(path: Path, old: str, new: str) -> None:
    """Replaces the one place of a file that holds a text."""
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def crlf(path: Path) -> None:
    """Gives a file the line ends of Windows."""
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


def install_messages(made: Project) -> None:
    """Generates the messages of a project's small.proto with protoc, in the package `installed`."""
    folder = made.root / "installed"
    folder.mkdir()
    (folder / "__init__.py").touch()
    command = [sys.executable, "-m", "grpc_tools.protoc", "-Iproto", "small.proto"]
    outputs = ["--python_out=installed", "--pyi_out=installed"]
    subprocess.run([*command, *outputs], cwd=made.root, check=True)
