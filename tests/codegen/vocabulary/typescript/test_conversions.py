"""Tests of how a TypeScript SDK converts literals, in the forms in which SDKs write it."""

from __future__ import annotations

import pytest
from small_sdks import TYPESCRIPT_SDK, typescript_sdk
from small_typescript_sdk import HOST

from sessiongen.vocabulary import Conversion

BOTH = {"idle": "AS_IDLE", "busy": "AS_BUSY"}
TABLE = "const T = { idle: pb.Stat.AS_IDLE };"
# Definitions of a file, the value that fills a field of `ev.state`, the pairs, and the default.
FORMS: dict[str, tuple[str, str, dict[str, str], str]] = {
    "lookup": (TABLE, "T[ev.state]", {"idle": "AS_IDLE"}, "undefined"),
    "non-null assertion": (TABLE, "T[ev.state]!", {"idle": "AS_IDLE"}, "undefined"),
    "default": (TABLE, "T[ev.state] ?? pb.Stat.AS_BUSY", {"idle": "AS_IDLE"}, "AS_BUSY"),
    "or": (TABLE, "T[ev.state] || pb.Stat.AS_BUSY", {"idle": "AS_IDLE"}, "AS_BUSY"),
    "frozen table": (
        "const T = Object.freeze({ idle: pb.Stat.AS_IDLE } as const);",
        "T[ev.state]",
        {"idle": "AS_IDLE"},
        "undefined",
    ),
    "spread": (
        "const A = { idle: pb.Stat.AS_IDLE }; const T = { ...A, busy: pb.Stat.AS_BUSY };",
        "T[ev.state]",
        BOTH,
        "undefined",
    ),
    "map": (
        "const T = new Map<State, pb.Stat>([['idle', pb.Stat.AS_IDLE], ['busy', pb.Stat.AS_BUSY]]);",
        "T.get(ev.state)!",
        BOTH,
        "undefined",
    ),
    "entries": (
        "const T = Object.fromEntries(Object.values(CloseReason)"
        ".map((r) => [r, pb.Reason[`R_${r.toUpperCase().replace('-', '_')}`]]));",
        "T[ev.reason] ?? pb.Reason.R_UNKNOWN",
        {"error": "R_ERROR", "by-user": "R_BY_USER"},
        "R_UNKNOWN",
    ),
    "switch": (
        "function f(s: string): pb.Stat { switch (s) { case 'idle': return pb.Stat.AS_IDLE;"
        " case 'busy': case 'full': return pb.Stat.AS_BUSY; default: throw new RangeError(s); } }",
        "f(ev.state)",
        {**BOTH, "full": "AS_BUSY"},
        "RangeError",
    ),
    "switch with a variable": (
        "function f(s: string) { let r: pb.Stat | undefined; switch (s) {"
        " case 'idle': r = pb.Stat.AS_IDLE; break; case 'busy': r = pb.Stat.AS_BUSY; break;"
        " default: r = pb.Stat.AS_ZERO; } return r; }",
        "f(ev.state)",
        BOTH,
        "AS_ZERO",
    ),
    "switch on members of an enum": (
        "const f = (s: CloseReason) => { switch (s) { case CloseReason.ERROR:"
        " return pb.Reason.R_ERROR; } return pb.Reason.R_OTHER; };",
        "f(ev.reason)",
        {"error": "R_ERROR"},
        "R_OTHER",
    ),
    "chain of if": (
        "function f(s: string) { if (s === 'idle') return pb.Stat.AS_IDLE;"
        " else if (s === 'busy') { return pb.Stat.AS_BUSY; } }",
        "f(ev.state)",
        BOTH,
        "undefined",
    ),
    "conditional expressions": (
        "",
        "ev.state === 'idle' ? pb.Stat.AS_IDLE : ev.state === 'busy' ? pb.Stat.AS_BUSY : undefined",
        BOTH,
        "undefined",
    ),
    "name of the proto value": (
        "const f = (s: State) => pb.Stat[`AS_${s.toUpperCase()}` as keyof typeof pb.Stat];",
        "f(ev.state)",
        BOTH,
        "undefined",
    ),
    "loop over pairs": (
        "const T = [['idle', pb.Stat.AS_IDLE]] as const;"
        " function f(s: string) { for (const [a, b] of T) { if (a === s) return b; } return undefined; }",
        "f(ev.state)",
        {"idle": "AS_IDLE"},
        "undefined",
    ),
    "method": ("", "this.convert(ev.state)", {"idle": "AS_IDLE"}, "AS_BUSY"),
    "always the same": ("", "pb.Stat.AS_IDLE", {}, "AS_IDLE"),
}
UNREADABLE = {
    "unknown function": ("", "unknown(ev.state)"),
    "method of the value": ("", "ev.state.toProto(1)"),
    "two sources": (TABLE, "ev.ready ? T[ev.state] : pb.Stat.AS_BUSY"),
    "changed table": (f"{TABLE} T.busy = pb.Stat.AS_BUSY;", "T[ev.state]"),
    "changed map": ("const T = new Map(); T.set('idle', pb.Stat.AS_IDLE);", "T.get(ev.state)"),
    "recursion": ("function f(s: string): pb.Stat { return f(s); }", "f(ev.state)"),
    "key that is computed": ("const T = { [key()]: pb.Stat.AS_IDLE };", "T[ev.state]"),
    "spread of something unknown": ("const T = { ...more, idle: pb.Stat.AS_IDLE };", "T[ev.state]"),
}


