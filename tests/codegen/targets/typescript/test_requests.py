"""Handlers in TypeScript, run in Node: responses with fields beside their arms."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from generated_packages import CASES
from interop_typescript import (
    VERSIONS,
    run_tool,
    settings,
    typescript_is_missing,
    unformatted,
    write_messages,
)
from sessiongen_command import invoke

CONFIG = """\
[input]
protos = ["{proto}"]
include = ["{include}"]

[[output]]
language = "typescript"
path = "generated"
layers = ["requests"]
module = "../messages/index.js"
protobuf_es = {version}
"""
PROGRAM = """\
import * as protocol from './generated/index.js';
import * as pb from './messages/index.js';

const { Request, Response } = MAKERS;
const handler: Partial<protocol.RequestHandler> = {
  ping: async () => whole,
  name: async () => NAMED,
  again: async () => ({}),
  nested: async () => Response({ serverTime: TIME }),
};
let whole = Response({
  requestId: 'own',
  serverTime: TIME,
  costs: { a: 1 },
  load: { case: 'cpu', value: 0 },
  response: { case: 'ping', value: {} },
});
const ask = async (request: Parameters<typeof Request>[0]) => {
  const response = await protocol.answer(handler, Request(request), (error) =>
    console.error(String(error)),
  );
  const { requestId, error, serverTime, costs, load, response: arm } = response;
  console.log(
    JSON.stringify([requestId, error, Number(serverTime), costs, load.case ?? '', arm.case ?? '']),
  );
};
await ask({ requestId: 'r1', request: { case: 'ping', value: {} } });
await ask({ requestId: 'r2', request: { case: 'name', value: 'n' } });
await ask({ requestId: 'r3', request: { case: 'again', value: {} } });
await ask({ requestId: 'r4', request: { case: 'nested', value: {} } });
console.log(JSON.stringify(whole.requestId));
whole = Response({ response: { case: 'name', value: 'x' } });
await ask({ requestId: 'r5', request: { case: 'ping', value: {} } });
// @ts-expect-error a request is no answer
handler.name = async () => Request({});
"""
MAKERS = {
    1: """{
  Request: (init: Init<pb.Request>) => new pb.Request(init),
  Response: (init: Init<pb.Response>) => new pb.Response(init),
}""",
    2: """{
  Request: (init: MessageInitShape<typeof pb.RequestSchema>) => create(pb.RequestSchema, init),
  Response: (init: MessageInitShape<typeof pb.ResponseSchema>) => create(pb.ResponseSchema, init),
}""",
}
IMPORTS = {
    1: "import type { PartialMessage as Init } from '@bufbuild/protobuf';",
    2: "import { create, type MessageInitShape } from '@bufbuild/protobuf';",
}


@pytest.mark.parametrize("version", VERSIONS)
def test_a_whole_response_is_sent_with_the_id_of_the_request(version: int, tmp_path: Path) -> None:
    if reason := typescript_is_missing(version):
        pytest.skip(reason)
    settings(tmp_path, version)
    config = CONFIG.format(
        proto=(CASES / "response_fields.proto").as_posix(),
        include=CASES.as_posix(),
        version=version,
    )
    (tmp_path / "codegen.toml").write_text(config, encoding="utf-8")
    outcome = invoke(tmp_path, "generate", "--no-cache")
    assert outcome.status == 0, outcome.all
    assert write_messages(CASES, ["response_fields.proto"], tmp_path / "messages", version) == ""
    named = "Response({ response: { case: 'name', value: '' }, load: { case: 'idle', value: {} } })"
    program = f"{IMPORTS[version]}\n{PROGRAM}".replace("MAKERS", MAKERS[version])
    program = program.replace("NAMED", named).replace("TIME", "BigInt(7)")
    (tmp_path / "program.ts").write_text(program, encoding="utf-8")
    settings_ = json.loads((tmp_path / "tsconfig.json").read_text(encoding="utf-8"))
    settings_["include"] = ["program.ts"]
    (tmp_path / "tsconfig.json").write_text(json.dumps(settings_), encoding="utf-8")
    assert run_tool(tmp_path, "tsc", "--project", ".") == (0, "")
    command = ["node", "out/program.js"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert [json.loads(line) for line in done.stdout.splitlines()] == [
        ["r1", "", 7, {"a": 1}, "cpu", "ping"],
        ["r2", "", 0, {}, "idle", "name"],
        ["r3", "", 0, {}, "", "again"],
        ["r4", "", 0, {}, "", "nested"],
        "own",
        ["r5", "internal error", 0, {}, "", ""],
    ], done.stderr
    assert done.stderr == "Error: the response has the arm name, and the request needs ping\n"
    text = (tmp_path / "generated" / "requests.ts").read_text(encoding="utf-8")
    assert "the request: serverTime, costs, load." in text
    assert unformatted(tmp_path, "generated/*.ts") == []
