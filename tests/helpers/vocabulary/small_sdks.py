"""Small SDKs that the tests of the readers change and read.

A small SDK is a dict of files. `¶` in a file marks the expected position of a diagnostic;
it is removed before the file is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span
from scopes import PYTHON, TYPESCRIPT
from sessiongen.vocabulary import Place, Reading, Vocabulary
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary import python as python_reader
from sessiongen.vocabulary import typescript as typescript_reader
from sessiongen.vocabulary.package import Package

MARK = "¶"

PYTHON_SDK = {
    "version.py": '__version__ = "9.8.7"\n',
    "__init__.py": "",
    "voice/__init__.py": "",
    "voice/events.py": """\
from enum import Enum
from typing import Literal

EventTypes = Literal["state_changed", "close"]
State = Literal["idle", "busy"]

class CloseReason(str, Enum):
    ERROR = "error"
    BY_USER = "by-user"

class StateChangedEvent:
    type: Literal["state_changed"] = "state_changed"
    old: State
    new: "State | None"
""",
    "voice/agent_session.py": """\
from livekit import rtc
from .events import EventTypes

class AgentSession(rtc.EventEmitter[EventTypes]):
    def go(self) -> None:
        self.emit("state_changed", None)
""",
    "voice/remote_session.py": """\
from typing import Literal
from livekit import rtc
from livekit.protocol.agent_pb import agent_session as pb
from .agent_session import AgentSession
from .events import StateChangedEvent

class SessionHost:
    def register(self, session: AgentSession) -> None:
        session.on("state_changed", self._on_state)

    def _on_state(self, ev: StateChangedEvent) -> None:
        self._send(pb.AgentSessionEvent(state=pb.AgentSessionEvent.State(new=ev.new)))

    async def _handle(self, req: pb.SessionRequest) -> None:
        if req.HasField("ping"):
            self._send(pb.SessionResponse(request_id=req.request_id, pong=pb.SessionResponse.Pong()))

class RemoteSession(rtc.EventEmitter[Literal["state"]]):
    def _loop(self, msg: pb.AgentSessionMessage) -> None:
        name = msg.event.WhichOneof("event")
        self.emit(name, msg.event)

    async def ping(self) -> None:
        self._request(pb.SessionRequest(request_id="1", ping=pb.SessionRequest.Ping()))
""",
}

TYPESCRIPT_SDK = {
    "package.json": '{"name": "@livekit/agents", "version": "9.8.7"}',
    "src/voice/events.ts": """\
export enum EventTypes { State = 'state_changed', Close = 'close' }
export type State = 'idle' | 'busy';
export enum CloseReason { ERROR = 'error', BY_USER = 'by-user' }
export type StateChangedEvent = { type: 'state_changed'; old: State; new?: State };
""",
    "src/voice/agent_session.ts": """\
import { EventEmitter } from 'node:events';
import { EventTypes, type StateChangedEvent } from './events.js';
export type Callbacks = { [EventTypes.State]: (ev: StateChangedEvent) => void; [EventTypes.Close]: () => void };
export class AgentSession extends (EventEmitter as new () => TypedEmitter<Callbacks>) {
  go() { this.emit(EventTypes.State, {}); }
}
""",
    "src/voice/remote_session.ts": """\
import { AgentSession as pb } from '@livekit/protocol';
import type { AgentSession } from './agent_session.js';
import { EventTypes, type StateChangedEvent } from './events.js';
export class SessionHost {
  register(session: AgentSession) { session.on(EventTypes.State, this.onState); }
  private send(event: pb.AgentSessionEvent['event']) { this.out(new pb.AgentSessionEvent({ event })); }
  private onState = (ev: StateChangedEvent) => {
    this.send({ case: 'stateOf', value: new pb.AgentSessionEvent_StateOf({ newState: ev.new }) });
  };
  private answer(response: pb.SessionResponse['response']) { this.out(new pb.SessionResponse({ response })); }
  handle(req: pb.SessionRequest) {
    switch (req.request.case) {
      case 'ping': return this.answer({ case: 'pong', value: new pb.SessionResponse_Pong() });
    }
  }
}
export type DriverCallbacks = { state: () => void };
export class RemoteSession extends (EventEmitter as new () => TypedEmitter<DriverCallbacks>) {
  dispatch(event: pb.AgentSessionEvent) {
    const ev = event.event;
    switch (ev.case) { case 'stateOf': this.emit('state', ev.value); break; }
  }
  ping() { return new pb.SessionRequest({ requestId: '1', request: { case: 'ping', value: new pb.SessionRequest_Ping() } }); }
}
""",
}


@dataclass(frozen=True)
class Small:
    """The result of reading a small SDK, and the positions that are marked in its files."""

    reading: Reading
    marks: list[Span]

    @property
    def vocabulary(self) -> Vocabulary:
        assert self.reading.vocabulary is not None
        return self.reading.vocabulary

    @property
    def errors(self) -> list[Diagnostic]:
        return [item for item in self.reading.diagnostics if item.severity is Severity.ERROR]

    def fault(self, rule: Rule) -> Diagnostic:
        """Returns the one error, which must have this rule and stand at the mark."""
        errors = [item for item in self.errors if item.rule is rule]
        assert [item.span for item in errors] == self.marks, self.errors
        return errors[0]


def python_sdk(changes: Mapping[str, str] | None = None, required: tuple[str, ...] = ()) -> Small:
    """Reads the small Python SDK with some files changed or added."""
    return _small(PYTHON, PYTHON_SDK, "livekit/agents/", changes or {}, required)


def typescript_sdk(
    changes: Mapping[str, str] | None = None, required: tuple[str, ...] = ()
) -> Small:
    """Reads the small TypeScript SDK with some files changed or added."""
    return _small(TYPESCRIPT, TYPESCRIPT_SDK, "", changes or {}, required)


def _small(
    scope: Scope,
    base: Mapping[str, str],
    prefix: str,
    changes: Mapping[str, str],
    required: tuple[str, ...],
) -> Small:
    files: dict[str, bytes] = {}
    marks = []
    for path, text in {**base, **changes}.items():
        while MARK in text:
            before = text[: text.index(MARK)]
            line = before.count("\n") + 1
            marks.append(Span(f"sdk/{prefix}{path}", line, len(before.rpartition("\n")[2]) + 1))
            text = text.replace(MARK, "", 1)
        files[prefix + path] = text.encode()
    chosen = replace(scope, required=required)
    reader = python_reader.read if scope is PYTHON else typescript_reader.read
    return Small(reader(Package("sdk", files), chosen), marks)


def facts(vocabulary: Vocabulary) -> Any:
    """Returns the facts of a vocabulary without places, the functions' names and the code."""

    def plain(value: Any) -> Any:
        if isinstance(value, Place):
            return None
        if hasattr(value, "_asdict"):
            return {key: plain(item) for key, item in value._asdict().items() if key != "within"}
        return [plain(item) for item in value] if isinstance(value, tuple) else value

    return plain(vocabulary._replace(definitions=()))


def assert_same_facts(changed: Small, unchanged: Small) -> None:
    """Checks that nothing is reported, and that the facts are those of the unchanged SDK."""
    assert changed.reading.diagnostics == []
    assert facts(changed.vocabulary) == facts(unchanged.vocabulary)
