"""Bound packages over older messages: one ImportError, or code that leaves out what is missing."""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import generated_packages
import pytest
from sessiongen_command import Project, project

from sessiongen.targets.python.needed import with_known_version

OLD = """\
syntax = "proto3";
package small;

enum State {
  STATE_IDLE = 0;
}

message Tick {
  string text = 1;
  State state = 2;
}

message Part {
  oneof part {
    First first = 1;
    Second second = 2;
  }
}

message First {}
message Second {}

message Event {
  oneof event {
    Tick tick = 1;
    Parts parts = 3;
  }
}

message Parts {
  Part part = 1;
}

message Request {
  string request_id = 1;
  oneof request {
    First ping = 2;
  }
}

message Response {
  string request_id = 1;
  oneof response {
    First ping = 2;
  }
}
"""
NEW = (
    OLD.replace("STATE_IDLE = 0;", "STATE_IDLE = 0;\n  STATE_BUSY = 1;")
    .replace("State state = 2;", "State state = 2;\n  repeated int32 counts = 3;\n  Mood mood = 4;")
    .replace(
        "message Tick {", "enum Mood {\n  MOOD_CALM = 0;\n}\n\nmessage Third {}\n\nmessage Tick {"
    )
    .replace("Second second = 2;", "Second second = 2;\n    Third third = 3;")
    .replace("Parts parts = 3;", "Parts parts = 3;\n    Third tock = 4;")
    .replace("    First ping = 2;", "    First ping = 2;\n    First stop = 3;")
)
CONFIG = """\
[input]
messages = "installed.small_pb2"
{oldest}
[output]
path = "out"
package = "bound"
layers = ["dispatch", "requests", "events", "client", "enums", "encoders"]
"""
CODE = """\
import asyncio, json, sys
from types import SimpleNamespace as Object
from bound import client, dispatch, encoders, enums, events, requests
from installed import small_pb2 as pb

emitted, subscribed = [], []
class Sink(events.EventSink):
    def emit(self, event):
        emitted.append(event)
class Emitter:
    def on(self, event, callback):
        subscribed.append(event)
    def off(self, event, callback):
        pass
Sink().tick(text="a", state=0, counts=[1], mood=0)
events.subscribe(Emitter(), events.EventForwarders(tick=print, parts=print, tock=print))
source = Object(text="b", state="STATE_IDLE", counts=[1, 2], mood="MOOD_CALM")
parts = [encoders.encode_part(Object(type=name)).WhichOneof("part") for name in ("first", "third")]
class Client(client.RequestClient):
    async def send(self, request, timeout=None):
        return pb.Response(ping=request.ping)
asyncio.run(Client().ping())
names = [enums.state_from_name(name) for name in sys.argv[1:]]
handlers = dispatch.EventHandlers(tick=lambda tick: tick.text, parts=str, tock=str)
print(json.dumps({
    "sink": emitted[0].SerializeToString().hex(),
    "subscribed": subscribed,
    "encoded": encoders.encode_tick(source).SerializeToString().hex(),
    "parts": parts,
    "names": names,
    "dispatched": dispatch.dispatch_event(emitted[0], handlers),
}))
"""


def _messages(folder: Path, proto: str) -> Path:
    """Generates messages with protoc, in the package `installed` of a folder."""
    package = folder / "installed"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "small.proto").write_text(proto, encoding="utf-8")
    _compile(package)
    return folder


def _compile(package: Path) -> None:
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", "small.proto"]
    subprocess.run([*command, "--python_out=.", "--pyi_out=."], cwd=package, check=True)


@pytest.fixture
def bound(tmp_path: Path) -> Project:
    """Returns a project over new messages, with old ones in the folder `old`."""
    return bound_project(tmp_path, NEW, CONFIG.format(oldest=""))


