"""Tests of the Python reader: events, hosts, drivers, and damaged sources."""

from __future__ import annotations


import pytest
from small_sdks import PYTHON_SDK, python_sdk

from sessiongen.diagnostics import Rule, Severity
from scopes import PYTHON
from sessiongen.vocabulary import Place
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.python import read
from small_python_sdk import EVENTS, HOST, SESSION, ROOT, EVENTS_PATH, host


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('session.on("state_changed"', "session.on(¶NAME"),
        ("self._on_state)", "¶partial(self._on_state))"),
        ("self.emit(name, msg.event)", "¶self.emit(name.upper(), msg.event)"),
    ],
)
def test_unreadable_event(old: str, new: str) -> None:
    small = python_sdk(host(old, new))
    span = next(item.span for item in small.errors if item.rule is Rule.SDK_EVENT)
    assert [span] == small.marks


@pytest.mark.parametrize(
    "body",
    [
        "self.emit(¶name, None)",
        "self.emit(¶f'{name}_changed', None)",
        "super().emit(¶name, None)",
    ],
)
def test_emitted_name_that_is_not_constant(body: str) -> None:
    text = PYTHON_SDK[SESSION] + f"    def more(self, name: str) -> None:\n        {body}\n"
    python_sdk({SESSION: text}).fault(Rule.SDK_EVENT)


def test_declared_events_that_are_not_constant() -> None:
    text = PYTHON_SDK[SESSION].replace("class AgentSession", "¶class AgentSession")
    python_sdk({SESSION: text.replace("[EventTypes]", "[str]")}).fault(Rule.SDK_EVENT)


def test_receivers_of_emit() -> None:
    other = """\
from .agent_session import AgentSession

class Activity:
    session_: AgentSession
    def __init__(self, agent: int, sess: "AgentSession[int] | None") -> None:
        self._agent, self._s = agent, sess
    @property
    def of(self) -> AgentSession: ...
    def go(self) -> None:
        self._s.emit("by_attribute", 1)
        self.of.emit("by_property", 1)
        self.session_.emit("by_annotation", 1)
        self._agent.emit("not_the_session", 1)
        self.emit("not_this_class", 1)

async def run(session: AgentSession) -> None:
    session.emit("by_parameter", 1)
"""
    override = (
        PYTHON_SDK[SESSION] + "    def emit(self, event, arg):\n        super().emit(event, arg)\n"
    )
    small = python_sdk({"voice/activity.py": other, SESSION: override})
    session = small.vocabulary.session
    assert small.errors == [] and session is not None
    assert [event.name for event in session.emits] == [
        "by_annotation",
        "by_attribute",
        "by_parameter",
        "by_property",
        "state_changed",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('if req.HasField("ping")', "if req.HasField(¶NAME)"),
        ('if req.HasField("ping")', 'if not ¶req.HasField("ping")'),
        ('if req.HasField("ping")', 'while ¶req.HasField("ping")'),
        (
            "pb.AgentSessionEvent(state=pb.AgentSessionEvent.State(new=ev.new))",
            "¶pb.AgentSessionEvent(**arm)",
        ),
        (
            'pb.SessionRequest(request_id="1", ping=pb.SessionRequest.Ping())',
            "¶pb.SessionRequest(**arm)",
        ),
    ],
)
def test_unreadable_request_or_arm(old: str, new: str) -> None:
    small = python_sdk(host(old, new))
    span = next(
        item.span
        for item in small.errors
        if "const" in item.message or "test" in item.message or "computed" in item.message
    )
    assert [span] == small.marks


@pytest.mark.parametrize(
    ("role", "problem"),
    [
        ("SessionHost", "answers no request"),
        ("SessionHost", "forwards no event"),
        ("RemoteSession", "sends no request"),
    ],
)
def test_role_class_without_readable_code(role: str, problem: str) -> None:
    text = PYTHON_SDK[HOST].partition("class SessionHost")[0]
    text += "class SessionHost: ...\nclass RemoteSession(rtc.EventEmitter[Literal['state']]): ...\n"
    messages = [item.message for item in python_sdk({HOST: text}).errors]
    assert f"{role} {problem} that can be read" in messages


