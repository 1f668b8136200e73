"""The facts of one SDK at one version, as immutable values.

Every fact has the place in the package that states it. Facts of one kind have one order (see
`ordering`), so that two readings with equal facts are equal.

Arms, message fields and proto values are spelled as in the proto; everything else as in the SDK.
Facts are named tuples, since each command creates thousands of them, and those are made quickly.
"""

from __future__ import annotations

from typing import NamedTuple

from sessiongen.diagnostics import Diagnostic

# The forms in which SDKs define sets of literals.
ENUM, LITERAL, UNION, CONST, FIELD = "enum", "literal", "union", "const", "field"
FORMS = (ENUM, LITERAL, UNION, CONST, FIELD)

# The directions in which code uses an arm of the envelope.
SENDS, RECEIVES = "sends", "receives"
DIRECTIONS = (SENDS, RECEIVES)


class Place(NamedTuple):
    """A line of a file; the path is relative to the package."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class LiteralValue(NamedTuple):
    """One value of an enum, its name in the SDK if it has one, and its line in the enum's file."""

    value: str
    member: str | None
    line: int


class EnumFact(NamedTuple):
    """A named set of literals; the set of a class field is named `Class.field`.

    open: other values are allowed beside these, as in `Reason | string`.
    """

    name: str
    form: str
    open: bool
    place: Place
    literals: tuple[LiteralValue, ...]

    @property
    def values(self) -> tuple[str, ...]:
        """The values, without their members and lines."""
        return tuple(literal.value for literal in self.literals)


class FieldFact(NamedTuple):
    """A field of a class. optional: the value may be None, undefined or left out."""

    name: str
    type: str
    optional: bool
    place: Place


class Record(NamedTuple):
    """A class, interface or object type with data, including inherited fields.

    tag: the constant of its `type` field, by which the SDK distinguishes the members of a union.
    """

    name: str
    tag: str | None
    place: Place
    fields: tuple[FieldFact, ...]


class UnionFact(NamedTuple):
    """The member types of a union: a named union, or on a field `Class.field`.

    members: classes by their names, other types as they are written.
    """

    name: str
    place: Place
    members: tuple[str, ...]


class IgnoredVariant(NamedTuple):
    """A place that ignores one variant of a union. tag: the constant of its `type` field."""

    tag: str
    within: str
    place: Place


class Default(NamedTuple):
    """The proto value that a function uses for a literal that a map lacks."""

    value: str
    within: str
    place: Place


class ValueMap(NamedTuple):
    """A map from an SDK's literals to proto values. pairs: literal and name of the proto value."""

    name: str
    place: Place
    pairs: tuple[tuple[str, str], ...]
    defaults: tuple[Default, ...]


class Conversion(NamedTuple):
    """How code that fills a field converts an SDK's literal into a proto value.

    place: where the message is constructed. table: the table or function that converts, else
    the function around the place.
    pairs: literal and name of the proto value, for each literal that the code knows.
    default: what any other literal becomes: a proto value, the exception that is raised, or the
    language's word for a missing value.
    """

    message: str
    field: str
    within: str
    place: Place
    table: str
    pairs: tuple[tuple[str, str], ...]
    default: str


class MapKeys(NamedTuple):
    """The constant keys that a function puts into a map field.

    open: there are more keys, which are not constants.
    forms: the keys whose values a function writes as `text` or as `JSON`, each with that word.
    """

    message: str
    field: str
    within: str
    open: bool
    place: Place
    keys: tuple[str, ...]
    forms: tuple[tuple[str, str], ...] = ()


class EventName(NamedTuple):
    """An event name, at the place that declares or emits it."""

    name: str
    place: Place


class Session(NamedTuple):
    """The session class.

    events: the events it declares. emits: the events that code emits on it, each with the
    first place that does so.
    """

    name: str
    place: Place
    events: tuple[EventName, ...]
    emits: tuple[EventName, ...]


class Forward(NamedTuple):
    """An event arm that the host sends.

    event: the session's event that causes it; None if the SDK calls the handler directly.
    via: the place of the subscription or of the call; None if nothing calls the handler.
    event_type: the type of the SDK's event. reads: the fields that the handler reads of it,
    as paths in the SDK's spelling.
    passes_event: the handler passes the event to code that may read any field.
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
    reads, as paths below the arm. errors: the constant error texts that it may answer with.
    error_beside_result: whether a response may have an error beside its arm; None if this is
    not read.
    """

    arm: str
    response: str | None
    reads: tuple[str, ...]
    errors: tuple[str, ...]
    place: Place
    error_beside_result: bool | None = None


