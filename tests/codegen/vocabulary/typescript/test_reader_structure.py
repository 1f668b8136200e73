"""Tests of SDKs that are arranged in another way: imports, base classes, constants, defaults.

Each change leaves the SDK's behaviour as it is, so the facts must stay the same but for places.
"""

from __future__ import annotations


import pytest
from small_sdks import TYPESCRIPT_SDK, assert_same_facts, typescript_sdk
from small_typescript_sdk import HOST, SESSION

from sessiongen.vocabulary import Place

SOURCE = TYPESCRIPT_SDK[HOST]
IMPORT = "import { AgentSession as pb } from '@livekit/protocol';\n"
SESSION_IMPORT = "import type { AgentSession } from './agent_session.js';\n"


IMPORTS = {
    "the whole package": {
        HOST: SOURCE.replace(IMPORT, "import * as wire from '@livekit/protocol';\n").replace(
            "pb.", "wire.AgentSession."
        )
    },
    "a constant for a message": {
        HOST: SOURCE.replace(IMPORT, IMPORT + "const Request = pb.SessionRequest;\n").replace(
            "new pb.SessionRequest(", "new Request("
        )
    },
    "names from the namespace": {
        HOST: SOURCE.replace(
            IMPORT, IMPORT + "const { SessionRequest, SessionResponse: Answer } = pb;\n"
        )
        .replace("new pb.SessionRequest(", "new SessionRequest(")
        .replace("new pb.SessionResponse(", "new Answer(")
    },
    "an alias of a type": {
        HOST: SOURCE.replace(IMPORT, IMPORT + "type Request = pb.SessionRequest;\n").replace(
            "req: pb.SessionRequest", "req: Request"
        )
    },
    "an import alias": {
        HOST: SOURCE.replace(IMPORT, IMPORT + "import Request = pb.SessionRequest;\n")
        .replace("new pb.SessionRequest(", "new Request(")
        .replace("req: pb.SessionRequest", "req: Request")
    },
    "a file that exports the messages": {
        HOST: SOURCE.replace(IMPORT, "import { pb } from './wire.js';\n"),
        "src/voice/wire.ts": "export { AgentSession as pb } from '@livekit/protocol';\n",
    },
    "a file that exports everything": {
        HOST: SOURCE.replace(IMPORT, "import { AgentSession as pb } from './wire.js';\n").replace(
            SESSION_IMPORT, "import type { AgentSession } from './agent_session.js';\n"
        ),
        "src/voice/wire.ts": "export * from '@livekit/protocol';\n",
    },
    "a file that exports some messages": {
        HOST: SOURCE.replace(IMPORT, IMPORT + "import { Request } from './wire.js';\n").replace(
            "new pb.SessionRequest(", "new Request("
        ),
        "src/voice/wire.ts": IMPORT + "export const Request = pb.SessionRequest;\n",
    },
    "protobuf-es 2": {
        HOST: SOURCE.replace(IMPORT, IMPORT + "import { create } from '@bufbuild/protobuf';\n")
        .replace("new pb.SessionRequest(", "create(pb.SessionRequestSchema, ")
        .replace("new pb.SessionResponse(", "create(pb.SessionResponseSchema, ")
        .replace("new pb.SessionResponse_Pong()", "create(pb.SessionResponse_PongSchema)")
    },
}


@pytest.mark.parametrize("changes", IMPORTS.values(), ids=IMPORTS)
def test_messages_are_imported_in_another_way(changes: dict[str, str]) -> None:
    assert_same_facts(typescript_sdk(changes), typescript_sdk())


def between(start: str, end: str) -> str:
    return SOURCE[SOURCE.index(start) : SOURCE.index(end)]


SENDING = between("  private send(", "  private answer(")
ANSWERING = between("  private answer(", "}\nexport type DriverCallbacks")


def test_base_class_of_the_host_in_its_file() -> None:
    source = SOURCE.replace(SENDING, "").replace(ANSWERING, "")
    source = source.replace(
        "export class SessionHost {\n",
        f"class Base {{\n{SENDING}{ANSWERING}}}\nexport class SessionHost extends Base {{\n",
    )
    assert_same_facts(typescript_sdk({HOST: source}), typescript_sdk())


def test_base_class_of_the_host_in_another_file() -> None:
    source = SOURCE.replace(SENDING, "").replace(ANSWERING, "")
    source = source.replace("export class SessionHost {", "export class SessionHost extends Base {")
    source = source.replace(SESSION_IMPORT, SESSION_IMPORT + "import { Base } from './base.js';\n")
    base = f"{IMPORT}import type {{ StateChangedEvent }} from './events.js';\n"
    base += f"export class Base {{\n{SENDING}{ANSWERING}}}\n"
    small = typescript_sdk({HOST: source, "src/voice/base.ts": base})
    assert_same_facts(small, typescript_sdk())
    assert small.vocabulary.host is not None
    [forward] = small.vocabulary.host.forwards
    assert forward.place == Place("src/voice/base.ts", 6)


