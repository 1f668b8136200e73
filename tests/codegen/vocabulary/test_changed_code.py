"""Tests of the warnings about code of an SDK that changed without a change of its facts."""

from __future__ import annotations

import pytest
from small_sdks import PYTHON_SDK, TYPESCRIPT_SDK, python_sdk, typescript_sdk

from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span
from sessiongen.vocabulary.changed_code import changed_code
from sessiongen.vocabulary.model import Place, Vocabulary
from sessiongen.vocabulary.store import dump, parse

PYTHON_FILE, TYPESCRIPT_FILE = "voice/remote_session.py", "src/voice/remote_session.ts"

# Edits of the small SDKs that change no fact: the file, what is replaced, and what changed.
PYTHON_EDITS = {
    "another statement": (
        PYTHON_FILE,
        (
            "        self.emit(name, msg.event)\n",
            "        self.emit(name, msg.event)\n        self.n += 1\n",
        ),
        ["RemoteSession._loop"],
    ),
    "a decorator": (
        PYTHON_FILE,
        ("    async def _handle", "    @sometimes\n    async def _handle"),
        ["SessionHost._handle"],
    ),
    "a new method": (
        PYTHON_FILE,
        ("    async def _handle", "    def emit(self) -> None: ...\n\n    async def _handle"),
        ["SessionHost"],
    ),
    "the default of a field": (
        "voice/events.py",
        ("    old: State\n", '    old: State = "idle"\n'),
        ["StateChangedEvent"],
    ),
    "a comment in a text": (
        PYTHON_FILE,
        ("self.emit(name, msg.event)", 'self.emit(name, msg.event, "# x")'),
        ["RemoteSession._loop"],
    ),
}
TYPESCRIPT_EDITS = {
    "another call": (
        TYPESCRIPT_FILE,
        ("{ this.out(new pb.AgentSessionEvent(", "{ this.later(new pb.AgentSessionEvent("),
        ["SessionHost.send"],
    ),
    "an arrow function": (
        TYPESCRIPT_FILE,
        ("(ev: StateChangedEvent) => {\n", "(ev: StateChangedEvent) => {\n    this.count += 1;\n"),
        ["SessionHost.onState"],
    ),
    "a new method": (
        TYPESCRIPT_FILE,
        ("  handle(", "  close() {}\n  handle("),
        ["SessionHost"],
    ),
    "a type": (
        TYPESCRIPT_FILE,
        ("{ state: () => void }", "{ state: () => boolean }"),
        ["DriverCallbacks"],
    ),
}
PYTHON_LAYOUT = {
    "comments, a docstring and lines": (
        "        name = msg.event.WhichOneof(",
        '        """Emits."""\n        # The arm.\n\n        name = msg.event.WhichOneof(\n          ',
    ),
    "another order": (
        "        self.emit(name, msg.event)\n",
        "        self.emit(name, msg.event)\n\n\n",
    ),
    "quotes": ('"event"', "'event'"),
}
TYPESCRIPT_LAYOUT = {
    "comments and lines": (
        "{ this.out(new pb.AgentSessionEvent(",
        "{\n /* all */ this.out(new // x\n pb.AgentSessionEvent(",
    ),
    "quotes, semicolons and commas": (
        "{ case: 'pong', value: new pb.SessionResponse_Pong() });",
        '{ case: "pong", value: new pb.SessionResponse_Pong(), },)',
    ),
}


def python_edited(file: str, edit: tuple[str, str]) -> Vocabulary:
    assert edit[0] in PYTHON_SDK[file]
    return python_sdk({file: PYTHON_SDK[file].replace(*edit)}).vocabulary


def typescript_edited(file: str, edit: tuple[str, str]) -> Vocabulary:
    assert edit[0] in TYPESCRIPT_SDK[file]
    return typescript_sdk({file: TYPESCRIPT_SDK[file].replace(*edit)}).vocabulary


def changes(before: Vocabulary, after: Vocabulary) -> list[Diagnostic]:
    found = changed_code(before, after, lambda place: Span(place.file, place.line))
    assert {item.rule for item in found} <= {Rule.SDK_CODE}
    return found


def warned(names: list[str]) -> list[tuple[Severity, str]]:
    text = "the code of {} changed, but no fact read from it"
    return [(Severity.WARNING, text.format(name)) for name in names]


def severities(found: list[Diagnostic]) -> list[tuple[Severity, str]]:
    return [(item.severity, item.message) for item in found]


@pytest.mark.parametrize("edit", PYTHON_EDITS)
def test_code_of_python(edit: str) -> None:
    file, replaced, names = PYTHON_EDITS[edit]
    found = changes(python_sdk().vocabulary, python_edited(file, replaced))
    assert severities(found) == warned(names)


@pytest.mark.parametrize("edit", TYPESCRIPT_EDITS)
def test_code_of_typescript(edit: str) -> None:
    file, replaced, names = TYPESCRIPT_EDITS[edit]
    found = changes(typescript_sdk().vocabulary, typescript_edited(file, replaced))
    assert severities(found) == warned(names)


@pytest.mark.parametrize("edit", PYTHON_LAYOUT)
def test_layout_of_python(edit: str) -> None:
    edited = python_edited(PYTHON_FILE, PYTHON_LAYOUT[edit])
    assert changes(python_sdk().vocabulary, edited) == []


