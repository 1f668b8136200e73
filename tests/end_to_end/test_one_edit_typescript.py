"""One edit of the .proto reaches the generated TypeScript, and tsc names what is left to fill in.

The message classes are made of the edited contract by protobuf-es, since a published package has
none of the edits.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from earlier_contract import with_session_closed, without_session_closed
from interop_typescript import VERSIONS, run_tool, settings, typescript_is_missing, write_messages
from sessiongen_command import invoke

ROOT = Path(__file__).resolve().parents[2]
CONTRACT = ROOT / "proto" / "agent_session.proto"
CONFIG = """\
[input]
protos = ["proto/agent_session.proto"]
include = ["proto"]

[[output]]
language = "typescript"
path = "generated"
module = "../messages/index.js"
protobuf_es = {version}
overrides = "by_hand/agent_session.ts"

[sdks]
vocabularies = ["vocabularies/agents-js.json"]
"""
# The bytes of an event, in hexadecimal, by the version of protobuf-es.
ENCODED = {
    1: "Buffer.from(event.toBinary()).toString('hex')",
    2: "Buffer.from(protobuf.toBinary(pb.AgentSessionEventSchema, event)).toString('hex')",
}


@dataclass(frozen=True)
class Project:
    """A copy of the contract, its generated modules, and a user's code."""

    root: Path
    version: int

    @property
    def proto(self) -> Path:
        return self.root / "proto" / "agent_session.proto"

    def edit(self, old: str, new: str) -> None:
        text = self.proto.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} occurs {text.count(old)} times in the contract"
        self.proto.write_text(text.replace(old, new), encoding="utf-8")

    def generate(self) -> None:
        outcome = invoke(self.root, "generate", "--no-cache")
        assert outcome.status == 0, outcome.all
        shutil.rmtree(self.root / "messages", ignore_errors=True)
        proto = self.proto.name
        messages = self.root / "messages"
        assert write_messages(self.proto.parent, [proto], messages, self.version) == ""

    def fill(self, mark: str, *lines: str) -> None:
        """Replaces a marked comment of the user's code by the code that belongs there."""
        path = self.root / "host.ts"
        text = path.read_text(encoding="utf-8")
        assert text.count(f"// + {mark}\n") == 1
        path.write_text(text.replace(f"// + {mark}\n", "\n".join(lines) + "\n"), encoding="utf-8")

    def complaints(self) -> list[tuple[str, str]]:
        """Returns what tsc finds: the line of the user's code, and the name that is missing."""
        _, output = run_tool(self.root, "tsc", "--noEmit", "--project", ".")
        lines = (self.root / "host.ts").read_text(encoding="utf-8").split("\n")
        errors = re.findall(r"^(\S+)\((\d+),\d+\): error TS\d+: (.*(?:\n  .*)*)", output, re.M)
        assert bool(errors) == bool(output), output
        assert {file for file, _, _ in errors} <= {"host.ts"}, output
        found = []
        for _, line, text in errors:
            names = re.findall(r"[Pp]roperty '([^']+)' is missing", text)
            assert names, text
            found.append((lines[int(line) - 1].strip(), names[-1]))
        return found


