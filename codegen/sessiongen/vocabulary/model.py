"""The facts of one SDK at one version, as immutable values.

Every fact has the place in the package that states it. Facts of one kind have one order (see
`ordering`), so that two readings with equal facts are equal.

Arms, message fields and proto values are spelled as in the proto in both languages;
everything else is spelled as in the SDK. Facts are named tuples because each command creates
thousands of them, and named tuples are created quickly.
"""

from __future__ import annotations

from typing import NamedTuple

from sessiongen.diagnostics import Diagnostic

# How an SDK writes a set of literals down.
ENUM, LITERAL, UNION, CONST, FIELD = "enum", "literal", "union", "const", "field"
FORMS = (ENUM, LITERAL, UNION, CONST, FIELD)

# What is done with an arm of the outermost message.
SENDS, RECEIVES = "sends", "receives"
DIRECTIONS = (SENDS, RECEIVES)


class Place(NamedTuple):
    """A line of a file; the path is relative to the package."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class LiteralValue(NamedTuple):
    """One value of an enum. member: its name in the SDK, where it has one.

    line: in the enum's own file, of the value or of the name that stands for it there.
    """

    value: str
    member: str | None
    line: int


class EnumFact(NamedTuple):
    """A set of literals under a name; one on a class field is named `Class.field`.

    open: other values are allowed beside these, as in `CloseReason | string`.
    """

    name: str
    form: str
    open: bool
    place: Place
    literals: tuple[LiteralValue, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The literals alone."""
        return tuple(literal.value for literal in self.literals)


class FieldFact(NamedTuple):
    """A field of a class. optional: the value may be None, undefined or left out."""

    name: str
    type: str
    optional: bool
    place: Place


class Record(NamedTuple):
    """A class, interface or object type that holds data, inherited fields included.

    tag: the constant of its `type` field, by which the SDK tells kinds apart.
    """

    name: str
    tag: str | None
    place: Place
    fields: tuple[FieldFact, ...]


class UnionFact(NamedTuple):
    """The types that a value may have: a union under a name, or on a field `Class.field`.

    kinds: classes by their names, other types as they are written.
    """

    name: str
    place: Place
    members: tuple[str, ...]


class IgnoredVariant(NamedTuple):
    """A place that passes over values of one kind. tag: the constant of their `type`."""

    tag: str
    within: str
    place: Place


class Default(NamedTuple):
    """The proto value that a place takes for what a map does not hold."""

    value: str
    within: str
    place: Place


class ValueMap(NamedTuple):
    """A map from an SDK's literals to proto values. pairs: literal and name of the proto value."""

    name: str
    place: Place
    pairs: tuple[tuple[str, str], ...]
    defaults: tuple[Default, ...]


class MapKeys(NamedTuple):
    """The keys that are given to a field of a message, where they are constants.

    open: more keys are given than can be seen.
    """

    message: str
    field: str
    within: str
    open: bool
    place: Place
    keys: tuple[str, ...]


class EventName(NamedTuple):
    """An event name, where an emitter's type declares it or where it is emitted."""

    name: str
    place: Place


class Session(NamedTuple):
    """The session class: the events it declares, and those that some code emits on it
    (each with the first such place)."""

    name: str
    place: Place
    events: tuple[EventName, ...]
    emits: tuple[EventName, ...]


class Forward(NamedTuple):
    """An event arm that the host sends.

    event: the session event that causes it; None when the SDK calls the handler itself.
    via: the subscription or that call; None when nothing ever calls the handler.
    takes: the type of the SDK's event. reads: what the handler looks at of it, as paths in
    the SDK's spelling.
    whole: it hands the event on to code that may look at any field.
    """

    arm: str
    event: str | None
    handler: str
    place: Place
    via: Place | None
    event_type: str | None
    reads: tuple[str, ...]
    passes_event: bool


class Answer(NamedTuple):
    """A request arm that the host handles.

    response: the arm it answers with, if any. reads: the fields of the request that it
    looks at, as paths below the arm. errors: the constant texts it may give as error.
    """

    arm: str
    response: str | None
    reads: tuple[str, ...]
    errors: tuple[str, ...]
    place: Place


class Host(NamedTuple):
    """The class on the agent's side of the protocol.

    rest: where it answers a request that it does not know, if it does.
    """

    name: str
    place: Place
    unknown_request: Place | None
    forwards: tuple[Forward, ...]
    answers: tuple[Answer, ...]


class Reception(NamedTuple):
    """An event arm that the driver turns into an event of its own."""

    arm: str
    event: str
    place: Place


class Sending(NamedTuple):
    """A request arm that a method of the driver sends."""

    arm: str
    method: str
    place: Place


class Driver(NamedTuple):
    """The class on the driver's side of the protocol.

    by_name: where it emits any arm under the arm's own name, if it does.
    bare: where it emits an arm's payload without what stands beside it in the event, if
    it does.
    """

    name: str
    place: Place
    emits_by_arm_name: Place | None
    emits_payload_only: Place | None
    events: tuple[EventName, ...]
    receives: tuple[Reception, ...]
    sends: tuple[Sending, ...]


class Construction(NamedTuple):
    """One place that makes a message, and the fields it fills there.

    within: the function or method around it; a message is filled differently in each.
    open: more fields are filled than can be seen, as with keyword arguments from a dict
    or where the message class is handed on to a function that copies by name. A field
    that is given an empty constant is not filled. What is filled inside a field without
    making a message is there too, as a path such as `input.audio_enabled`.
    """

    message: str
    within: str
    open: bool
    place: Place
    fields: tuple[str, ...]


class EnvelopeUse(NamedTuple):
    """An arm of the outermost message that some code of the SDK sends or takes."""

    arm: str
    direction: str
    within: str
    place: Place


class Vocabulary(NamedTuple):
    """Everything read from one SDK at one version."""

    sdk: str
    language: str
    version: str
    enums: tuple[EnumFact, ...] = ()
    records: tuple[Record, ...] = ()
    unions: tuple[UnionFact, ...] = ()
    ignored_variants: tuple[IgnoredVariant, ...] = ()
    maps: tuple[ValueMap, ...] = ()
    constructions: tuple[Construction, ...] = ()
    map_keys: tuple[MapKeys, ...] = ()
    envelope_uses: tuple[EnvelopeUse, ...] = ()
    session: Session | None = None
    host: Host | None = None
    driver: Driver | None = None

    def enum(self, name: str) -> EnumFact | None:
        """Return the enum of this exact name."""
        return next((item for item in self.enums if item.name == name), None)

    def record(self, name: str) -> Record | None:
        """Return the class of this exact name."""
        return next((item for item in self.records if item.name == name), None)

    def tagged(self, tag: str) -> Record | None:
        """Return the class whose `type` field is this constant."""
        return next((item for item in self.records if item.tag == tag), None)


class Reading(NamedTuple):
    """What reading a package gave: facts, and faults in the order of their places.

    vocabulary: None when the place holds no such package at all.
    """

    vocabulary: Vocabulary | None
    diagnostics: list[Diagnostic]
