"""Tests that invalid and damaged input gives a diagnostic and status 2, never a traceback.

Nothing is written outside the output package.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sessiongen_command import CONFIG, PROTO, Project, invoke, project, run, tree
from google.protobuf import descriptor_pb2
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


def config_with_input(line: str) -> str:
    """Returns a configuration with another input."""
    return CONFIG.replace('protos = ["proto/small.proto"]', line)


def assert_nothing_written(
    small_project: Project, outcome_of: Callable[[], Any], valid: bool = False
) -> None:
    """Asserts that a run fails without a traceback and writes nothing."""
    before = tree(small_project.root.parent)
    outcome = outcome_of()
    assert outcome.status in ((0, 2) if valid else (2,)), outcome.all
    assert "Traceback" not in outcome.all
    after = tree(small_project.root.parent)
    inside = small_project.package.relative_to(small_project.root.parent).as_posix() + "/"
    assert {
        name for name in before.items() ^ after.items() if not name[0].startswith(inside)
    } == set()
    if outcome.status == 2:
        assert after == before
        assert "error[SG" in outcome.errors


GARBAGE = {
    "empty": b"",
    "no messages": b'syntax = "proto3";\npackage a;\n',
    "nul bytes": b"\0" * 100,
    "not UTF-8": b"message \xe9 {}",
    "five megabytes of a word": b"x" * 5_000_000,
    "five megabytes of comments": b"// x\n" * 1_000_000,
    "nested messages": b"message A {" * 5_000 + b"}" * 5_000,
    "nested braces": b"{" * 10_000,
    "nested comments": b"/*" * 10_000,
    "deep options": b'syntax = "proto3"; message A { option (a) = ' + b"{a:" * 5_000 + b"};}",
    "an unclosed string": b'syntax = "proto3',
    "a huge number": b'syntax = "proto3"; message A { int32 a = ' + b"9" * 9_999 + b"; }",
}


@pytest.mark.parametrize("name", GARBAGE)
def test_garbage_as_proto(name: str, tmp_path: Path) -> None:
    small_project = project(tmp_path / "in", GARBAGE[name])
    assert_nothing_written(small_project, lambda: small_project.invoke("generate"))


def test_comment_that_is_not_utf_8(tmp_path: Path) -> None:
    proto = PROTO.replace("Is anybody there?", "Gr\xf6\xdfe").encode("latin-1")
    small_project = project(tmp_path, proto).generated()
    assert "Gr\ufffd\ufffde" in small_project.invoke("explain", "ping").output


def test_comments_that_are_not_utf_8_anywhere(tmp_path: Path) -> None:
    """`init` and `generate` take them in front of, beside and after elements, and in imports."""
    proto = PROTO.replace("Is anybody there?", "Gr\xf6\xdfe").replace(
        "package small;", '// \xe4\npackage small; // \xe9\nimport "other.proto"; /* \xfc */'
    )
    small_project = project(tmp_path, (proto + "// \xff\n").encode("latin-1"))
    other = 'syntax = "proto3"; // \xe9\nmessage Other { /* \xf1 */ string text = 1; // \xe7\n}'
    (tmp_path / "proto" / "other.proto").write_bytes(other.encode("latin-1"))
    small_project.config.unlink()
    assert small_project.invoke("init", "proto/small.proto").status == 0
    assert small_project.invoke("generate").status == 0
    assert "Gr\ufffd\ufffde" in small_project.invoke("explain", "ping").output


@pytest.mark.parametrize(
    "path", ["/dev/null", ".", "proto/none.proto", "x" * 5_000, "a/../../b", "//"]
)
def test_paths_that_are_not_files(path: str, tmp_path: Path) -> None:
    for key, value in (("protos", f'["{path}"]'), ("descriptor_set", f'"{path}"')):
        small_project = project(tmp_path / "in", config=config_with_input(f"{key} = {value}"))
        assert_nothing_written(small_project, lambda: small_project.invoke("generate"))
    small_project = project(tmp_path / "in")
    assert_nothing_written(
        small_project, lambda: small_project.invoke("--config", path, "generate")
    )


VOCABULARIES = [
    b"",
    b"[]",
    b"{",
    b"null",
    b"[" * 9_999,
    b"\xff",
    b'{"language": 7}',
    b'{"enums": {"a": 1}}',
]


@pytest.mark.parametrize("data", [*VOCABULARIES, None])
def test_garbage_as_vocabulary(data: bytes | None, tmp_path: Path) -> None:
    config = f'{CONFIG}\n[sdks]\nvocabularies = ["sdk.json"]\n'
    small_project = project(tmp_path / "in", config=config)
    if data is not None:
        (small_project.root / "sdk.json").write_bytes(data)
    assert_nothing_written(small_project, lambda: small_project.invoke("generate"))


def test_an_output_path_beyond_the_file_system(tmp_path: Path) -> None:
    small_project = project(tmp_path / "in", config=CONFIG.replace('"out"', f'"{"x" * 5_000}"'))
    assert_nothing_written(small_project, lambda: small_project.invoke("generate"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_an_unreadable_file(tmp_path: Path) -> None:
    small_project = project(tmp_path / "in").generated()
    small_project.proto.chmod(0)
    assert_nothing_written(small_project, lambda: small_project.invoke("generate", "--no-cache"))


def descriptors(**changes: Any) -> descriptor_pb2.FileDescriptorProto:
    """Returns the descriptors of the small protocol, changed."""
    file = descriptor_pb2.FileDescriptorProto(name="small.proto", package="small", syntax="proto3")
    file.message_type.add(name="Empty")
    for name, oneof, arm in (
        ("Event", "event", "tick"),
        ("Request", "request", "ping"),
        ("Response", "response", "ping"),
    ):
        message = file.message_type.add(name=name)
        message.oneof_decl.add(name=oneof)
        message.field.add(
            name=arm, number=1, label=1, type=11, type_name=".small.Empty", oneof_index=0
        )
    for key, value in changes.items():
        setattr(file, key, value)
    return file


def assert_set_is_refused(tmp_path: Path, data: bytes, valid: bool = False) -> None:
    small_project = project(tmp_path / "in", config=config_with_input('descriptor_set = "a.binpb"'))
    (small_project.root / "a.binpb").write_bytes(data)
    assert_nothing_written(
        small_project, lambda: small_project.invoke("generate", "--no-cache"), valid
    )


def test_the_unchanged_set_is_valid(tmp_path: Path) -> None:
    small_project = project(tmp_path, config=config_with_input('descriptor_set = "a.binpb"'))
    files = [descriptors()]
    (tmp_path / "a.binpb").write_bytes(
        descriptor_pb2.FileDescriptorSet(file=files).SerializeToString()
    )
    small_project.generated()


NAMES = [
    "../../evil.proto",
    "/tmp/evil.proto",
    "a/../../../evil.proto",
    "",
    ".",
    "..",
    "a\nimport os.proto",
    'a"""b.proto',
    "a\\b.proto",
    "a\0.proto",
    "a//b.proto",
    "\x1b[31m.proto",
]