@pytest.fixture(scope="module", params=VERSIONS, ids=lambda version: f"protobuf_es_{version}")
def template(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A project with the contract before its last arm, for each version of protobuf-es."""
    version = request.param
    if reason := typescript_is_missing(version):
        pytest.skip(reason)
    root = settings(tmp_path_factory.mktemp("one_edit"), version)
    tsconfig = (root / "tsconfig.json").read_text(encoding="utf-8")
    files = '"*.ts", "generated/*.ts", "messages/*.ts"'
    tsconfig = re.sub(r'"include": \[.*\]', f'"include": [{files}]', tsconfig)
    (root / "tsconfig.json").write_text(tsconfig, encoding="utf-8")
    config = CONFIG.format(version=version)
    (root / "codegen.toml").write_text(config, encoding="utf-8")
    shutil.copytree(ROOT / "vocabularies", root / "vocabularies")
    shutil.copy(Path(__file__).parent / "project" / "host.ts", root / "host.ts")
    (root / "by_hand").mkdir()
    (root / "by_hand" / "agent_session.ts").write_text(overrides(version), encoding="utf-8")
    (root / "proto").mkdir()
    text = without_session_closed(CONTRACT.read_text(encoding="utf-8"))
    (root / "proto" / CONTRACT.name).write_text(text, encoding="utf-8")
    return Project(root, version)


def overrides(version: int) -> str:
    """Returns the repository's overrides, with the project's own messages."""
    text = (ROOT / "overrides" / "agent_session.ts").read_text(encoding="utf-8")
    imports = "import * as pb from '../messages/index.js';"
    if version == 2:
        imports = f"import {{ create }} from '@bufbuild/protobuf';\n{imports}"
        text = re.sub(r"new pb\.(\w+)\(", r"create(pb.\1Schema, ", text)
    return re.sub(r"import \{ AgentSession as pb \} from .*", imports, text)


@pytest.fixture
def before(template: Project, tmp_path: Path) -> Project:
    """A copy of the project, whose user's code is complete for the contract that it has."""
    project = Project(tmp_path / "project", template.version)
    shutil.copytree(template.root, project.root, symlinks=True)
    return project


def edited(project: Project) -> list[tuple[str, str]]:
    """Generates, and returns what is left to fill in."""
    project.generate()
    return project.complaints()


def test_the_code_is_complete_before_the_edits(before: Project) -> None:
    assert edited(before) == []


def test_session_closed(before: Project) -> None:
    contract = with_session_closed(CONTRACT.read_text(encoding="utf-8"))
    before.proto.write_text(contract, encoding="utf-8")
    assert edited(before) == [
        ("export const forwarders: protocol.AgentSessionEventForwarders = {", "sessionClosed")
    ]
    before.fill("an event's forwarder", "sessionClosed: null,")
    assert before.complaints() == []
    status, output = run_tool(before.root, "tsc", "--project", ".")
    assert status == 0, output
    code = (
        "import * as protobuf from '@bufbuild/protobuf';"
        "import * as pb from './out/messages/index.js';"
        "import * as p from './out/generated/index.js';"
        "const source = { reason: 'user_initiated' };"
        "const event = p.encodeAgentSessionEvent('sessionClosed', source, 0);"
        f"console.log({ENCODED[before.version]}, p.SDK_EVENTS.sessionClosed);"
    )
    command = ["node", "--input-type=module", "-e", code]
    done = subprocess.run(command, cwd=before.root, capture_output=True, text=True, timeout=60)
    # An empty created_at, then field 24 with the reason 4.
    assert done.stdout == "0a00c201020804 close\n", done.stderr


def test_a_new_request(before: Project) -> None:
    before.edit(
        "  message FinalizeSimulation {",
        "  message GetWeather {\n    string town = 1;\n  }\n\n  message FinalizeSimulation {",
    )
    before.edit(
        "    FinalizeSimulation finalize_simulation = 12;",
        "    FinalizeSimulation finalize_simulation = 12;\n    GetWeather get_weather = 1001;",
    )
    before.edit(
        "    FinalizeSimulationResponse finalize_simulation = 13;",
        "    FinalizeSimulationResponse finalize_simulation = 13;\n"
        "    GetWeatherResponse get_weather = 1001;",
    )
    before.edit(
        "  message FinalizeSimulationResponse {",
        "  message GetWeatherResponse {\n    string text = 1;\n  }\n\n"
        "  message FinalizeSimulationResponse {",
    )
    assert edited(before) == [
        ("export class Host implements protocol.SessionRequestHandler {", "getWeather")
    ]
    before.fill(
        "a request's method",
        "getWeather({ town }: pb.SessionRequest_GetWeather) {",
        "  return { text: `rain in ${town}` };",
        "}",
    )
    assert before.complaints() == []


def test_a_new_field(before: Project) -> None:
    before.edit(
        "    map<string, string> options = 4;",
        "    map<string, string> options = 4;\n\n    double load = 1001;",
    )
    assert edited(before) == [
        ("return protocol.encodeSessionResponseGetSessionStateResponse({", "load")
    ]
    before.fill("a field", "load: 0.5,")
    assert before.complaints() == []


def test_a_new_enum_value(before: Project) -> None:
    before.edit("  CR_TASK_COMPLETED = 5;", "  CR_TASK_COMPLETED = 5;\n  CR_HANDED_OVER = 1001;")
    assert edited(before) == [
        (
            "export const reasons: Record<pb.CloseReason, string> = {",
            "[CloseReason.CR_HANDED_OVER]",
        )
    ]
    before.fill("a value's text", "[pb.CloseReason.CR_HANDED_OVER]: 'handed over',")
    assert before.complaints() == []


def test_a_new_arm_in_a_nested_union(before: Project) -> None:
    before.edit(
        "    message Ended {",
        "    message Paused {\n      string call_id = 1;\n    }\n\n    message Ended {",
    )
    before.edit("      Ended ended = 4;", "      Ended ended = 4;\n      Paused paused = 1001;")
    head = "export const updates: Record<protocol.AgentSessionEventToolExecutionUpdatedArm, string> = {"
    assert edited(before) == [(head, "paused")]
    before.fill("an update's text", "paused: 'paused',")
    assert before.complaints() == []