@pytest.mark.parametrize("edit", TYPESCRIPT_LAYOUT)
def test_layout_of_typescript(edit: str) -> None:
    edited = typescript_edited(TYPESCRIPT_FILE, TYPESCRIPT_LAYOUT[edit])
    assert changes(typescript_sdk().vocabulary, edited) == []


def test_a_change_of_facts_is_a_note() -> None:
    edited = python_edited(PYTHON_FILE, ("new=ev.new", "new=ev.old"))
    [note] = changes(python_sdk().vocabulary, edited)
    text = "the code of SessionHost._on_state changed, and facts read from it"
    assert (note.severity, note.message) == (Severity.NOTE, text)
    line = PYTHON_SDK[PYTHON_FILE].partition("def _on_state")[0].count("\n") + 1
    assert note.span == Span(f"livekit/agents/{PYTHON_FILE}", line)


def test_methods_of_data_types() -> None:
    """Properties are read like fields; what other methods do is not sent."""
    field = "    old: State\n"
    code = field + "    @property\n    def kind(self): return 1\n    def copy(self): return 1\n"
    start = python_edited("voice/events.py", (field, code))
    copied = python_edited(
        "voice/events.py", (field, code.replace("copy(self): return 1", "copy(self): return 2"))
    )
    assert changes(start, copied) == []
    other = python_edited(
        "voice/events.py", (field, code.replace("kind(self): return 1", "kind(self): return 2"))
    )
    assert severities(changes(start, other)) == warned(["StateChangedEvent.kind"])


def test_functions_beside_the_events() -> None:
    start, later = (
        typescript_edited(
            "src/voice/events.ts",
            (
                "export type State =",
                f"export function made() {{ return {number}; }}\nexport type State =",
            ),
        )
        for number in (1, 2)
    )
    assert severities(changes(start, later)) == warned(["made"])


EMIT = '        self.emit("state_changed", None)\n'


@pytest.mark.parametrize(
    "code",
    [
        EMIT.replace("None", "1"),
        f"        if self.open:\n    {EMIT}",
        f"        if not self.open:\n            return\n{EMIT}",
        f"        for item in self.items:\n            if item:\n                break\n    {EMIT}",
    ],
)
def test_emission_in_python(code: str) -> None:
    edited = python_edited("voice/agent_session.py", (EMIT, code))
    assert severities(changes(python_sdk().vocabulary, edited)) == warned(["emit('state_changed')"])


EMIT_STATE = "this.emit(EventTypes.State, {});"


@pytest.mark.parametrize(
    "code",
    [
        EMIT_STATE.replace("{}", "{ type: 'state_changed' }"),
        f"if (this.open) {EMIT_STATE}",
        f"if (this.open) {{ this.n += 1; }} else {{ {EMIT_STATE} }}",
        f"if (!this.open) return; {EMIT_STATE}",
        f"for (const item of items) {{ if (item) {{ continue; }} {EMIT_STATE} }}",
    ],
)
def test_emission_in_typescript(code: str) -> None:
    edited = typescript_edited("src/voice/agent_session.ts", (EMIT_STATE, code))
    found = changes(typescript_sdk().vocabulary, edited)
    assert severities(found) == warned(["emit('state_changed')"])


def test_code_around_an_emission_that_is_no_condition() -> None:
    edited = python_edited("voice/agent_session.py", (EMIT, f"        self.n += 1\n{EMIT}"))
    assert changes(python_sdk().vocabulary, edited) == []


def test_one_of_two_emissions_is_gone() -> None:
    two = python_edited("voice/agent_session.py", (EMIT, EMIT + EMIT.replace("None", "1")))
    [warning] = changes(two, python_sdk().vocabulary)
    assert severities([warning]) == warned(["emit('state_changed')"])


def test_statements_outside_of_definitions() -> None:
    start = python_edited(PYTHON_FILE, ("class SessionHost", "pb.patch(1)\nclass SessionHost"))
    other = python_edited(PYTHON_FILE, ("class SessionHost", "pb.patch(2)\nclass SessionHost"))
    none = python_sdk().vocabulary
    name = "livekit.agents.voice.remote_session"
    for before, after in ((start, other), (none, start), (start, none)):
        assert severities(changes(before, after)) == warned([name])


def test_a_definition_that_is_renamed_or_gone() -> None:
    helper = "def helper(value: str) -> str:\n    return value\n\n\nclass SessionHost"
    start = python_edited(PYTHON_FILE, ("class SessionHost", helper))
    renamed = helper.replace("helper", "other")
    assert changes(start, python_edited(PYTHON_FILE, ("class SessionHost", renamed))) == []
    [warning] = changes(start, python_sdk().vocabulary)
    text = "the code of helper does not exist any more, under this name or another one"
    assert (warning.severity, warning.message) == (Severity.WARNING, text)


def test_an_sdk_that_takes_generated_code_over() -> None:
    vocabulary = python_edited(PYTHON_FILE, ("new=ev.new", "new=ev.old"))
    adopted = vocabulary._replace(generated=Place("livekit/agents/_protocol/__init__.py", 1))
    assert changes(python_sdk().vocabulary, adopted) == []
    assert changes(adopted, python_sdk().vocabulary) == []


def test_a_vocabulary_without_code_is_not_compared() -> None:
    vocabulary = python_sdk().vocabulary
    assert changes(vocabulary._replace(definitions=()), vocabulary) == []
    assert changes(vocabulary, parse(dump(vocabulary), "a.json")) == []
