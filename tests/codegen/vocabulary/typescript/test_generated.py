"""Tests of a TypeScript SDK whose host and driver stand on generated code.

The SDK contains the files that this repository generates.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from scopes import TYPESCRIPT
from small_sdks import TYPESCRIPT_SDK, Small, typescript_sdk
from small_typescript_sdk import HOST

from sessiongen.targets.typescript.target import TypeScriptTarget
from sessiongen.vocabulary import Answer, Place, Sending
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.typescript import read
from sessiongen.vocabulary.typescript.modules import GENERATED_MARK

GENERATED = Path(__file__).resolve().parents[4] / "generated/typescript"
SOURCE = """\
import { AgentSession as pb } from '@livekit/protocol';
import type { AgentSession } from './agent_session.js';
import type { StateChangedEvent } from './events.js';
import {
  type AgentSessionEventForwarders,
  RequestError,
  SessionRequestClient,
  type SessionRequestHandler,
  answer,
  emitEvent,
  encodeAgentSessionEvent,
  subscribe,
} from '../protocol/index.js';
export class Requests implements SessionRequestHandler {
  ping() { return {}; }
  runInput({ text }: pb.SessionRequest_RunInput) {
    if (text === '') throw new RequestError('empty text');
  }
  updateIo(request: pb.SessionRequest_UpdateIO) { this.apply(request.input?.audioEnabled); }
}
export class SessionHost {
  register(session: AgentSession) { subscribe(session, this.#forwarders); }
  readonly #forwarders: AgentSessionEventForwarders = {
    agentStateChanged: (event) => this.#emit('agentStateChanged', event),
    userStateChanged: null,
  };
  onAmd(event: StateChangedEvent) { this.#emit('amdPrediction', event); }
  #emit(arm: string, event: object) { this.out(encodeAgentSessionEvent(arm, event)); }
  async handle(req: pb.SessionRequest) { await answer(new Requests(), req); }
}
export type DriverCallbacks = { state: () => void };
export class RemoteSession extends (EventEmitter as new () => TypedEmitter<DriverCallbacks>) {
  readonly requests = new SessionRequestClient((request) => this.send(request));
  dispatch(event: pb.AgentSessionEvent) { emitEvent(this, event); }
  history() { return this.requests.fetchChatHistory(); }
  say(text: string) { return this.requests.sendMessage({ text }); }
}
"""


def adopted(source: str = SOURCE) -> Small:
    """Returns the small SDK with its host and driver on generated code."""
    files = {f"src/protocol/{path.name}": path.read_text() for path in GENERATED.glob("*.ts")}
    caller = "export function detect(host: SessionHost) { host.onAmd({}); }\n"
    return typescript_sdk({**files, HOST: source, "src/voice/detector.ts": caller})


def line(text: str) -> int:
    return SOURCE[: SOURCE.index(text)].count("\n") + 1


def test_events_are_those_of_the_forwarders_and_of_calls_with_an_arm() -> None:
    small = adopted()
    assert small.errors == []
    assert small.vocabulary.host is not None
    forwards = {it.arm: it for it in small.vocabulary.host.forwards}
    assert set(forwards) == {"agent_state_changed", "amd_prediction"}
    assert forwards["agent_state_changed"].event == "agent_state_changed"
    direct = forwards["amd_prediction"]
    assert (direct.event, direct.handler, direct.event_type) == (None, "onAmd", "StateChangedEvent")
    assert direct.via == Place("src/voice/detector.ts", 1)


def test_requests_are_the_methods_of_the_handler() -> None:
    host = adopted().vocabulary.host
    assert host is not None
    assert host.answers == (
        Answer("ping", "pong", (), (), Place(HOST, line("  ping()"))),
        Answer(
            "run_input", "run_input", ("text",), ("empty text",), Place(HOST, line("  runInput"))
        ),
        Answer(
            "update_io", "update_io", ("input.audio_enabled",), (), Place(HOST, line("  updateIo"))
        ),
    )
    assert host.unknown_request == Place(HOST, line("  async handle"))


def test_fields_of_a_destructured_request() -> None:
    """Paths below a part are read, also if the part has another name."""
    method = """\
  updateIo({ input, output: other }: pb.SessionRequest_UpdateIO) {
    this.apply(input?.audioEnabled, other?.transcriptionEnabled);
  }
"""
    start = SOURCE.index("  updateIo(")
    source = SOURCE[:start] + method + SOURCE[SOURCE.index("\n", start) + 1 :]
    host = adopted(source).vocabulary.host
    assert host is not None
    [answer] = [item for item in host.answers if item.arm == "update_io"]
    assert answer.reads == ("input.audio_enabled", "output.transcription_enabled")


def test_driver_emits_every_arm_and_sends_with_the_client() -> None:
    driver = adopted().vocabulary.driver
    assert driver is not None
    assert driver.sends == (
        Sending("get_chat_history", "history", Place(HOST, line("  history()"))),
        Sending("run_input", "say", Place(HOST, line("  say("))),
    )
    received = {item.arm: item for item in driver.receives}
    assert received["agent_state_changed"].event == "agent_state_changed"
    assert {item.place for item in driver.receives} == {Place(HOST, line("  dispatch("))}
    assert {"error", "tool_execution_updated", "eot_prediction"} <= received.keys()


@pytest.mark.parametrize(
    ("declared", "own"),
    [
        ("type DriverCallbacks = AgentSessionEventCallbacks;", set[str]()),
        ("type DriverCallbacks = AgentSessionEventCallbacks & { state: () => void };", {"state"}),
        ("type Own = AgentSessionEventCallbacks;\nexport type DriverCallbacks = Own;", set[str]()),
    ],
)
def test_events_of_a_driver_may_be_the_generated_ones(declared: str, own: set[str]) -> None:
    source = SOURCE.replace("type DriverCallbacks = { state: () => void };", declared)
    source = source.replace("  answer,\n", "  type AgentSessionEventCallbacks,\n  answer,\n")
    small = adopted(source)
    assert small.errors == [] and small.vocabulary.driver is not None
    names = {item.name for item in small.vocabulary.driver.events}
    assert names == {item.event for item in small.vocabulary.driver.receives} | own
    assert {"error", "session_usage", "tool_execution_updated"} <= names


def test_only_calls_of_the_client_send_requests() -> None:
    """The transport has a method with the name of one of the client."""
    calls = """\
  readonly #client = new SessionRequestClient((request) => this.send(request));
  send(request: object) { return this.transport.sendMessage(request); }
  agent() { return this.#client.fetchAgentInfo(); }
  state(client: SessionRequestClient) { return client.fetchSessionState(); }
  usage() {
    const made = new SessionRequestClient(this.send);
    return made.fetchSessionUsage();
  }
  stats() { this.other = new SessionRequestClient(this.send); return this.other.fetchRtcStats(); }
  check() { return new SessionRequestClient(this.send).ping(); }
"""
    driver = adopted(SOURCE.replace("  history()", f"{calls}  history()")).vocabulary.driver
    assert driver is not None
    assert {(item.arm, item.method) for item in driver.sends} == {
        ("get_agent_info", "agent"),
        ("get_session_state", "state"),
        ("get_session_usage", "usage"),
        ("get_rtc_stats", "stats"),
        ("ping", "check"),
        ("get_chat_history", "history"),
        ("run_input", "say"),
    }


def test_generated_code_that_is_not_used_sends_nothing() -> None:
    files = {f"src/protocol/{path.name}": path.read_text() for path in GENERATED.glob("*.ts")}
    sending = "return new pb.SessionRequest({ requestId"
    source = TYPESCRIPT_SDK[HOST].replace(sending, f"this.transport.sendMessage(); {sending}")
    assert source != TYPESCRIPT_SDK[HOST]
    before, after = typescript_sdk({HOST: source}), typescript_sdk({**files, HOST: source})
    assert before.vocabulary.driver == after.vocabulary.driver


def test_generated_code_is_not_read_as_the_sdks() -> None:
    vocabulary = adopted().vocabulary
    assert vocabulary.generated == Place("src/protocol/arms.ts", 1)
    assert not [it for it in vocabulary.constructions if it.place.file.startswith("src/protocol/")]
    assert not [it for it in vocabulary.maps if it.place.file.startswith("src/protocol/")]


def test_request_that_the_handler_no_longer_answers_is_missing() -> None:
    host = adopted(SOURCE.replace("  ping() { return {}; }\n", "")).vocabulary.host
    assert host is not None
    assert [item.arm for item in host.answers] == ["run_input", "update_io"]


def test_mark_is_that_of_the_typescript_target() -> None:
    assert TypeScriptTarget.mark == GENERATED_MARK


def test_literals_and_classes_are_read_without_host_and_driver() -> None:
    scope = replace(TYPESCRIPT, required=("CloseReason", "State"), session="", host="", driver="")
    files = {path: text.encode() for path, text in TYPESCRIPT_SDK.items()}
    reading = read(Package("sdk", files), scope)
    assert reading.diagnostics == []
    assert reading.vocabulary is not None
    assert {item.name for item in reading.vocabulary.enums} >= {"CloseReason", "State"}
    assert (reading.vocabulary.host, reading.vocabulary.driver) == (None, None)