@pytest.mark.parametrize("name", NAMES)
def test_sets_with_hostile_file_names(name: str, tmp_path: Path) -> None:
    assert_set_is_refused(
        tmp_path,
        descriptor_pb2.FileDescriptorSet(file=[descriptors(name=name)]).SerializeToString(),
    )
    assert not list(tmp_path.rglob("*evil*"))


def broken(change: Callable[[descriptor_pb2.FileDescriptorProto], object]) -> bytes:
    file = descriptors()
    change(file)
    return descriptor_pb2.FileDescriptorSet(file=[file]).SerializeToString()


BROKEN = {
    "nothing": b"",
    "a name in quotes": broken(lambda file: setattr(file.message_type[0], "name", 'E"m')),
    "a name in lines": broken(lambda file: setattr(file.message_type[0], "name", "E\nm")),
    "a name of nothing": broken(lambda file: setattr(file.message_type[0], "name", "")),
    "a package in lines": broken(lambda file: setattr(file, "package", "a\nb")),
    "a broken reference": broken(
        lambda file: setattr(file.message_type[1].field[0], "type_name", ".no.Thing")
    ),
    "a oneof out of range": broken(
        lambda file: setattr(file.message_type[1].field[0], "oneof_index", 9)
    ),
    "an empty oneof": broken(lambda file: file.message_type[1].field[0].ClearField("oneof_index")),
    "field number zero": broken(lambda file: setattr(file.message_type[1].field[0], "number", 0)),
    "an unknown syntax": broken(lambda file: setattr(file, "syntax", "proto9")),
    "a missing import": broken(lambda file: file.dependency.append("no.proto")),
    "an import of itself": broken(lambda file: file.dependency.append("small.proto")),
    "a public import of none": broken(lambda file: file.public_dependency.append(7)),
    "a file twice": descriptor_pb2.FileDescriptorSet(
        file=[descriptors(), descriptors()]
    ).SerializeToString(),
    "a type twice": descriptor_pb2.FileDescriptorSet(
        file=[descriptors(), descriptors(name="b.proto")]
    ).SerializeToString(),
    "other annotations": descriptor_pb2.FileDescriptorSet(
        file=[
            descriptor_pb2.FileDescriptorProto(name="sessiongen/annotations.proto"),
            descriptors(),
        ]
    ).SerializeToString(),
    "a circle": descriptor_pb2.FileDescriptorSet(
        file=[
            descriptor_pb2.FileDescriptorProto(name="a.proto", dependency=["b.proto"]),
            descriptor_pb2.FileDescriptorProto(name="b.proto", dependency=["a.proto"]),
        ]
    ).SerializeToString(),
    "bytes for a name": broken(lambda file: None).replace(b"small.proto", b"small.\xffroto"),
    "only well-known files": descriptor_pb2.FileDescriptorSet(
        file=[descriptors(name="google/protobuf/timestamp.proto")]
    ).SerializeToString(),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_sets(name: str, tmp_path: Path) -> None:
    assert_set_is_refused(tmp_path, BROKEN[name])


BRIEF = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
EDITS = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=4
)


