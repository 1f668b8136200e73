"""`init` writes a configuration from which `generate` works.

Roles that cannot be inferred are tested in test_scaffold_roles.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomli
from sessiongen_command import (
    CONFIG,
    PROTO,
    UNPAIRED,
    compile_set,
    fresh,
    invoke,
    place_of,
    project,
)
from google.protobuf import descriptor_pb2


def test_init_writes_what_it_found(tmp_path: Path) -> None:
    small_project = fresh(tmp_path)
    outcome = small_project.invoke("init", "proto/small.proto")
    assert outcome.status == 0
    assert outcome.output.splitlines() == [
        "envelope: small.Envelope",
        "event: small.Event",
        "request: small.Request",
        "response: small.Response",
        "correlation: request_id",
        "error: -  (a host cannot answer with an error text; `answer` raises instead)",
        "timestamp: -  (events do not carry the time of their creation)",
        "requests: 1",
        "events: 1",
        "wrote codegen.toml; now run `sessiongen generate`",
    ]
    assert tomli.loads(small_project.config.read_text(encoding="utf-8")) == {
        "input": {"protos": ["proto/small.proto"], "include": ["proto"]},
        "output": [{"language": "python", "path": "generated/python", "package": "small_protocol"}],
        "roles": {
            "envelope": "small.Envelope",
            "event": "small.Event",
            "request": "small.Request",
            "response": "small.Response",
            "correlation": "request_id",
        },
    }
    small_project.generated()
    assert (tmp_path / "generated" / "python" / "small_protocol" / "events.py").is_file()
    assert small_project.invoke("check").status == 0


def test_init_refuses_to_overwrite(tmp_path: Path) -> None:
    small_project = project(tmp_path)
    outcome = small_project.invoke("init", "proto/small.proto")
    assert outcome.status == 2
    assert outcome.errors.startswith("codegen.toml:1:1: error[SG008]: ")
    assert small_project.config.read_text(encoding="utf-8") == CONFIG


def test_init_writes_elsewhere(tmp_path: Path) -> None:
    small_project = fresh(tmp_path)
    (tmp_path / "api").mkdir()
    assert small_project.invoke("--config", "api/gen.toml", "init", "proto/small.proto").status == 0
    written = tomli.loads((tmp_path / "api" / "gen.toml").read_text(encoding="utf-8"))
    assert written["input"] == {"protos": ["../proto/small.proto"], "include": ["../proto"]}
    assert small_project.invoke("--config", "api/gen.toml", "generate").status == 0
    outcome = small_project.invoke("--config", "none/gen.toml", "init", "proto/small.proto")
    assert outcome.status == 2
    assert outcome.errors.startswith(
        "none/gen.toml:1:1: error[SG024]: cannot write the configuration: "
    )


def test_init_names_every_message_that_may_have_a_role(tmp_path: Path) -> None:
    proto = (
        PROTO.replace("    Event event = 1;\n", "")
        + "message LateEvent { oneof e { Empty a = 1; } }\n"
    )
    small_project = fresh(tmp_path, proto)
    records = small_project.invoke("--format", "json", "init", "proto/small.proto").records()
    assert [(item["rule"], item["line"]) for item in records] == [
        ("SG011", place_of(proto, "message Event")[0]),
        ("SG011", place_of(proto, "message LateEvent")[0]),
    ]
    assert records[0]["help"].endswith('[roles] event = "small.Event"')


def test_init_with_include_paths(tmp_path: Path) -> None:
    small_project = fresh(
        tmp_path,
        PROTO.replace("message Empty {}", 'import "common/empty.proto";').replace(
            "Empty ", "common.Empty "
        ),
    )
    (tmp_path / "lib" / "common").mkdir(parents=True)
    (tmp_path / "lib" / "common" / "empty.proto").write_text(
        'syntax = "proto3"; package common; message Empty {}', encoding="utf-8"
    )
    without = small_project.invoke("init", "proto/small.proto")
    assert without.status == 2
    assert "add the folder of this file to the include paths, with -I" in without.errors
    assert not small_project.config.exists()
    assert small_project.invoke("init", "-I", "proto", "-I", "lib", "proto/small.proto").status == 0
    assert 'include = ["proto", "lib"]' in small_project.config.read_text(encoding="utf-8")
    small_project.generated()


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (["no.proto"], "no.proto:1:1: error[SG002]: there is no file here"),
        (["proto"], "proto:1:1: error[SG002]: there is no file here"),
        (["-I", "no", "proto/small.proto"], "no:1:1: error[SG002]: there is no folder here"),
        (["--descriptor-set", "no.binpb"], "no.binpb:1:1: error[SG002]: cannot read"),
        (["--messages", "no_such"], "codegen.toml:1:1: error[SG004]: cannot read messages"),
    ],
)
def test_init_of_nothing(arguments: list[str], place: str, tmp_path: Path) -> None:
    small_project = fresh(tmp_path)
    outcome = small_project.invoke("init", *arguments)
    assert outcome.status == 2
    assert outcome.errors.startswith(place)
    assert not small_project.config.exists()


def test_init_of_a_descriptor_set(tmp_path: Path) -> None:
    small_project = fresh(tmp_path)
    compile_set(small_project)
    assert small_project.invoke("init", "--descriptor-set", "small.binpb").status == 0
    assert 'descriptor_set = "small.binpb"' in small_project.config.read_text(encoding="utf-8")
    small_project.generated()
    assert small_project.invoke("check").status == 0
    data = descriptor_pb2.FileDescriptorSet.FromString((tmp_path / "small.binpb").read_bytes())
    arm = data.file[0].message_type[1].field.add()
    arm.CopyFrom(data.file[0].message_type[1].field[0])
    arm.name, arm.json_name, arm.number = "tock", "tock", 7
    (tmp_path / "small.binpb").write_bytes(data.SerializeToString())
    assert small_project.invoke("check").status == 1


@pytest.mark.parametrize(
    "name", ["a'b.proto", "ä😀.proto", "a b.proto", "1st.proto", "class.proto", "A-b.c.proto"]
)
def test_init_of_an_odd_name(name: str, tmp_path: Path) -> None:
    small_project = fresh(tmp_path)
    small_project.proto.rename(tmp_path / "proto" / name)
    assert small_project.invoke("init", f"proto/{name}").status == 0
    written = tomli.loads(small_project.config.read_text(encoding="utf-8"))
    assert written["input"]["protos"] == [f"proto/{name}"]
    small_project.generated()


def test_init_names_what_has_no_partner_and_leaves_a_place_for_it(tmp_path: Path) -> None:
    small_project = fresh(tmp_path, UNPAIRED)
    outcome = small_project.invoke("init", "proto/small.proto")
    assert outcome.status == 2
    line, column = place_of(UNPAIRED, "Empty frobnicate")
    assert outcome.errors.startswith(
        f'proto/small.proto:{line}:{column}: error[SG014]: request arm "frobnicate" has no response arm'
    )
    assert "now name the missing answers" in outcome.output
    text = small_project.config.read_text(encoding="utf-8")
    answer = '"small.Request.frobnicate".response = '
    assert f'# {answer}"ping"\n# {answer}false\n' in text
    assert small_project.invoke("generate").status == 2
    small_project.config.write_text(
        text.replace(f"# {answer}false", f"{answer}false"), encoding="utf-8"
    )
    small_project.generated()


def test_init_of_a_published_module_with_one_unpaired_arm(tmp_path: Path) -> None:
    outcome = invoke(tmp_path, "init", "--messages", "livekit.rtc._proto.ffi_pb2")
    assert outcome.status == 2
    assert 'request arm "edit_chat_message" has no response arm' in outcome.errors
    assert (
        '[annotations."livekit.proto.FfiRequest.edit_chat_message"] response = "..."'
        in outcome.errors
    )
    config = tmp_path / "codegen.toml"
    written = tomli.loads(config.read_text(encoding="utf-8"))
    assert written["input"] == {"messages": "livekit.rtc._proto.ffi_pb2"}
    assert written["output"][0]["package"] == "ffi_protocol"
    roles = written["roles"]
    assert [roles[role] for role in ("event", "request", "response")] == [
        "livekit.proto.FfiEvent",
        "livekit.proto.FfiRequest",
        "livekit.proto.FfiResponse",
    ]
    assert set(roles) == {"event", "request", "response"}
    text = config.read_text(encoding="utf-8")
    answer = '"livekit.proto.FfiRequest.edit_chat_message".response = "send_chat_message"'
    assert f"\n# {answer}\n" in text
    config.write_text(text.replace(f"# {answer}", answer), encoding="utf-8")
    # test_message_module.py generates from this module.
    outcome = invoke(tmp_path, "explain", "FfiRequest.edit_chat_message")
    assert outcome.status == 0
    assert re.search(r"answered by +send_chat_message, field ", outcome.output)


@pytest.mark.parametrize(
    ("file", "package"),
    [
        ("session.v2.proto", "session_v2_protocol"),
        ("session-1.1.29.proto", "session_protocol"),
        ("session-v3.proto", "session_protocol"),
        ("my-session.proto", "my_session_protocol"),
        ("7.proto", "p7_protocol"),
    ],
)
def test_the_package_is_named_after_the_file_without_its_version(
    file: str, package: str, tmp_path: Path
) -> None:
    (tmp_path / file).write_text(PROTO, encoding="utf-8")
    assert invoke(tmp_path, "init", file).status == 0
    written = tomli.loads((tmp_path / "codegen.toml").read_text(encoding="utf-8"))
    assert written["output"][0]["package"] == package
