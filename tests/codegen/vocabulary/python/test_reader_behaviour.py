"""Tests of the Python reader: maps, unions, event fields that handlers read, answers."""

from __future__ import annotations

import pytest
from small_python_sdk import EVENTS, EVENTS_PATH, HOST, HOST_PATH, ROOT, events, host
from small_sdks import PYTHON_SDK, Small, python_sdk

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary import (
    EnvelopeUse,
    Default,
    Forward,
    Host,
    MapKeys,
    UnionFact,
    Place,
    IgnoredVariant,
    ValueMap,
)

BUILT = "self._send(pb.AgentSessionEvent(state=pb.AgentSessionEvent.State(new=ev.new)))"
ANSWERED = (
    "self._send(pb.SessionResponse(request_id=req.request_id, pong=pb.SessionResponse.Pong()))"
)


def with_lines(*lines: str) -> dict[str, str]:
    """Returns the small SDK's file of host and driver with lines appended."""
    return {HOST: PYTHON_SDK[HOST] + "\n".join(lines) + "\n"}


def host_of(small: Small) -> Host:
    assert small.errors == []
    assert small.vocabulary.host is not None
    return small.vocabulary.host


def forward(small: Small) -> Forward:
    [fact] = host_of(small).forwards
    return fact


def test_map_from_literals_to_proto_values() -> None:
    small = python_sdk(
        with_lines(
            "from .events import CloseReason",
            "MAP: dict[str, pb.Mood] = {",
            "    'good': pb.Mood.MOOD_GOOD,",
            "    CloseReason.BY_USER: pb.MOOD_BAD,",
            "}",
            "def encode(x):",
            "    return MAP.get(x, pb.MOOD_GOOD), MAP.get(x, None), MAP[x]",
            "OTHER = {'a': pb.MOOD_GOOD, 'b': 2}",
        )
    )
    assert small.errors == []
    line = PYTHON_SDK[HOST].count("\n")
    assert small.vocabulary.maps == (
        ValueMap(
            "MAP",
            Place(HOST_PATH, line + 2),
            (("by-user", "MOOD_BAD"), ("good", "MOOD_GOOD")),
            (Default("MOOD_GOOD", "encode", Place(HOST_PATH, line + 7)),),
        ),
    )


def test_map_of_another_module_and_of_a_function() -> None:
    tables = "from livekit.protocol.agent_pb import agent_session as _pb\nMAP = {'a': _pb.ONE}\n"
    small = python_sdk(
        {
            **with_lines(
                "from ..tables import MAP",
                "def encode(x):",
                "    own = {'b': pb.TWO}",
                "    return MAP.get(x, pb.ONE), own.get(x, pb.TWO)",
            ),
            "tables.py": tables,
        }
    )
    defaults = {
        item.name: [default.value for default in item.defaults] for item in small.vocabulary.maps
    }
    assert defaults == {"MAP": ["ONE"], "own": ["TWO"]}


def test_key_of_a_map_that_cannot_be_read() -> None:
    small = python_sdk(with_lines("MAP = {'a': pb.ONE, ¶key(): pb.TWO}"))
    assert small.fault(Rule.SDK_ENUM).message == "a key of the map MAP is not a constant"


@pytest.mark.parametrize(
    ("value", "keys", "is_open", "line"),
    [
        ("{'a': 1, 'b': 2}", ("a", "b"), False, 12),
        ("{'a': 1, **more}", ("a",), True, 12),
        ("options(ev)", ("x", "y"), False, 26),
    ],
)
def test_keys_of_a_field(value: str, keys: tuple[str, ...], is_open: bool, line: int) -> None:
    source = PYTHON_SDK[HOST].replace("State(new=ev.new)", f"State(new={value})")
    small = python_sdk({HOST: source + "def options(ev):\n    return {'x': 1, 'y': 2}\n"})
    within = "SessionHost._on_state"
    assert small.vocabulary.map_keys == (
        MapKeys("AgentSessionEvent.State", "new", within, is_open, Place(HOST_PATH, line), keys),
    )


