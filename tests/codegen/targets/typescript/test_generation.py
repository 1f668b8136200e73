"""What a TypeScript output holds, what it leaves out, and the keys that it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, PROTO, Project, project

OUTPUT = '[[output]]\nlanguage = "typescript"\npath = "ts"\nmodule = "@small/messages"\n'
TYPESCRIPT = CONFIG.partition("[output]")[0] + OUTPUT
FILES = [
    "arms.ts",
    "client.ts",
    "encoders.ts",
    "errors.ts",
    "events.ts",
    "index.ts",
    "requests.ts",
    "sessiongen.json",
    "sources.ts",
    "values.ts",
]
MESSAGES = {
    "Empty": [],
    "Event": ["tick"],
    "Request": ["request_id", "ping"],
    "Response": ["request_id", "ping"],
    "Envelope": ["event", "request", "response"],
}


# proto2 takes fields of one name in JSON, with names of their own.
PROTO2 = PROTO.replace("proto3", "proto2").replace("string req", "optional string req")


def made(tmp_path: Path, proto: str = PROTO, more: str = "") -> Project:
    return project(tmp_path, proto, TYPESCRIPT + more)


def listed(made_: Project, messages: dict[str, list[str]]) -> None:
    """Writes the list of what the npm module has."""
    path = made_.root / "messages.json"
    path.write_text(json.dumps({"messages": messages, "enums": {}}), encoding="utf-8")


def text(made_: Project, name: str) -> str:
    return (made_.root / "ts" / name).read_text(encoding="utf-8")


def test_the_modules(tmp_path: Path) -> None:
    made_ = made(tmp_path).generated()
    assert sorted(path.name for path in (made_.root / "ts").iterdir()) == FILES
    arms = text(made_, "arms.ts")
    assert "export type RequestArm = 'ping';\n" in arms
    assert "export const REQUEST_ARMS = {\n  ping: { no: 2, name: 'ping' },\n" in arms
    assert "import type * as pb from '@small/messages';\n" in arms
    assert "ping(request: pb.Empty): Awaitable<Init<pb.Empty>>;" in text(made_, "requests.ts")


def test_only_chosen_layers_and_those_that_they_need(tmp_path: Path) -> None:
    made_ = made(tmp_path, more='layers = ["client"]\n').generated()
    names = sorted(path.stem for path in (made_.root / "ts").glob("*.ts"))
    assert names == ["arms", "client", "errors", "index", "values"]
    assert text(made_, "index.ts").endswith(
        "export * from './arms.js';\nexport * from './client.js';\n"
        "export * from './errors.js';\nexport * from './values.js';\n"
    )


def test_only_the_values_that_chosen_layers_use(tmp_path: Path) -> None:
    made_ = made(tmp_path / "client", more='layers = ["client"]\n').generated()
    names = re.findall(r"^(?:export )?\w+ (\w+)", text(made_, "values.ts"), re.M)
    assert names[1:] == ["ArmOf", "ValueOf", "Arms", "unknownField"]
    handled = made(tmp_path / "requests", more='layers = ["requests"]\n').generated()
    # `answer` has a variable with the name of a function of this module.
    assert "function text(" not in text(handled, "values.ts")
    listed_ = made(tmp_path / "listed", more='layers = ["client", "values"]\n').generated()
    assert "export function timestampFromMs(" in text(listed_, "values.ts")


def test_what_the_module_lacks_is_left_out_and_reported(tmp_path: Path) -> None:
    made_ = made(tmp_path, more='messages = "messages.json"\n')
    listed(made_, MESSAGES)
    made_.add_arm()
    output = made_.invoke("generate").output
    assert "ts: left out, as @small/messages lacks it: Event.tock\n" in output
    assert "tock" not in text(made_, "arms.ts") + text(made_, "events.ts")
    assert "Request.ping" in made_.invoke("explain", "Request.ping").output
    assert "ts/" not in made_.invoke("explain", "Event.tock").output
    listed(made_, {**MESSAGES, "Event": ["tick", "tock"]})
    assert "lacks" not in made_.invoke("generate").output
    assert "tock" in text(made_, "arms.ts")


def test_check_tells_an_edit_from_drift(tmp_path: Path) -> None:
    made_ = made(tmp_path).generated()
    path = made_.root / "ts" / "arms.ts"
    path.write_text(path.read_text(encoding="utf-8") + "// mine\n", encoding="utf-8")
    outcome = made_.invoke("check")
    assert outcome.status == 1
    assert "ts/arms.ts" in outcome.errors and "edited by hand" in outcome.errors
    made_.generated()
    made_.add_arm()
    assert "+  tock: { no: 2, name: 'tock' },\n" in made_.invoke("check", "--full-diff").output


def test_symbols_are_explained(tmp_path: Path) -> None:
    made_ = made(tmp_path).generated()
    output = made_.invoke("explain", "Request.ping").output
    for file, symbol, start in (
        ("arms.ts", "REQUEST_ARMS.ping", "  ping: { no: 2"),
        ("requests.ts", "RequestHandler.ping", "  ping(request"),
        ("client.ts", "RequestClient.ping", "  ping(options"),
    ):
        lines = text(made_, file).split("\n")
        number = next(i for i, line in enumerate(lines, 1) if line.startswith(start))
        assert f"ts/{file}:{number}  {symbol}" in output


def test_header_lines_stand_below_the_mark(tmp_path: Path) -> None:
    header = 'header = ["SPDX-FileCopyrightText: 2026 Someone", "SPDX-License-Identifier: MIT"]\n'
    made_ = made(tmp_path, more=header).generated()
    lines = text(made_, "values.ts").split("\n")
    assert lines[0].startswith("// Generated by sessiongen ")
    assert lines[2:4] == [
        "// SPDX-FileCopyrightText: 2026 Someone",
        "// SPDX-License-Identifier: MIT",
    ]


@pytest.mark.parametrize(
    "proto, more, fault",
    [
        (PROTO, 'seconds = ["Event.at"]\n', ":1: error[SG006]: 'Event.at' is no Timestamp"),
        (PROTO, 'messages = "no.json"\n', "the list of published messages cannot be read"),
        (PROTO, 'overrides = "no.ts"\n', "the overrides cannot be read"),
        (PROTO + "message A { message B {} } message A_B {}", "", "one name in the module of"),
        (
            PROTO2 + "message A { oneof b_c { int32 d = 1; } oneof bC { int32 e = 2; } }",
            "",
            "'bC' and 'b_c' both become 'bC' in the class of small.A",
        ),
        (
            PROTO2 + "message A { oneof a { int32 b_c = 1 [json_name = 'd']; int32 bC = 2; } }",
            "",
            "'bC' and 'b_c' both become 'bC' in the oneof small.A.a",
        ),
    ],
)
def test_refused(tmp_path: Path, proto: str, more: str, fault: str) -> None:
    outcome = made(tmp_path, proto, more).invoke("generate")
    assert (outcome.status, fault in outcome.errors) == (2, True), outcome.errors
    # Modules of single files do not separate definitions of one file.
    assert "give each file a module" not in outcome.errors
    assert not (tmp_path / "ts").exists()


def test_a_layer_that_the_protocol_cannot_have_is_refused_if_requested(tmp_path: Path) -> None:
    proto = PROTO.replace("message Event", "message Note").replace(
        "    Event event", "    Note note"
    )
    none = "[roles]\nevent = false\n"
    silent = made(tmp_path / "silent", proto, none).generated()
    assert not (silent.root / "ts" / "events.ts").exists()
    asked = made(tmp_path / "asked", proto, 'layers = ["events"]\n' + none)
    outcome = asked.invoke("generate")
    assert outcome.status == 2
    line = (asked.config.read_text(encoding="utf-8")).split("\n").index('layers = ["events"]') + 1
    assert outcome.errors.startswith(
        f"codegen.toml:{line}:11: error[SG012]: "
        "there can be no layer 'events': the protocol has no events\n"
    )


@pytest.mark.parametrize("layer", ["requests", "client"])
def test_a_layer_of_requests_is_refused_without_requests(layer: str, tmp_path: Path) -> None:
    proto = PROTO[: PROTO.index("message Request")] + "message Note { string text = 1; }\n"
    more = f'layers = ["{layer}"]\n[roles]\nrequest = false\nresponse = false\n'
    outcome = made(tmp_path, proto, more).invoke("generate")
    assert outcome.status == 2
    assert f"there can be no layer '{layer}': the protocol has no requests\n" in outcome.errors


def test_a_module_is_required(tmp_path: Path) -> None:
    config = TYPESCRIPT.replace('module = "@small/messages"\n', "")
    outcome = project(tmp_path, PROTO, config).invoke("generate")
    assert (outcome.status, "the key 'module' is missing" in outcome.errors) == (2, True)


def test_an_override_of_no_field_is_refused(tmp_path: Path) -> None:
    made_ = made(tmp_path, more='overrides = "by_hand.ts"\n')
    (made_.root / "by_hand.ts").write_text("\nexport function emptyName() {}\n", encoding="utf-8")
    outcome = made_.invoke("generate")
    assert outcome.status == 2
    assert "by_hand.ts:2:1: error[SG028]" in outcome.errors


def test_an_override_converts_its_field(tmp_path: Path) -> None:
    proto = PROTO.replace("message Empty {}", "message Empty { string name = 1; }")
    made_ = made(tmp_path, proto, 'overrides = "by_hand.ts"\n')
    code = "export function emptyName(value: number): string {\n  return `${value}`;\n}\n"
    (made_.root / "by_hand.ts").write_text(code, encoding="utf-8")
    made_.generated()
    assert "    name: overrides.emptyName(source.name),\n" in text(made_, "encoders.ts")
    assert "  readonly name: Parameters<typeof overrides.emptyName>[0];\n" in text(
        made_, "sources.ts"
    )
    assert text(made_, "overrides.ts").endswith(code)