@settings(BRIEF)
@given(data=st.binary(max_size=200))
def test_random_bytes_as_a_set(data: bytes, tmp_path: Path) -> None:
    explained(tmp_path, data)


@settings(BRIEF, max_examples=250)
@given(edits=EDITS)
def test_mutated_sets(edits: list[tuple[float, int]], tmp_path: Path) -> None:
    data = bytearray(broken(lambda file: None))
    for position, byte in edits:
        data[int(position * len(data))] = byte
    explained(tmp_path, bytes(data))


def explained(folder: Path, data: bytes) -> None:
    """Reads a set with `explain`, which goes as far as generate does before it renders."""
    (folder / "a.binpb").write_bytes(data)
    project(folder)
    outcome = invoke(folder, "explain", "--descriptor-set", "a.binpb", "ping")
    assert outcome.status in (0, 2)


@settings(BRIEF)
@given(edits=EDITS)
def test_mutated_configurations(edits: list[tuple[float, int]], tmp_path: Path) -> None:
    data = bytearray(
        f"{CONFIG}[roles]\ncorrelation = false\n[annotations.'a.b']\nunknown = '\\u00e4'\n".encode()
    )
    for position, byte in edits:
        data[int(position * len(data))] = byte
    # There is no .proto file: these runs end before protoc starts.
    small_project = project(tmp_path, config=bytes(data))
    small_project.proto.unlink()
    assert small_project.invoke("generate").status == 2


@settings(BRIEF, max_examples=10)
@given(edits=EDITS)
def test_mutated_protos(edits: list[tuple[float, int]], tmp_path: Path) -> None:
    data = bytearray(PROTO.encode())
    for position, byte in edits:
        data[int(position * len(data))] = byte
    outcome = project(tmp_path, bytes(data)).invoke("explain", "ping")
    assert outcome.status in (0, 2)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 5_000,
        "x = " + "[" * 5_000,
        "x = " + "{a=" * 5_000,
        "[" + "a." * 5_000 + "a]",
        "x = " + "9" * 5_000,
    ],
)
def test_deeply_nested_configurations(text: str, tmp_path: Path) -> None:
    small_project = project(tmp_path / "in", config=text)
    assert_nothing_written(small_project, lambda: small_project.invoke("generate"))


def test_terminal_with_a_narrow_encoding(tmp_path: Path) -> None:
    small_project = project(tmp_path, PROTO.replace("// Is anybody there?", "// Größe 日本"))
    env = {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}
    outcome = run(small_project.root, "explain", "ping", env=env)
    assert outcome.status == 0
    assert "e \\u65e5\\u672c" in outcome.output
    outcome = run(small_project.root, "--format", "github", "explain", "日", env=env)
    assert (outcome.status, outcome.errors) == (2, "")


def test_a_configuration_whose_name_is_not_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.toml")
    for form in ("text", "github", "json"):
        done = subprocess.run(
            [sys.executable, "-m", "sessiongen", "--format", form, "--config", name, "check"],
            cwd=tmp_path,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 2
        assert b"Traceback" not in done.stdout + done.stderr