@pytest.mark.parametrize("value", ["None", '""', "[]", "()", "{}"])
def test_empty_constant_fills_nothing(value: str) -> None:
    small = python_sdk(host("State(new=ev.new)", f"State(new={value}, old=0)"))
    builds = {item.message: item.fields for item in small.vocabulary.constructions}
    assert builds["AgentSessionEvent.State"] == ("old",)


def test_message_constructed_in_a_cast() -> None:
    small = python_sdk(host("pb.AgentSessionEvent.State(new=ev.new)", "cast(Any, pb.Thing(a=1))"))
    assert {item.message: item.fields for item in small.vocabulary.constructions}["Thing"] == ("a",)


def test_union_members() -> None:
    small = python_sdk(
        events(
            "class One:",
            "    a: int",
            "class Two:",
            "    b: One | StateChangedEvent | None",
            "Item = Annotated[Union[One, Two, str], Field()]",
            "Names = One | CloseReason",
            "Plain = int | str",
        )
    )
    assert small.errors == []
    assert small.vocabulary.unions == (
        UnionFact("Item", Place(EVENTS_PATH, 19), ("One", "Two", "str")),
        UnionFact("Names", Place(EVENTS_PATH, 20), ("One", "CloseReason")),
        UnionFact("Two.b", Place(EVENTS_PATH, 18), ("One", "StateChangedEvent")),
    )


def test_ignored_variants() -> None:
    small = python_sdk(
        with_lines(
            "def encode(items):",
            '    return [x for x in items if x.type != "state_changed"]',
            "def other(items):",
            '    return [x for x in items if x.type != "unknown" and x.kind != "state_changed"]',
        )
    )
    line = PYTHON_SDK[HOST].count("\n")
    assert small.vocabulary.ignored_variants == (
        IgnoredVariant("state_changed", "encode", Place(HOST_PATH, line + 2)),
    )


@pytest.mark.parametrize(
    ("body", "reads", "passes_event"),
    [
        (BUILT, ("new",), False),
        (f"{BUILT}; log(ev.old.name, ev.close())", ("new", "old.name"), False),
        (f"{BUILT}; self._note(ev)", ("new", "old"), False),
        (f"{BUILT}; self._note(1, ev)", ("new",), True),
        (f"{BUILT}; encode(ev)", ("new",), True),
        (f"{BUILT}; assert isinstance(ev, StateChangedEvent)", ("new",), False),
        (f"{BUILT}; getattr(ev, name)", ("new",), True),
        (f"{BUILT}; getattr(ev, 'old', None)", ("new", "old"), False),
    ],
)
def test_event_fields_that_a_handler_reads(
    body: str, reads: tuple[str, ...], passes_event: bool
) -> None:
    note = "\n    def _note(self, seen):\n        if seen.old: self._note(seen)\n"
    source = PYTHON_SDK[HOST].replace(f"        {BUILT}\n", f"        {body}\n{note}")
    fact = forward(python_sdk({HOST: source}))
    assert (fact.event_type, fact.reads, fact.passes_event) == (
        "StateChangedEvent",
        reads,
        passes_event,
    )


def test_handler_without_a_type() -> None:
    fact = forward(python_sdk(host("ev: StateChangedEvent)", "ev)")))
    assert (fact.event_type, fact.reads) == (None, ("new",))


@pytest.mark.parametrize(
    "more",
    [
        "        else:\n            self._send(pb.SessionResponse(error='no'))\n",
        "            return\n        self._send(pb.SessionResponse(error='no'))\n",
        "        else:\n            self._refuse()\n",
    ],
)
def test_unknown_request_is_answered(more: str) -> None:
    refuse = "    def _refuse(self):\n        self._send(pb.SessionResponse(error='no'))\n\n"
    source = PYTHON_SDK[HOST].replace(f"{ANSWERED}\n\n", f"{ANSWERED}\n{more}\n{refuse}")
    host = host_of(python_sdk({HOST: source}))
    assert host.unknown_request is not None and host.unknown_request.line in {17, 18}