class Host(NamedTuple):
    """The class on the agent's side of the protocol.

    unknown_request: where it answers a request with an unknown arm, if it does.
    """

    name: str
    place: Place
    unknown_request: Place | None
    forwards: tuple[Forward, ...]
    answers: tuple[Answer, ...]


class Reception(NamedTuple):
    """An event arm for which the driver emits an event of its own."""

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

    emits_by_arm_name: where it emits any arm under the arm's own name, if it does.
    emits_payload_only: where it emits an arm's payload without the event's other fields, if
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
    """A place that constructs a message, and the fields that it fills.

    within: the function or method around it.
    open: more fields are filled, which cannot be read: keyword arguments from a dict, or a
        message class that is passed to a function that copies fields by name.
    fields: the filled fields. A field set to an empty constant is not filled. Fields inside
        another field are listed as paths such as `input.audio_enabled`.
    """

    message: str
    within: str
    open: bool
    place: Place
    fields: tuple[str, ...]


class EnvelopeUse(NamedTuple):
    """An arm of the envelope that some code of the SDK sends or receives."""

    arm: str
    direction: str
    within: str
    place: Place


class FieldSource(NamedTuple):
    """What a function fills a field of a message from.

    path: the names after the parameter, variable or `self` with which the expression begins.
    constant: the constant that is always sent; "" for any other value.
    factor: what the value is multiplied by.
    condition: where the value is sent only under a condition that does not concern it.
    change: what else changes the value, as it is written, such as `[:100]`.
    parameter: the parameter of the function that the value is, if it is one.
    """

    message: str
    field: str
    within: str
    place: Place
    path: str
    constant: str
    factor: float
    condition: str
    change: str = ""
    parameter: str = ""


class UnusedValue(NamedTuple):
    """A value of an enum that no code of the SDK uses."""

    enum: str
    value: str
    place: Place


class Requirement(NamedTuple):
    """The versions of its protobuf package that an SDK requires. minimum: "" for no bound."""

    distribution: str
    versions: str
    minimum: str
    place: Place


class ConstantFact(NamedTuple):
    """A value that the protocol fixes, and that the SDK has as a constant.

    definition: the name of a constant, or `Class.method.parameter` for a default; place: None if
    there is none. expected: the value in the scope. value: "" if it cannot be read.
    """

    name: str
    definition: str
    expected: str
    value: str
    place: Place | None


class Behaviour(NamedTuple):
    """What code does beside filling fields; `behaviours` has the kinds and their subjects.

    value: "" if the code cannot be read. place: None if there is no such code.
    """

    kind: str
    subject: str
    within: str
    value: str
    place: Place | None


class DefinitionFact(NamedTuple):
    """A digest of the code of a definition, without comments and layout; see `definitions`."""

    name: str
    digest: str
    place: Place


class Vocabulary(NamedTuple):
    """Everything read from one SDK at one version; generated: its first generated file."""

    sdk: str
    language: str
    version: str
    enums: tuple[EnumFact, ...] = ()
    records: tuple[Record, ...] = ()
    unions: tuple[UnionFact, ...] = ()
    ignored_variants: tuple[IgnoredVariant, ...] = ()
    maps: tuple[ValueMap, ...] = ()
    conversions: tuple[Conversion, ...] = ()
    constructions: tuple[Construction, ...] = ()
    map_keys: tuple[MapKeys, ...] = ()
    envelope_uses: tuple[EnvelopeUse, ...] = ()
    session: Session | None = None
    host: Host | None = None
    driver: Driver | None = None
    generated: Place | None = None
    requirement: Requirement | None = None
    unused_values: tuple[UnusedValue, ...] = ()
    sources: tuple[FieldSource, ...] = ()
    constants: tuple[ConstantFact, ...] = ()
    behaviours: tuple[Behaviour, ...] = ()
    definitions: tuple[DefinitionFact, ...] = ()

    def enum(self, name: str) -> EnumFact | None:
        """Returns the enum of this exact name."""
        return next((item for item in self.enums if item.name == name), None)

    def record(self, name: str) -> Record | None:
        """Returns the class of this exact name."""
        return next((item for item in self.records if item.name == name), None)

    def tagged(self, tag: str) -> Record | None:
        """Returns the class whose `type` field is this constant."""
        return next((item for item in self.records if item.tag == tag), None)


class Reading(NamedTuple):
    """The result of reading a package. vocabulary: None if it could not be read at all."""

    vocabulary: Vocabulary | None
    diagnostics: list[Diagnostic]