def bound_project(tmp_path: Path, newest: str, config: str) -> Project:
    made = project(tmp_path / "new", proto=newest, config=config)
    _messages(made.root, newest)
    _messages(tmp_path / "old", OLD)
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", "small.proto"]
    output = f"--descriptor_set_out={made.root / 'old.binpb'}"
    subprocess.run([*command, output], cwd=tmp_path / "old" / "installed", check=True)
    return made


def _run(made: Project, messages: str, code: str, *arguments: str) -> Any:
    folder = made.root.parent / messages
    path = f"import sys; sys.path[:0] = ['{made.root / 'out'}', '{folder}']\n"
    done = subprocess.run(
        [sys.executable, "-c", path + code, *arguments], capture_output=True, text=True
    )
    return json.loads(done.stdout) if done.returncode == 0 else done.stderr.splitlines()[-1]


def test_older_messages_are_one_import_error(bound: Project) -> None:
    bound.generated()
    assert _run(bound, "old", "import bound.enums") == (
        "ImportError: bound needs newer messages in installed.small_pb2: the installed messages "
        "lack 2 of the 4 parts of Tick, 1 of the 3 parts of Part, 1 of the 3 parts of Event, "
        "1 of the 3 parts of Request, 1 of the 3 parts of Response, 1 of the 2 parts of State, "
        "Mood"
    )
    assert _run(bound, "new", "import bound.enums; print(1)") == 1


def test_code_for_the_oldest_messages(bound: Project) -> None:
    oldest = CONFIG.format(oldest='oldest = "old.binpb"')
    bound.config.write_text(oldest, encoding="utf-8")
    bound.generated()
    assert _run(bound, "new", CODE, "STATE_IDLE", "STATE_BUSY") == {
        # Field 1 is the text, field 3 the packed numbers.
        "sink": "0a06" + "0a0161" + "1a0101",
        "subscribed": ["tick", "parts", "tock"],
        "encoded": "0a0162" + "1a020102",
        "parts": ["first", "third"],
        "names": [0, 1],
        "dispatched": "a",
    }
    assert _run(bound, "old", CODE, "STATE_IDLE") == {
        "sink": "0a03" + "0a0161",
        "subscribed": ["tick", "parts"],
        "encoded": "0a0162",
        "parts": ["first", None],
        "names": [0],
        "dispatched": "a",
    }
    error = _run(bound, "old", CODE, "STATE_BUSY")
    assert (
        error == "bound.errors.UnmappedValueError: small.State has no counterpart of 'STATE_BUSY'"
    )


def test_type_checkers_accept_code_for_the_oldest_messages(bound: Project, tmp_path: Path) -> None:
    bound.config.write_text(CONFIG.format(oldest='oldest = "old.binpb"'), encoding="utf-8")
    bound.generated()
    assert _type_errors(bound, "new", tmp_path) == ""


def test_type_checkers_accept_newer_fields_and_enums_with_the_oldest_messages(
    bound: Project, tmp_path: Path
) -> None:
    # Newer arms are not in the types of the oldest messages.
    without = NEW
    for arm in ("    Third third = 3;\n", "    Third tock = 4;\n", "    First stop = 3;\n"):
        without = without.replace(arm, "")
    (bound.root / "installed" / "small.proto").write_text(without, encoding="utf-8")
    _compile(bound.root / "installed")
    bound.config.write_text(CONFIG.format(oldest='oldest = "old.binpb"'), encoding="utf-8")
    bound.generated()
    assert "newer.mood" in (bound.root / "out/bound/encoders.py").read_text(encoding="utf-8")
    assert _type_errors(bound, "new", tmp_path) == _type_errors(bound, "old", tmp_path) == ""


def _type_errors(made: Project, messages: str, cache: Path) -> str:
    """Returns what type checkers report in the package, with the types of some messages."""
    folder = made.root / "out" / "bound"
    imports = [made.root / "out", made.root.parent / messages]
    lines = generated_packages.mypy([folder], imports, cache / messages / "mypy").splitlines()
    errors = [line for line in lines if "error:" in line and "small_pb2.pyi" not in line]
    pyright = generated_packages.pyright([folder], imports, cache / messages / "pyright")
    return "\n".join([*errors, pyright]).strip()