def test_unknown_request_is_not_answered() -> None:
    assert host_of(python_sdk()).unknown_request is None


@pytest.mark.parametrize(
    ("before", "error", "texts"),
    [
        ("pass", "'too late'", ("too late",)),
        ("error = 'early' if x else None", "error", ("early",)),
        ("error: str | None = 'none yet'\n            error = str(e)", "error", ("none yet",)),
        ("pass", "text or 'nothing'", ("nothing",)),
        ("self._fail('given')", "''", ("given",)),
        ("self._fail(text='by name')", "''", ("by name",)),
        ("pass", "str(e)", ()),
    ],
)
def test_constant_error_texts(before: str, error: str, texts: tuple[str, ...]) -> None:
    fail = "    def _fail(self, text):\n        self._send(pb.SessionResponse(error=text))\n\n"
    answer = ANSWERED.replace("pong=", f"error={error}, pong=")
    source = PYTHON_SDK[HOST].replace(
        f"            {ANSWERED}\n\n", f"            {before}\n            {answer}\n\n{fail}"
    )
    [fact] = host_of(python_sdk({HOST: source})).answers
    assert fact.errors == texts


@pytest.mark.parametrize(
    ("argument", "payload_only"),
    [("msg.event", False), ("getattr(msg.event, name)", True), ("msg.event.state", True)],
)
def test_driver_that_emits_only_the_payload(argument: str, payload_only: bool) -> None:
    small = python_sdk(host("self.emit(name, msg.event)", f"self.emit(name, {argument})"))
    assert small.vocabulary.driver is not None
    assert small.vocabulary.driver.emits_payload_only == (
        Place(HOST_PATH, 21) if payload_only else None
    )


def test_arms_of_the_envelope() -> None:
    console = (
        "from livekit.protocol.agent_pb import agent_session as pb\n"
        "class Speaker:\n"
        "    def play(self, frame):\n"
        "        self.send(pb.AgentSessionMessage(sound=frame))\n"
        "    async def listen(self):\n"
        "        async for msg in self.link:\n"
        '            if msg.HasField("request"):\n'
        "                self.ask(msg.request)\n"
        "            else:\n"
        '                kind = msg.WhichOneof("message")\n'
        "                self.handle(kind, msg)\n"
        "    def handle(self, kind, msg):\n"
        '        if kind == "flush": self.flush()\n'
    )
    small = python_sdk({"console.py": console})
    assert small.errors == []
    place = f"{ROOT}console.py"
    assert small.vocabulary.envelope_uses == (
        EnvelopeUse("flush", "receives", "Speaker.handle", Place(place, 13)),
        EnvelopeUse("request", "receives", "Speaker.listen", Place(place, 7)),
        EnvelopeUse("sound", "sends", "Speaker.play", Place(place, 4)),
    )


def test_required_union_in_any_module() -> None:
    lines = "class One:\n    a: int\nThing = One | str\n"
    small = python_sdk({"llm.py": lines}, required=("Thing",))
    assert small.reading.diagnostics == []
    assert [item.name for item in small.vocabulary.unions] == ["Thing"]
    assert EVENTS not in small.vocabulary.unions[0].place.file


def test_fields_filled_by_assignments() -> None:
    small = python_sdk(
        with_lines(
            "def fill():", "    x = pb.Outer(a=1)", "    x.inner.b = 2", "    x.inner.c.d = 3"
        )
    )
    [construction] = [item for item in small.vocabulary.constructions if item.message == "Outer"]
    assert construction.fields == ("a", "inner", "inner.b", "inner.c.d")
