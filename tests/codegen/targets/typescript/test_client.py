"""The client in TypeScript, run in Node: fields of a request beside its arm."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from interop_typescript import (
    VERSIONS,
    run_tool,
    settings,
    typescript_is_missing,
    unformatted,
    write_messages,
)
from sessiongen_command import invoke

PROTO = """\
syntax = "proto3";
package small;

message Empty {}

message Request {
  string id = 1;
  string token = 5;
  optional int32 priority = 6;
  oneof request {
    Empty ping = 2;
    Empty note = 3;
  }
}

message Response {
  string id = 1;
  oneof response {
    Empty ping = 2;
  }
}
"""
CONFIG = """\
[input]
protos = ["small.proto"]

[[output]]
language = "typescript"
path = "generated"
layers = ["client"]
module = "../messages/index.js"
protobuf_es = {version}

[roles]
event = false

[annotations]
"small.Request.note".response = false
"""
PROGRAM = """\
import * as protocol from './generated/index.js';
import * as pb from './messages/index.js';

const show = ({ token, priority, request }: pb.Request) =>
  console.log(JSON.stringify([token, priority, request.case]));
const client = new protocol.RequestClient(
  async (request) => {
    show(request);
    return RESPONSE;
  },
  async (request) => show(request),
);
await client.ping();
await client.ping({ fields: { token: 'a', priority: 0 }, timeout: 5 });
await client.note({ fields: { token: 'b' } });
// @ts-expect-error the client sets the id
await client.ping({ fields: { id: '1' } });
// @ts-expect-error the client sets the arm
await client.ping({ fields: { request: { case: 'note', value: {} } } });
"""
RESPONSES = {
    1: "new pb.Response({ response: { case: 'ping', value: {} } })",
    2: "create(pb.ResponseSchema, { response: { case: 'ping', value: {} } })",
}


@pytest.mark.parametrize("version", VERSIONS)
def test_fields_beside_the_arm(version: int, tmp_path: Path) -> None:
    if reason := typescript_is_missing(version):
        pytest.skip(reason)
    settings(tmp_path, version)
    (tmp_path / "small.proto").write_text(PROTO, encoding="utf-8")
    (tmp_path / "codegen.toml").write_text(CONFIG.format(version=version), encoding="utf-8")
    outcome = invoke(tmp_path, "generate", "--no-cache")
    assert outcome.status == 0, outcome.all
    assert write_messages(tmp_path, ["small.proto"], tmp_path / "messages", version) == ""
    program = PROGRAM.replace("RESPONSE", RESPONSES[version])
    if version == 2:
        program = f"import {{ create }} from '@bufbuild/protobuf';\n{program}"
    (tmp_path / "program.ts").write_text(program, encoding="utf-8")
    config = json.loads((tmp_path / "tsconfig.json").read_text(encoding="utf-8"))
    config["include"] = ["program.ts"]
    (tmp_path / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
    assert run_tool(tmp_path, "tsc", "--project", ".") == (0, "")
    command = ["node", "out/program.js"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    printed = [json.loads(line) for line in done.stdout.splitlines()]
    assert printed[:3] == [["", None, "ping"], ["a", 0, "ping"], ["b", None, "note"]], done.stderr
    # The client's own values win.
    assert printed[4][2] == "ping"
    assert unformatted(tmp_path, "generated/*.ts") == []
