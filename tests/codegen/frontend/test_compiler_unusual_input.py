"""Regression tests with unusual input, run in subprocesses."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BASE = """syntax = "proto3";
package {package};
{extra}
message A {{ string text = 1; }}
message Event {{ oneof event {{ A a = 1{options}; }} }}
message Request {{ string request_id = 1; oneof request {{ A a = 2; }} }}
message Response {{ string request_id = 1; oneof response {{ A a = 2; }} }}
"""


def base(package: str, extra: str = "", options: str = "") -> str:
    return BASE.format(package=package, extra=extra, options=options)


def project(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / "codegen.toml").write_text(
        f'[input]\nprotos = ["{name}"]\ninclude = ["."]\n[output]\npath = "out"\npackage = "made"\n'
    )


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def generate(folder: Path) -> subprocess.CompletedProcess[str]:
    script = Path(sys.executable).parent / "sessiongen"
    return subprocess.run(
        [script, "-q", "generate", "--no-cache"], cwd=folder, capture_output=True, text=True
    )


def imported(folder: Path, code: str = "") -> str:
    names = "client, dispatch, enums, events, requests, values"
    done = run(folder / "out", "-c", f"from made import {names}\n{code}")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


CLASHES = {
    "enum and message": ("enum Foo { F = 0; } message _Foo { string x = 1; }", "'_Foo' twice"),
    "constant": (
        "message C { string text = 1; string TEXT_FIELD_NUMBER = 2; }",
        "'TEXT_FIELD_NUMBER' twice in C",
    ),
    "alias": ("message Global___A { string x = 1; }", "'Global___A' twice"),
}


@pytest.mark.parametrize("name", CLASHES)
def test_names_that_the_stub_uses(name: str, tmp_path: Path) -> None:
    extra, fault = CLASHES[name]
    project(tmp_path, "m.proto", base("clash", extra))
    done = generate(tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("m.proto:1:1: error[SG017]: ")
    assert fault in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("module", ["tempfile", "black", "grpc_tools", "mypy_protobuf", "calendar"])
def test_modules_in_the_working_directory_are_not_run(module: str, tmp_path: Path) -> None:
    project(tmp_path, "m.proto", base("shadow"))
    (tmp_path / f"{module}.py").write_text(f'open({str(tmp_path / "RAN")!r}, "w")\n')
    done = generate(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert not (tmp_path / "RAN").exists()


def test_an_annotation_through_a_public_import(tmp_path: Path) -> None:
    (tmp_path / "door.proto").write_text(
        'syntax = "proto3";\nimport public "sessiongen/annotations.proto";\n'
    )
    text = base("public", 'import "door.proto";', ' [(sessiongen.sdk_event) = "knock"]')
    project(tmp_path, "m.proto", text)
    done = generate(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert imported(tmp_path, "print(dict(events.SDK_EVENTS))") == "{'a': 'knock'}"
    assert b"knock" not in (tmp_path / "out" / "made" / "m_pb2.py").read_bytes()


def test_a_well_known_file_in_a_folder_of_its_own(tmp_path: Path) -> None:
    extra = (
        'import "google/protobuf/compiler/plugin.proto";\n'
        "message V { google.protobuf.compiler.Version version = 1; }"
    )
    text = base("compiler", extra).replace("oneof request { A a", "oneof request { V a")
    project(tmp_path, "m.proto", text)
    done = generate(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    imported(tmp_path)


def test_link_to_a_proto_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "m.proto").write_text(base("link"))
    root = tmp_path / "root"
    project(root, "other.proto", base("other"))
    os.symlink(tmp_path / "real" / "m.proto", root / "m.proto")
    project(root, "m.proto", base("link"))
    done = generate(root)
    assert (done.returncode, done.stderr) == (0, "")


def test_file_name_with_an_encoding_declaration(tmp_path: Path) -> None:
    project(tmp_path, "coding=unicode_escape/m.proto", base("cookie"))
    done = generate(tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    imported(tmp_path)


def test_a_byte_order_mark_in_the_configuration(tmp_path: Path) -> None:
    project(tmp_path, "m.proto", base("mark"))
    config = tmp_path / "codegen.toml"
    config.write_bytes(b"\xef\xbb\xbf" + config.read_bytes())
    assert generate(tmp_path).returncode == 0


def test_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/b\xff"))
    try:
        project(folder, "m.proto", base("bytes"))
    except OSError:
        pytest.skip("this file system has no such names")
    done = generate(folder)
    assert done.returncode in (0, 2)
    assert "Traceback" not in done.stderr
    assert done.stderr.count("error[") <= 1


def test_an_input_moved_into_place_is_noticed(tmp_path: Path) -> None:
    project(tmp_path, "m.proto", base("moved"))
    assert generate(tmp_path).returncode == 0
    newer = tmp_path / "newer.proto"
    newer.write_text(base("moved", "message B { string text = 1; }"))
    os.utime(newer, (1, 1))
    newer.rename(tmp_path / "m.proto")
    assert run(tmp_path, "-m", "sessiongen", "check").returncode == 1


MORE_CLASHES = {
    "deprecated": (
        "message _deprecated { option deprecated = true; int32 a = 1; }",
        "would define '_deprecated' twice in the module",
    ),
    "dispatch": (
        'import "dispatch_foo.proto";',
        "'dispatch_foo_pb2', which dispatch.py uses itself",
    ),
}


@pytest.mark.parametrize("name", MORE_CLASHES)
def test_names_that_generated_code_uses(name: str, tmp_path: Path) -> None:
    extra, fault = MORE_CLASHES[name]
    other = 'syntax = "proto3";\npackage needs;\nmessage FooPb2 { oneof x { int32 a = 1; } }\n'
    (tmp_path / "dispatch_foo.proto").write_text(other)
    text = base("needs", extra)
    if name == "dispatch":
        text = text.replace("oneof event { A a", "oneof event { FooPb2 a")
    project(tmp_path, "m.proto", text)
    done = generate(tmp_path)
    assert done.returncode == 2
    assert "error[SG017]" in done.stderr and fault in done.stderr


def test_an_extension_that_hides_a_part_of_protobuf(tmp_path: Path) -> None:
    text = base("hides", "message B { extensions 100 to 200; }").replace("proto3", "proto2")
    text = text.replace("{ string", "{ optional string")
    text += "message M { extend B { optional int32 SerializeToString = 100; } }\n"
    project(tmp_path, "deep/m.proto", text)
    done = generate(tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("deep/m.proto:1:1: error[SG017]: ")
    assert "would hide 'SerializeToString'" in done.stderr


@pytest.mark.parametrize("package", ["google", "google.protobuf.small", "typing", "logging", "ﬁle"])
def test_packages_that_cannot_be_imported(package: str, tmp_path: Path) -> None:
    project(tmp_path, "m.proto", base("hidden"))
    config = tmp_path / "codegen.toml"
    config.write_text(config.read_text().replace('"made"', f'"{package}"'))
    done = generate(tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("codegen.toml:6:1: error[SG006]: ")


def test_option_that_is_not_utf_8(tmp_path: Path) -> None:
    extra = 'import "sessiongen/annotations.proto";'
    project(tmp_path, "m.proto", base("bad", extra, ' [(sessiongen.sdk_event) = "a\\377b"]'))
    done = generate(tmp_path)
    assert done.returncode == 2
    assert "invalid UTF-8" in done.stderr and "stack trace" not in done.stderr


def test_position_of_names_that_python_rejects(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "b.proto").write_text(
        'syntax = "proto2";\npackage link;\n'
        "message B { optional int32 a_b = 1; optional int32 aB = 2; }\n"
    )
    project(tmp_path, "m.proto", base("link", 'import "deep/b.proto";'))
    done = generate(tmp_path)
    assert done.returncode == 2
    assert "deep/b.proto:3:37: error[SG003]: the descriptors do not link" in done.stderr


def test_dangling_link_is_not_overwritten(tmp_path: Path) -> None:
    project(tmp_path, "m.proto", base("dangling"))
    (tmp_path / "out" / "made").mkdir(parents=True)
    link = tmp_path / "out" / "made" / "client.py"
    link.symlink_to(tmp_path / "nowhere")
    done = generate(tmp_path)
    assert done.returncode == 2
    assert "this file would be overwritten" in done.stderr
    assert link.is_symlink()


def test_messages_module_that_ends_the_process(tmp_path: Path) -> None:
    project(tmp_path, "m.proto", base("leaver"))
    (tmp_path / "leaver.py").write_text("import sys\nprint('[]')\nsys.exit(0)\n")
    (tmp_path / "codegen.toml").write_text(
        '[input]\nmessages = "leaver"\n[output]\npackage = "made"\n'
    )
    done = generate(tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("codegen.toml:2:1: error[SG004]: cannot read messages from")
    assert "the import ended the process" in done.stderr
