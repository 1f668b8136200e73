"""`explain`, `init` and shell completion.

In: small protocols and their generated packages. Out: entries whose lines point at the
symbols they name, configurations from which `generate` works, and words for the shell.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import tomli
from cli_support import CONFIG, PROTO, Outcome, Project, invoke, place_of, project, ready, run, tree
from google.protobuf import descriptor_pb2

CODERS = ["encoders.py", "models.py", "decoders.py"]
UNPAIRED = PROTO.replace("// Is anybody there?", "Empty frobnicate = 9;")


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return ready(tmp_path / "in")


def entries(outcome: Outcome) -> list[dict[str, Any]]:
    assert outcome.status == 0, outcome.all
    result: list[dict[str, Any]] = json.loads(outcome.output)
    return result


def facts(entry: dict[str, Any]) -> set[tuple[str, str]]:
    return {(item["label"], item["text"]) for item in entry["facts"]}


# explain


def test_an_arm_of_two_unions(made: Project) -> None:
    line, column = place_of(PROTO, "Empty ping = 2;\n  }\n}\n\nmessage Response")
    request, response = entries(made.invoke("--format", "json", "explain", "ping"))
    assert request["arm"] == "small.Request.ping"
    assert request["declared"] == f"proto/small.proto:{line}:{column}"
    assert request["docs"] == "Is anybody there?"
    assert facts(request) == {
        ("oneof", "small.Request.request, field 2"),
        ("payload", "small.Empty"),
        ("role", "request"),
        ("answered by", "ping, field 2"),
    }
    assert response["arm"] == "small.Response.ping"
    assert ("answers", "ping, field 2") in facts(response)


def test_the_text_form(made: Project) -> None:
    line, column = place_of(PROTO, "Empty ping = 2;\n  }\n}\n\nmessage Response")
    outcome = made.invoke("explain", "Request.ping")
    shown = outcome.output.splitlines()
    assert shown[:6] == [
        f"small.Request.ping  proto/small.proto:{line}:{column}",
        "    Is anybody there?",
        "  oneof        small.Request.request, field 2",
        "  payload      small.Empty",
        "  role         request",
        "  answered by  ping, field 2",
    ]
    assert shown[6].startswith("  generated    out/small_protocol/dispatch.py:")
    assert all(line.startswith("               out/small_protocol/") for line in shown[7:])
    assert made.invoke("-q", "explain", "Request.ping") == outcome


def defined(path: Path) -> dict[str, int]:
    """Return the line of each name that a module defines, in classes too."""
    lines: dict[str, int] = {}
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        inside = node.body if isinstance(node, ast.ClassDef) else []
        outer = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for prefix, item in [("", node), *((outer, child) for child in inside)]:
            if isinstance(item, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
                lines[prefix + item.name] = item.lineno
            elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                lines[prefix + item.target.id] = item.lineno
    return lines


@pytest.mark.parametrize(
    ("arm", "files"),
    [
        ("tick", ["dispatch.py", "dispatch.py", "events.py", "events.py", "events.py", *CODERS]),
        ("Request.ping", ["dispatch.py", "dispatch.py", "requests.py", "client.py"]),
        ("Response.ping", ["dispatch.py", "dispatch.py", *CODERS]),
        ("Envelope.event", ["dispatch.py", "dispatch.py"]),
    ],
)
def test_lines_point_at_the_symbols(arm: str, files: list[str], made: Project) -> None:
    [entry] = entries(made.invoke("--format", "json", "explain", arm))
    found = []
    for item in entry["generated"]:
        path, _, line = item["place"].rpartition(":")
        assert defined(made.root / path)[item["symbol"]] == int(line)
        found.append(Path(path).name)
    assert found == files


def test_before_generate_places_have_no_line(tmp_path: Path) -> None:
    made = project(tmp_path)
    [entry] = entries(made.invoke("--format", "json", "explain", "tick"))
    assert [item["place"] for item in entry["generated"]][:1] == ["out/small_protocol/dispatch.py"]
    assert tree(tmp_path).keys() == {"codegen.toml", "proto/small.proto"}


def test_a_response_that_answers_two_requests(tmp_path: Path) -> None:
    config = CONFIG + '[annotations."small.Request.frobnicate"]\nresponse = "ping"\n'
    made = project(tmp_path, UNPAIRED, config)
    [entry] = entries(made.invoke("--format", "json", "explain", "Response.ping"))
    assert {("answers", "ping, field 2"), ("answers", "frobnicate, field 9")} <= facts(entry)


@pytest.mark.parametrize(
    ("name", "help_"),
    [
        ("pings", "did you mean ping?"),
        ("tik", "did you mean tick?"),
        ("qqqq", "name an arm of any oneof"),
        ("", "name an arm of any oneof"),
    ],
)
def test_an_unknown_arm(name: str, help_: str, made: Project) -> None:
    outcome = made.invoke("explain", name)
    assert outcome.status == 2
    assert outcome.errors.splitlines() == [
        f"codegen.toml:1:1: error[SG026]: the protocol has no arm {name!r}",
        f"  help: {help_}",
    ]


def test_explain_reads_a_descriptor_set(made: Project) -> None:
    compile_set(made)
    [entry] = entries(
        made.invoke("--format", "json", "explain", "--descriptor-set", "small.binpb", "tick")
    )
    assert entry["declared"] == "small.binpb#small.proto:1:1"


# init


def compile_set(made: Project) -> None:
    command = [sys.executable, "-m", "grpc_tools.protoc", "-Iproto", "small.proto"]
    subprocess.run([*command, "--descriptor_set_out=small.binpb"], cwd=made.root, check=True)


def fresh(root: Path, proto: str = PROTO) -> Project:
    """Return a project without a configuration."""
    made = project(root, proto)
    made.config.unlink()
    return made


def test_init_writes_what_it_found(tmp_path: Path) -> None:
    made = fresh(tmp_path)
    outcome = made.invoke("init", "proto/small.proto")
    assert outcome.status == 0
    assert outcome.output.splitlines() == [
        "envelope: small.Envelope",
        "event: small.Event",
        "request: small.Request",
        "response: small.Response",
        "correlation: request_id",
        "error: -",
        "timestamp: -",
        "requests: 1",
        "events: 1",
        "wrote codegen.toml; now run `sessiongen generate`",
    ]
    assert tomli.loads(made.config.read_text(encoding="utf-8")) == {
        "input": {"protos": ["proto/small.proto"], "include": ["proto"]},
        "output": {"path": "generated/python", "package": "small_protocol"},
        "roles": {
            "envelope": "small.Envelope",
            "event": "small.Event",
            "request": "small.Request",
            "response": "small.Response",
            "correlation": "request_id",
        },
    }
    made.generated()
    assert (tmp_path / "generated" / "python" / "small_protocol" / "events.py").is_file()
    assert made.invoke("check").status == 0


def test_init_refuses_to_overwrite(tmp_path: Path) -> None:
    made = project(tmp_path)
    outcome = made.invoke("init", "proto/small.proto")
    assert outcome.status == 2
    assert outcome.errors.startswith("codegen.toml:1:1: error[SG008]: ")
    assert made.config.read_text(encoding="utf-8") == CONFIG


def test_init_writes_elsewhere(tmp_path: Path) -> None:
    made = fresh(tmp_path)
    (tmp_path / "api").mkdir()
    assert made.invoke("--config", "api/gen.toml", "init", "proto/small.proto").status == 0
    written = tomli.loads((tmp_path / "api" / "gen.toml").read_text(encoding="utf-8"))
    assert written["input"] == {"protos": ["../proto/small.proto"], "include": ["../proto"]}
    assert made.invoke("--config", "api/gen.toml", "generate").status == 0
    outcome = made.invoke("--config", "none/gen.toml", "init", "proto/small.proto")
    assert outcome.status == 2
    assert outcome.errors.startswith(
        "none/gen.toml:1:1: error[SG024]: cannot write the configuration: "
    )


def test_init_names_every_message_that_may_have_a_role(tmp_path: Path) -> None:
    proto = (
        PROTO.replace("    Event event = 1;\n", "")
        + "message LateEvent { oneof e { Empty a = 1; } }\n"
    )
    made = fresh(tmp_path, proto)
    records = made.invoke("--format", "json", "init", "proto/small.proto").records()
    assert [(item["rule"], item["line"]) for item in records] == [
        ("SG011", place_of(proto, "message Event")[0]),
        ("SG011", place_of(proto, "message LateEvent")[0]),
    ]
    assert records[0]["help"].endswith('[roles] event = "small.Event"')
    assert not made.config.exists()


def test_init_with_include_paths(tmp_path: Path) -> None:
    made = fresh(
        tmp_path,
        PROTO.replace("message Empty {}", 'import "common/empty.proto";').replace(
            "Empty ", "common.Empty "
        ),
    )
    (tmp_path / "lib" / "common").mkdir(parents=True)
    (tmp_path / "lib" / "common" / "empty.proto").write_text(
        'syntax = "proto3"; package common; message Empty {}', encoding="utf-8"
    )
    without = made.invoke("init", "proto/small.proto")
    assert without.status == 2
    assert "add its folder to input.include" in without.errors
    assert made.invoke("init", "-I", "proto", "-I", "lib", "proto/small.proto").status == 0
    assert 'include = ["proto", "lib"]' in made.config.read_text(encoding="utf-8")
    made.generated()


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
    made = fresh(tmp_path)
    outcome = made.invoke("init", *arguments)
    assert outcome.status == 2
    assert outcome.errors.startswith(place)
    assert not made.config.exists()


def test_init_of_a_descriptor_set(tmp_path: Path) -> None:
    made = fresh(tmp_path)
    compile_set(made)
    assert made.invoke("init", "--descriptor-set", "small.binpb").status == 0
    assert 'descriptor_set = "small.binpb"' in made.config.read_text(encoding="utf-8")
    made.generated()
    assert made.invoke("check").status == 0
    data = descriptor_pb2.FileDescriptorSet.FromString((tmp_path / "small.binpb").read_bytes())
    arm = data.file[0].message_type[1].field.add()
    arm.CopyFrom(data.file[0].message_type[1].field[0])
    arm.name, arm.json_name, arm.number = "tock", "tock", 7
    (tmp_path / "small.binpb").write_bytes(data.SerializeToString())
    assert made.invoke("check").status == 1


@pytest.mark.parametrize(
    "name", ["a'b.proto", "ä😀.proto", "a b.proto", "1st.proto", "class.proto", "A-b.c.proto"]
)
def test_init_of_an_odd_name(name: str, tmp_path: Path) -> None:
    made = fresh(tmp_path)
    made.proto.rename(tmp_path / "proto" / name)
    assert made.invoke("init", f"proto/{name}").status == 0
    written = tomli.loads(made.config.read_text(encoding="utf-8"))
    assert written["input"]["protos"] == [f"proto/{name}"]
    made.generated()


def test_init_names_what_has_no_partner_and_leaves_a_place_for_it(tmp_path: Path) -> None:
    made = fresh(tmp_path, UNPAIRED)
    outcome = made.invoke("init", "proto/small.proto")
    assert outcome.status == 2
    line, column = place_of(UNPAIRED, "Empty frobnicate")
    assert outcome.errors.startswith(
        f'proto/small.proto:{line}:{column}: error[SG014]: request arm "frobnicate" has no response arm'
    )
    assert "now name the answers it asks for" in outcome.output
    text = made.config.read_text(encoding="utf-8")
    answer = '[annotations."small.Request.frobnicate"]\n# response = "..."'
    assert f"# {answer}\n" in text
    assert made.invoke("generate").status == 2
    made.config.write_text(
        text.replace(f"# {answer}", answer.replace("# ", "").replace("...", "ping")),
        encoding="utf-8",
    )
    made.generated()


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
    assert written["output"]["package"] == "ffi_protocol"
    roles = written["roles"]
    assert [roles[role] for role in ("event", "request", "response")] == [
        "livekit.proto.FfiEvent",
        "livekit.proto.FfiRequest",
        "livekit.proto.FfiResponse",
    ]
    assert set(roles) == {"event", "request", "response"}
    text = config.read_text(encoding="utf-8")
    text = text.replace("# [annot", "[annot").replace(
        '# response = "..."', 'response = "send_chat_message"'
    )
    config.write_text(text, encoding="utf-8")
    assert invoke(tmp_path, "generate").status == 0


# completion


def completed(made: Project, words: str) -> list[str]:
    env = {
        "_SESSIONGEN_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    outcome = run(made.root, env=env)
    # Without a word to offer, click prints an empty line.
    return [line.partition(",")[2] for line in outcome.output.splitlines() if line]


def test_completion_of_verbs(made: Project) -> None:
    assert {"generate", "check", "explain", "init", "completion"} <= set(
        completed(made, "sessiongen ")
    )
    assert completed(made, "sessiongen ge") == ["generate"]
    assert completed(made, "sessiongen --format g") == ["github"]


def test_completion_of_arms(made: Project) -> None:
    assert completed(made, "sessiongen explain ") == [
        "event",
        "ping",
        "request",
        "response",
        "tick",
    ]
    assert completed(made, "sessiongen --config codegen.toml explain re") == ["request", "response"]


def test_completion_is_silent_where_the_protocol_is_at_fault(made: Project) -> None:
    made.proto.write_text("garbage", encoding="utf-8")
    assert completed(made, "sessiongen explain ") == []
    made.config.unlink()
    assert completed(made, "sessiongen explain ") == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, tmp_path: Path) -> None:
    outcome = invoke(tmp_path, "completion", shell)
    assert outcome.status == 0
    assert f"_SESSIONGEN_COMPLETE={shell}_complete" in outcome.output