def conversions(definitions: str, value: str) -> list[Conversion]:
    """Returns the conversions of a host that fills a field with a value."""
    host = TYPESCRIPT_SDK[HOST].replace("newState: ev.new", f"newState: {value}")
    host = host.replace(
        "type StateChangedEvent }", "CloseReason, type State, type StateChangedEvent }"
    )
    host = host.replace(
        "export class SessionHost {\n",
        f"{definitions}\nexport class SessionHost {{\n"
        "  private convert(s: string) { return s === 'idle' ? pb.Stat.AS_IDLE : pb.Stat.AS_BUSY; }\n",
    )
    small = typescript_sdk({HOST: host})
    return [item for item in small.vocabulary.conversions if item.field == "new_state"]


@pytest.mark.parametrize(("definitions", "value", "pairs", "default"), FORMS.values(), ids=FORMS)
def test_form_is_read(definitions: str, value: str, pairs: dict[str, str], default: str) -> None:
    [fact] = conversions(definitions, value)
    assert (dict(fact.pairs), fact.default) == (pairs, default)
    assert (fact.message, fact.within) == ("AgentSessionEvent.StateOf", "SessionHost.onState")


@pytest.mark.parametrize(("definitions", "value"), UNREADABLE.values(), ids=UNREADABLE)
def test_form_that_is_not_read(definitions: str, value: str) -> None:
    assert conversions(definitions, value) == []


def test_variables_assignments_and_parameters_are_followed() -> None:
    source = TYPESCRIPT_SDK[HOST] + (
        f"{TABLE}\n"
        "class Encoder {\n"
        "  variable(ev: Ev) {\n"
        "    let state = pb.Stat.AS_BUSY;\n"
        "    if (ev.state === 'idle') { state = pb.Stat.AS_IDLE; }\n"
        "    const message = new pb.Stated({ one: state });\n"
        "    message.two = T[ev.other];\n"
        "  }\n"
        "  parameter(state: pb.Stat) { return new pb.Stated({ three: state }); }\n"
        "  call(ev: Ev) { return this.parameter(T[ev.state]); }\n"
        "}\n"
    )
    facts = {item.field: item for item in typescript_sdk({HOST: source}).vocabulary.conversions}
    assert {name: (item.table, item.default) for name, item in facts.items()} == {
        "one": ("variable", "AS_BUSY"),
        "two": ("T", "undefined"),
        "three": ("T", "undefined"),
    }