@pytest.mark.parametrize(
    "test",
    [
        'if req.HasField("one") or req.HasField("two"):\n            self._reply()',
        'kind = req.WhichOneof("request")\n        if kind == "one":\n            self._reply()\n        elif kind in ("two",):\n            self._reply()',
        'match req.WhichOneof("request"):\n            case "one" | "two":\n                self._reply()',
    ],
)
def test_forms_of_request_dispatch(test: str) -> None:
    source = PYTHON_SDK[HOST].replace(
        'if req.HasField("ping"):\n', f"{test}\n\n    def _reply(self) -> None:\n        if True:\n"
    )
    answers = python_sdk({HOST: source}).vocabulary.host
    assert answers is not None
    assert [(item.arm, item.response) for item in answers.answers] == [
        ("one", "pong"),
        ("two", "pong"),
    ]


def test_fields_a_host_reads_of_a_request() -> None:
    source = PYTHON_SDK[HOST].replace(
        'if req.HasField("ping"):\n',
        'if req.HasField("ping"):\n'
        "            io = req.ping\n"
        '            if io.HasField("left") and io.left.on: use(io.right.up.off, req.ping.size)\n',
    )
    host_fact = python_sdk({HOST: source}).vocabulary.host
    assert host_fact is not None
    assert host_fact.answers[0].reads == ("left.on", "right.up.off", "size")


def test_handler_called_directly_and_handler_without_callers() -> None:
    source = PYTHON_SDK[HOST].replace(
        "    async def _handle",
        "    def _on_guess(self, ev: int) -> None:\n"
        "        self._send(pb.AgentSessionEvent(guess=pb.Guess()))\n\n"
        "    def _on_dead(self, ev: int) -> None:\n"
        "        self._send(pb.AgentSessionEvent(dead=pb.Guess()))\n\n"
        "    async def _handle",
    )
    own = "class Other:\n    def go(self) -> None:\n        self._on_guess(1)\n"
    caller = "def go(host):\n    if host:\n        host._on_guess(1)\n"
    files = {HOST: source, "voice/aside.py": own, "voice/detect.py": caller}
    host = python_sdk(files).vocabulary.host
    assert host is not None
    called = {item.arm: (item.event, item.via) for item in host.forwards}
    assert called["guess"] == (None, Place(f"{ROOT}voice/detect.py", 3))
    assert called["dead"] == (None, None)


def test_method_called_by_a_handler_is_not_a_handler() -> None:
    source = PYTHON_SDK[HOST].replace(
        "    def _on_state(self, ev: StateChangedEvent) -> None:\n",
        "    def _on_state(self, ev: StateChangedEvent) -> None:\n        self._forward(ev)\n\n"
        "    def _forward(self, ev: StateChangedEvent) -> None:\n",
    )
    host = python_sdk({HOST: source}).vocabulary.host
    assert host is not None
    assert [(item.arm, item.event, item.handler) for item in host.forwards] == [
        ("state", "state_changed", "_on_state")
    ]


def test_driver_that_names_each_event() -> None:
    source = PYTHON_SDK[HOST].replace(
        'name = msg.event.WhichOneof("event")\n        self.emit(name, msg.event)',
        'if msg.event.HasField("state_of"):\n            self.emit("state", msg.event)',
    )
    driver = python_sdk({HOST: source}).vocabulary.driver
    assert driver is not None and driver.emits_by_arm_name is None
    assert [(item.arm, item.event) for item in driver.receives] == [("state_of", "state")]