def test_method_that_calls_the_one_of_the_base() -> None:
    source = SOURCE.replace(
        ANSWERING, "  handle(req: pb.SessionRequest) { return super.handle(req); }\n"
    )
    source = source.replace(
        "export class SessionHost {\n",
        f"class Base {{\n{ANSWERING}}}\nexport class SessionHost extends Base {{\n",
    )
    assert_same_facts(typescript_sdk({HOST: source}), typescript_sdk())


def test_base_class_of_the_session() -> None:
    source = TYPESCRIPT_SDK[SESSION].replace(
        "export class AgentSession extends", "class Base extends"
    )
    assert_same_facts(
        typescript_sdk({SESSION: source + "export class AgentSession extends Base {}\n"}),
        typescript_sdk(),
    )


def test_base_class_of_the_driver() -> None:
    source = SOURCE.replace("export class RemoteSession extends", "class Base extends")
    assert_same_facts(
        typescript_sdk({HOST: source + "export class RemoteSession extends Base {}\n"}),
        typescript_sdk(),
    )


CONSTANTS = {
    "of the file": ({HOST: SOURCE + "const STATE = 'state_changed';\n"}, "STATE"),
    "of another file": (
        {
            HOST: SOURCE.replace(
                SESSION_IMPORT, SESSION_IMPORT + "import { STATE } from './names.js';\n"
            ),
            "src/voice/names.ts": "export const STATE = 'state_changed' as const;\n",
        },
        "STATE",
    ),
    "of the class": (
        {
            HOST: SOURCE.replace(
                "export class SessionHost {\n",
                "export class SessionHost {\n  readonly state = 'state_changed';\n",
            )
        },
        "this.state",
    ),
    "of the class itself": (
        {
            HOST: SOURCE.replace(
                "export class SessionHost {\n",
                "export class SessionHost {\n  static readonly STATE = 'state_changed';\n",
            )
        },
        "SessionHost.STATE",
    ),
}


@pytest.mark.parametrize(("changes", "name"), CONSTANTS.values(), ids=CONSTANTS)
def test_event_name_that_is_a_constant(changes: dict[str, str], name: str) -> None:
    changed = {
        **changes,
        HOST: changes[HOST].replace("session.on(EventTypes.State", f"session.on({name}"),
    }
    small = typescript_sdk(changed)
    assert small.reading.diagnostics == []
    assert small.vocabulary.host == typescript_sdk(changes).vocabulary.host


def test_event_that_is_emitted_by_a_constant() -> None:
    source = TYPESCRIPT_SDK[SESSION].replace("emit(EventTypes.State", "emit(NAME")
    assert_same_facts(
        typescript_sdk({SESSION: source + "const NAME = 'state_changed';\n"}), typescript_sdk()
    )


def test_arm_that_is_a_constant() -> None:
    source = SOURCE.replace("case 'ping': return", "case PING: return")
    assert_same_facts(typescript_sdk({HOST: source + "const PING = 'ping';\n"}), typescript_sdk())


ANSWER = "this.out(new pb.SessionResponse({ error: 'unknown' }))"
UNKNOWN = {
    "in place": (f"default: return {ANSWER};", ""),
    "method": ("default: return this.refuse();", f"  refuse() {{ {ANSWER}; }}\n"),
    "method of a method": (
        "default: return this.no();",
        f"  no() {{ this.refuse(); }}\n  refuse() {{ {ANSWER}; }}\n",
    ),
    "function": ("default: return this.out(refusal());", ""),
}


@pytest.mark.parametrize(("branch", "methods"), UNKNOWN.values(), ids=UNKNOWN)
def test_default_branch_that_answers(branch: str, methods: str) -> None:
    answer = "return this.answer({ case: 'pong', value: new pb.SessionResponse_Pong() });\n"
    assert answer in SOURCE
    source = SOURCE.replace(answer, f"{answer}      {branch}\n")
    source = source.replace("  handle(req", f"{methods}  handle(req")
    source += "function refusal() { return new pb.SessionResponse({ error: 'unknown' }); }\n"
    small = typescript_sdk({HOST: source})
    assert small.reading.diagnostics == []
    assert small.vocabulary.host is not None
    assert small.vocabulary.host.unknown_request is not None