def test_messages_older_than_the_oldest(bound: Project) -> None:
    bound.config.write_text(CONFIG.format(oldest='oldest = "old.binpb"'), encoding="utf-8")
    bound.generated()
    older = OLD.replace("  State state = 2;\n", "")
    _messages(bound.root.parent / "older", older)
    assert _run(bound, "older", "import bound.enums") == (
        "ImportError: bound needs old or newer: the installed messages lack "
        "1 of the 2 parts of Tick"
    )


DECODE = """\
import dataclasses, json, sys
from bound import decoders
from installed import small_pb2 as pb

tick = pb.Tick.FromString(bytes.fromhex(sys.argv[1]))
parts = [decoders.decode_part(pb.Part.FromString(bytes([tag, 0]))) for tag in (0x0A, 0x1A)]
names = [type(part).__name__ for part in parts]
print(json.dumps([dataclasses.asdict(decoders.decode_tick(tick)), *names], default=vars))
"""


def test_decoders_for_the_oldest_messages(tmp_path: Path) -> None:
    """A field that the messages lack has its zero value, and an arm that they lack is None."""
    added = "Mood mood = 4;\n  optional int32 size = 5;\n  map<int32, string> names = 7;"
    newest = NEW.replace("Mood mood = 4;", added + "\n  string note = 8;")
    config = CONFIG.format(oldest='oldest = "old.binpb"').replace('"client"', '"decoders"')
    made = bound_project(tmp_path, newest, config)
    made.generated()
    # The fields 1 to 5, an entry 5: "b" of field 7, and field 8.
    sent = "0a0161" + "1000" + "1a020102" + "2000" + "2807" + "3a050805120162" + "420163"
    assert _run(made, "new", DECODE, sent) == [
        {
            "text": "a",
            "state": "STATE_IDLE",
            "counts": [1, 2],
            "mood": "MOOD_CALM",
            "size": 7,
            "names": {"5": "b"},
            "note": "c",
        },
        "First",
        "Third",
    ]
    assert _run(made, "old", DECODE, sent) == [
        {
            "text": "a",
            "state": "STATE_IDLE",
            "counts": [],
            # The messages have no names for the values of this enum.
            "mood": {"enum": "small.Mood", "number": 0},
            "size": None,
            "names": {},
            "note": "",
        },
        "First",
        "NoneType",
    ]
    folder, imports = made.root / "out" / "bound", [made.root / "out", made.root]
    errors = generated_packages.mypy([folder], imports, tmp_path / "mypy").splitlines()
    assert [line for line in errors if "error:" in line and "small_pb2.pyi" not in line] == []
    assert generated_packages.pyright([folder], imports, tmp_path / "pyright") == ""


def test_the_version_of_a_published_package(tmp_path: Path) -> None:
    module = "livekit.protocol.agent_pb.agent_session"
    rest = '[annotations."livekit.agent.SessionRequest.ping"]\nresponse = "pong"\n'
    config = generated_packages.configured(tmp_path, "lk", f'messages = "{module}"', rest=rest)
    text = generated_packages.generate(config).text("needed.py")
    version = importlib.metadata.version("livekit-protocol")
    assert f'_REQUIREMENT = "livekit-protocol {version} or newer"' in text


@pytest.mark.parametrize(
    ("change", "kept"),
    [("", True), ("more", False)],
)
def test_the_version_stays_while_the_elements_do(change: str, kept: bool, tmp_path: Path) -> None:
    existing = '_REQUIREMENT = "acme 1.0 or newer"\n"Tick 2"\n'
    path = tmp_path / "needed.py"
    path.write_text(existing, encoding="utf-8")
    text = existing.replace("1.0", "1.1") + change
    assert with_known_version(text, path) == (existing if kept else text)
    assert with_known_version(text, tmp_path / "missing.py") == text