@pytest.mark.parametrize(
    ("body", "fields", "is_open"),
    [
        ("return pb.Report(a=1, b=2)", ("a", "b"), False),
        (
            "x = pb.Report(a=1)\n    x.b.CopyFrom(y)\n    x.c = 1\n    x.d.e = 2\n    x.f['k'] = 1",
            ("a", "b", "c", "d", "d.e", "f"),
            False,
        ),
        ("kind = pb.Report\n    return kind(a=1)", ("a",), False),
        ("return pb.Report(**values)", (), True),
        ("return copy(pb.Report, item, a=1)", ("a",), True),
        ("x = pb.Report()\n    getattr(x, name).CopyFrom(y)", (), True),
        ("x = pb.Report(a=1)\n    if x.HasField('b'): print(x.c)", ("a",), False),
    ],
)
def test_filled_fields_of_a_construction(body: str, fields: tuple[str, ...], is_open: bool) -> None:
    source = PYTHON_SDK[HOST] + f"\ndef encode(item):\n    {body}\n"
    builds = [
        item
        for item in python_sdk({HOST: source}).vocabulary.constructions
        if item.message == "Report"
    ]
    assert [(item.fields, item.open, item.within) for item in builds] == [
        (fields, is_open, "encode")
    ]


def test_enum_values_and_annotations_are_not_constructions() -> None:
    source = PYTHON_SDK[HOST] + (
        "MAP: dict[str, pb.State] = {'a': pb.State.ST_A, 'b': pb.ST_B}\n"
        "def f(x: pb.Thing) -> pb.Thing:\n    return x if isinstance(x, pb.Other) else Chan[pb.Thing]()\n"
    )
    messages = {item.message for item in python_sdk({HOST: source}).vocabulary.constructions}
    assert not messages & {"State", "State.ST_A", "ST_B", "Thing", "Other"}


def test_encoders_in_any_module() -> None:
    encoder = "from livekit.protocol.agent_pb import agent_session as _pb\ndef encode(x): return _pb.Item(id=x.id)\n"
    source = PYTHON_SDK[HOST] + "from .._encode import encode\n"
    small = python_sdk({HOST: source, "_encode.py": encoder, "console/audio.py": encoder})
    assert [
        str(item.place) for item in small.vocabulary.constructions if item.message == "Item"
    ] == [
        f"{ROOT}_encode.py:2",
        f"{ROOT}console/audio.py:2",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("class X(\n  ¶)(\n", "the file cannot be parsed"),
        ("x = 1\nclass ¶:\n", "the file cannot be parsed"),
    ],
)
def test_syntax_error_is_a_diagnostic(text: str, message: str) -> None:
    [error] = [item for item in python_sdk({EVENTS: text}).errors if item.rule is Rule.SDK_SOURCE]
    assert message in error.message
    assert error.span.file == f"sdk/{EVENTS_PATH}"
    assert error.span.line >= 2


@pytest.mark.parametrize("version", ["", "__version__ = str(1)\n", "VERSION = '1'\n"])
def test_version_must_be_a_constant(version: str) -> None:
    [error] = python_sdk({"version.py": version}).errors
    assert error.rule is Rule.SDK_PACKAGE


def test_role_class_defined_twice() -> None:
    small = python_sdk({"voice/twin.py": "¶class SessionHost: ...\n"})
    small.fault(Rule.SDK_ENUM)


def test_missing_role_class_is_a_warning() -> None:
    source = PYTHON_SDK[HOST].replace("class RemoteSession", "class Remote")
    small = python_sdk({HOST: source})
    assert [(item.rule, item.severity) for item in small.reading.diagnostics] == [
        (Rule.SDK_MISSING, Severity.WARNING)
    ]
    assert small.vocabulary.driver is None


@pytest.mark.parametrize(
    "text",
    [
        "x = " + "(" * 300 + ")" * 300,
        "x = " + "-" * 100_000 + "1",
        "x = " + "a." * 20_000 + "b",
        "x = 1\0",
    ],
)
def test_sources_that_cannot_be_parsed(text: str) -> None:
    small = python_sdk({EVENTS: PYTHON_SDK[EVENTS] + text + "\n"})
    assert small.errors or small.vocabulary.enum("State")


def test_file_that_is_not_utf_8() -> None:
    files = {ROOT + path: text.encode() for path, text in PYTHON_SDK.items()}
    files[EVENTS_PATH] += "# é".encode("latin-1")
    errors = [
        item
        for item in read(Package("sdk", files), PYTHON).diagnostics
        if item.rule is Rule.SDK_SOURCE
    ]
    assert [str(item.span) for item in errors] == [f"sdk/{EVENTS_PATH}:15:1"]
