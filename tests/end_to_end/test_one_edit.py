"""A change of the protocol is one edit of the .proto file.

The tests edit a copy of this checkout, with a host and a driver that were written for the contract
before arm 24. They check that `generate` changes only `generated/`, that mypy reports exactly the
handlers that are missing, and that the addition works once these are written.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from earlier_contract import with_session_closed, without_session_closed

from sessiongen.vocabulary import dump, load
from sessiongen.vocabulary.model import LiteralValue

ROOT = Path(__file__).resolve().parents[2]
PROJECT = Path(__file__).parent / "project" / "host.py"
CONTRACT = "proto/agent_session.proto"
# Additions have the number 1001, which the contract will not have.


@dataclass
class Checkout:
    """A copy of the checkout. `run` and `python` run commands in it and return the output."""

    root: Path

    def run(self, *command: str, succeeds: bool = True) -> str:
        done = subprocess.run(
            command, cwd=self.root, env=self.environment(), capture_output=True, text=True
        )
        assert (done.returncode == 0) is succeeds, done.stdout + done.stderr
        return done.stdout + done.stderr

    def environment(self) -> dict[str, str]:
        paths = [str(self.root / "codegen"), str(self.root / "generated" / "python")]
        return {**os.environ, "PYTHONPATH": os.pathsep.join(paths)}

    def commit(self) -> None:
        self.run("git", "add", "-A")
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.com")
        self.run("git", *identity, "commit", "-qm", "state", "--allow-empty")

    def generate(self) -> set[str]:
        """Generates after a commit, and returns the paths that changed."""
        self.commit()
        self.run(sys.executable, "-m", "sessiongen", "generate")
        status = self.run("git", "status", "--porcelain", "--untracked-files=all")
        return {line[3:] for line in status.splitlines()}

    def edit(self, old: str, new: str) -> None:
        path = self.root / CONTRACT
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in the contract"
        path.write_text(text.replace(old, new), encoding="utf-8")

    def fill(self, mark: str, *lines: str) -> None:
        """Replaces a marked comment in the user's code by code."""
        path = self.root / "host.py"
        text = path.read_text(encoding="utf-8")
        indent = re.search(rf"^( *)# \+ {mark}$", text, re.MULTILINE)
        assert indent is not None, mark
        code = "\n".join(indent.group(1) + line for line in lines)
        path.write_text(text.replace(indent.group(0), code), encoding="utf-8")

    def type_errors(self) -> set[str]:
        """Returns the errors of mypy in the user's code, as `function: message`."""
        cache = ROOT / ".mypy_cache" / "one-edit"
        done = subprocess.run(
            [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={cache}", "host.py"],
            cwd=self.root,
            env=self.environment() | {"MYPYPATH": "generated/python"},
            capture_output=True,
            text=True,
        )
        errors = re.findall(r"^(\S+?):(\d+): error: (.*?)(?:  \[.*)?$", done.stdout, re.MULTILINE)
        assert done.returncode == (1 if errors else 0), done.stdout + done.stderr
        return {f"{self._function(file, int(line))}: {text}" for file, line, text in errors}

    def _function(self, file: str, line: int) -> str:
        lines = (self.root / file).read_text(encoding="utf-8").splitlines()[:line]
        found = [m.group(1) for text in lines if (m := re.match(r"(?:def|class) (\w+)", text))]
        return found[-1] if found else file

    def exercise(self, code: str) -> str:
        """Runs statements of an async function with the user's module as `host`."""
        body = "".join(f"    {line}\n" for line in code.strip().splitlines())
        program = f"import asyncio, host\nfrom host import pb\nasync def main():\n{body}"
        return self.run(sys.executable, "-c", program + "asyncio.run(main())").strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root = tmp_path / "checkout"
    for name in ("codegen", "templates", "generated", "overrides", "proto", "vocabularies"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("codegen.toml", ".gitignore", ".gitattributes"):
        shutil.copy(ROOT / name, root / name)
    shutil.copy(PROJECT, root / "host.py")
    result = Checkout(root)
    result.run("git", "init", "-q")
    return result


@pytest.fixture
def before(checkout: Checkout) -> Checkout:
    """Returns a checkout with the contract before arm 24, for which the user's code is complete."""
    path = checkout.root / CONTRACT
    path.write_text(without_session_closed(path.read_text(encoding="utf-8")), encoding="utf-8")
    checkout.generate()
    assert checkout.type_errors() == set()
    checkout.commit()
    return checkout


def assert_only_generated(changed: set[str]) -> None:
    assert changed, "the edit reached nothing"
    outside = {path for path in changed if not path.startswith("generated/")}
    assert outside == set()


def test_session_closed(before: Checkout) -> None:
    contract = with_session_closed((ROOT / CONTRACT).read_text(encoding="utf-8"))
    (before.root / CONTRACT).write_text(contract, encoding="utf-8")
    added, removed, _ = before.run("git", "diff", "--numstat", CONTRACT).split("\t")
    assert int(added) > 0 and int(removed) == 0
    assert_only_generated(before.generate())
    assert before.type_errors() == {
        'forwarders: Missing named argument "session_closed" for "AgentSessionEventForwarders"',
        'describe: Missing named argument "session_closed" for "AgentSessionEventHandlers"',
    }
    before.fill("an event's forwarder", "session_closed=forward,")
    before.fill("an event's handler", 'session_closed=lambda payload: f"closed {payload.reason}",')
    assert before.type_errors() == set()
    said = before.exercise("""
listeners = host.AgentSessionEventListeners()
listeners.on_session_closed(lambda payload, event: print(host.describe(event), payload.error))
sink = host.Sink(listeners)
sink.session_closed(reason=pb.CR_USER_INITIATED, error=None)
print(pb.AgentSessionEvent.DESCRIPTOR.fields_by_name["session_closed"].number)
from agent_session_protocol.events import SDK_EVENTS
print(SDK_EVENTS["session_closed"])
""")
    assert said.split("\n") == ["closed 4 ", "24", "close"]


def test_before_the_edit_the_event_is_unknown(before: Checkout) -> None:
    # A newer host sends field 24, a message with field 1 = 4.
    said = before.exercise("""
listeners = host.AgentSessionEventListeners()
listeners.on_unknown(lambda number, event: print("unknown", number))
listeners.deliver(pb.AgentSessionEvent.FromString(bytes([0xC2, 0x01, 0x02, 0x08, 0x04])))
""")
    assert said == "unknown 24"


def test_a_new_request(before: Checkout) -> None:
    before.edit(
        "  message FinalizeSimulation {",
        "  // What the weather is like.\n  message GetWeather {\n    string town = 1;\n  }\n\n"
        "  message FinalizeSimulation {",
    )
    before.edit(
        "    FinalizeSimulation finalize_simulation = 12;",
        "    FinalizeSimulation finalize_simulation = 12;\n\n"
        "    // Tell me the weather.\n    GetWeather get_weather = 1001;",
    )
    before.edit(
        "    FinalizeSimulationResponse finalize_simulation = 13;",
        "    FinalizeSimulationResponse finalize_simulation = 13;\n\n"
        "    // The weather.\n    GetWeatherResponse get_weather = 1001;",
    )
    before.edit(
        "  message FinalizeSimulationResponse {",
        "  message GetWeatherResponse {\n    string text = 1;\n  }\n\n"
        "  message FinalizeSimulationResponse {",
    )
    assert_only_generated(before.generate())
    assert before.type_errors() == {
        'make_host: Cannot instantiate abstract class "Host" with abstract attribute "get_weather"'
    }
    before.fill(
        "a request's method",
        "async def get_weather(self, request: Request.GetWeather) -> Response.GetWeatherResponse:",
        '    return Response.GetWeatherResponse(text=f"rain in {request.town}")',
    )
    assert before.type_errors() == set()
    said = before.exercise("""
client = host.Client(host.make_host())
print((await client.get_weather(town="Cork")).text)
""")
    assert said == "rain in Cork"


def test_a_new_request_is_unimplemented_until_filled_in(before: Checkout) -> None:
    # A newer driver sends field 1001 of the request, an empty message.
    said = before.exercise("""
request = pb.SessionRequest.FromString(bytes([0x0A, 0x01]) + b"x" + bytes([0xCA, 0x3E, 0x00]))
print(await host.answer(host.make_host(), request))
""")
    assert said.split("\n") == ['request_id: "x"', 'error: "unimplemented request: field 1001"']


def test_a_new_field(before: Checkout) -> None:
    before.edit(
        "    optional string language = 3;",
        "    optional string language = 3;\n\n    // How sure the transcriber is.\n"
        "    double confidence = 1001;",
    )
    assert_only_generated(before.generate())
    assert before.type_errors() == {
        'transcribed: Missing named argument "confidence" for "user_input_transcribed" '
        'of "AgentSessionEventSink"'
    }
    before.fill("a field", "confidence=0.5,")
    assert before.type_errors() == set()
    said = before.exercise("""
listeners = host.AgentSessionEventListeners()
listeners.on_user_input_transcribed(lambda payload, event: print(payload.transcript, payload.confidence))
host.transcribed(host.Sink(listeners), "hello")
""")
    assert said == "hello 0.5"


def test_a_new_field_of_an_sdk_class(before: Checkout) -> None:
    """The SDK class has the field, so it is encoded without code written by hand."""
    before.edit(
        "message FunctionCall {",
        "message FunctionCall {\n  // Calls of one group ran side by side.\n"
        "  optional string group_id = 1001;\n",
    )
    assert_only_generated(before.generate())
    assert before.type_errors() == set()
    said = before.exercise("""
from agent_session_protocol import decoders, encoders
from livekit.agents.llm import FunctionCall
call = FunctionCall(call_id="c", name="look", arguments="{}", group_id="together")
message = encoders.encode_chat_context_chat_item(call).function_call
print(message.group_id, decoders.decode_function_call(message).group_id)
""")
    assert said == "together together"


def test_a_new_field_without_a_source_is_a_type_error(before: Checkout) -> None:
    before.edit(
        "message FunctionCallOutput {",
        "message FunctionCallOutput {\n  // How heavy it is.\n  double weight = 1001;\n",
    )
    assert_only_generated(before.generate())
    said = before.exercise("""
from agent_session_protocol import encoders
from livekit.agents.llm import FunctionCallOutput
output = FunctionCallOutput(call_id="c", output="seen", is_error=False)
try:
    encoders.encode_function_call_output(output)
except AttributeError as error:
    print(error)
""")
    assert said == "'FunctionCallOutput' object has no attribute 'weight'"
    found = before.run(sys.executable, "-m", "sessiongen", "parity", succeeds=False)
    assert "livekit-agents: FunctionCallOutput.weight" in found


def test_a_new_arm_in_a_nested_union(before: Checkout) -> None:
    before.edit(
        "    message Ended {",
        "    message Paused {\n      string call_id = 1;\n    }\n\n    message Ended {",
    )
    before.edit("      Ended ended = 4;", "      Ended ended = 4;\n\n      Paused paused = 1001;")
    assert_only_generated(before.generate())
    assert before.type_errors() == {
        'update: Missing named argument "paused" for '
        '"AgentSessionEventToolExecutionUpdatedHandlers"'
    }
    before.fill("an update's handler", 'paused=lambda payload: f"paused {payload.call_id}",')
    assert before.type_errors() == set()
    said = before.exercise("""
listeners = host.AgentSessionEventListeners()
listeners.on_tool_execution_updated(lambda payload, event: print(host.describe(event)))
paused = pb.AgentSessionEvent.ToolExecutionUpdated.Paused(call_id="c7")
host.Sink(listeners).tool_execution_updated(paused=paused)
""")
    assert said == "paused c7"


def test_a_new_close_reason(before: Checkout) -> None:
    path = before.root / "vocabularies" / "livekit-agents.json"
    vocabulary = load(path)
    reason = vocabulary.enum("CloseReason")
    assert reason is not None
    known = reason._replace(
        literals=(*reason.literals, LiteralValue("handed_over", "HANDED_OVER", 595))
    )
    others = tuple(item for item in vocabulary.enums if item is not reason)
    path.write_bytes(dump(vocabulary._replace(enums=(*others, known))))
    before.commit()
    before.edit(
        "  CR_TASK_COMPLETED = 5;",
        "  CR_TASK_COMPLETED = 5;\n\n  // Another agent took over.\n  CR_HANDED_OVER = 1001;",
    )
    assert_only_generated(before.generate())
    assert before.type_errors() == set()
    said = before.exercise("""
from agent_session_protocol import enums
print(enums.close_reason_to_proto("handed_over"), enums.close_reason_from_proto(1001))
print(enums.close_reason_name(1001), enums.close_reason_from_name("CR_HANDED_OVER"))
""")
    assert said.split("\n") == ["1001 handed_over", "CR_HANDED_OVER 1001"]
