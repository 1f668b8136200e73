"""The facts of one SDK at one version.

In: nothing. Out: frozen values; every fact has the place that says so. Facts of one kind
are kept in one order, so that two readings with equal facts are equal.

Arms and message fields have the spelling of the proto in both languages; everything else
has the SDK's own spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from sessiongen.diagnostics import Diagnostic

# How an SDK writes a set of words down.
ENUM, LITERAL, UNION, CONST, FIELD = "enum", "literal", "union", "const", "field"
FORMS = (ENUM, LITERAL, UNION, CONST, FIELD)


@dataclass(frozen=True, order=True)
class Place:
    """A line of a file; the path is relative to the package."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Word:
    """One value of an enum. member: its name in the SDK, where it has one.

    line: in the enum's own file, of the value or of the name that stands for it there.
    """

    value: str
    member: str | None
    line: int


@dataclass(frozen=True)
class EnumFact:
    """A set of words under a name; one on a class field is named `Class.field`.

    open: other values are allowed beside these, as in `CloseReason | string`.
    """

    name: str
    form: str
    open: bool
    place: Place
    words: tuple[Word, ...]

    def __post_init__(self) -> None:
        once: dict[str, Word] = {}
        for word in self.words:
            once.setdefault(word.value, word)
        object.__setattr__(self, "words", tuple(once[value] for value in sorted(once)))

    @property
    def values(self) -> tuple[str, ...]:
        """The words alone."""
        return tuple(word.value for word in self.words)


@dataclass(frozen=True)
class FieldFact:
    """A field of a class. optional: the value may be None, undefined or left out."""

    name: str
    type: str
    optional: bool
    place: Place


@dataclass(frozen=True)
class Record:
    """A class, interface or object type that holds data, inherited fields included.

    tag: the constant of its `type` field, by which the SDK tells kinds apart.
    """

    name: str
    tag: str | None
    place: Place
    fields: tuple[FieldFact, ...]

    def __post_init__(self) -> None:
        _sort(self, "fields", lambda item: item.name)


@dataclass(frozen=True)
class EventName:
    """An event name, where an emitter's type declares it or where it is emitted."""

    name: str
    place: Place


@dataclass(frozen=True)
class Session:
    """The session class: the events it declares, and those that some code emits on it
    (each with the first such place)."""

    name: str
    place: Place
    events: tuple[EventName, ...]
    emits: tuple[EventName, ...]

    def __post_init__(self) -> None:
        _sort(self, "events", lambda item: item.name)
        _sort(self, "emits", lambda item: item.name)


@dataclass(frozen=True)
class Forward:
    """An event arm that the host sends.

    event: the session event that causes it; None when the SDK calls the handler itself.
    via: the subscription or that call; None when nothing ever calls the handler.
    """

    arm: str
    event: str | None
    handler: str
    place: Place
    via: Place | None


@dataclass(frozen=True)
class Answer:
    """A request arm that the host handles.

    response: the arm it answers with, if any. reads: the fields of the request that it
    looks at, as paths below the arm.
    """

    arm: str
    response: str | None
    reads: tuple[str, ...]
    place: Place


@dataclass(frozen=True)
class Host:
    """The class on the agent's side of the protocol."""

    name: str
    place: Place
    forwards: tuple[Forward, ...]
    answers: tuple[Answer, ...]

    def __post_init__(self) -> None:
        _sort(self, "forwards", lambda item: (item.arm, item.handler, item.event or ""))
        _sort(self, "answers", lambda item: item.arm)


@dataclass(frozen=True)
class Reception:
    """An event arm that the driver turns into an event of its own."""

    arm: str
    event: str
    place: Place


@dataclass(frozen=True)
class Sending:
    """A request arm that a method of the driver sends."""

    arm: str
    method: str
    place: Place


@dataclass(frozen=True)
class Driver:
    """The class on the driver's side of the protocol.

    by_name: where it emits any arm under the arm's own name, if it does.
    """

    name: str
    place: Place
    by_name: Place | None
    events: tuple[EventName, ...]
    receives: tuple[Reception, ...]
    sends: tuple[Sending, ...]

    def __post_init__(self) -> None:
        _sort(self, "events", lambda item: item.name)
        _sort(self, "receives", lambda item: (item.arm, item.event))
        _sort(self, "sends", lambda item: (item.arm, item.method))


@dataclass(frozen=True)
class Build:
    """One place that makes a message, and the fields it fills there.

    within: the function or method around it; a message is filled differently in each.
    open: more fields are filled than can be seen, as with keyword arguments from a dict
    or where the message class is handed on to a function that copies by name.
    """

    message: str
    within: str
    open: bool
    place: Place
    fields: tuple[str, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "fields", tuple(sorted(set(self.fields))))


@dataclass(frozen=True)
class Vocabulary:
    """Everything read from one SDK at one version."""

    sdk: str
    language: str
    version: str
    enums: tuple[EnumFact, ...] = ()
    records: tuple[Record, ...] = ()
    builds: tuple[Build, ...] = ()
    session: Session | None = None
    host: Host | None = None
    driver: Driver | None = None

    def __post_init__(self) -> None:
        _sort(self, "enums", lambda item: (item.name, item.place))
        _sort(self, "records", lambda item: (item.name, item.place))
        _sort(self, "builds", lambda item: (item.message, item.place, item.within, item.fields))

    def enum(self, name: str) -> EnumFact | None:
        """Return the enum of this exact name."""
        return next((item for item in self.enums if item.name == name), None)

    def record(self, name: str) -> Record | None:
        """Return the class of this exact name."""
        return next((item for item in self.records if item.name == name), None)

    def tagged(self, tag: str) -> Record | None:
        """Return the class whose `type` field is this constant."""
        return next((item for item in self.records if item.tag == tag), None)


@dataclass(frozen=True)
class Reading:
    """What reading a package gave: facts, and faults in the order of their places.

    vocabulary: None when the place holds no such package at all.
    """

    vocabulary: Vocabulary | None
    diagnostics: list[Diagnostic] = field(default_factory=list)


def _sort(owner: object, name: str, key: Callable[[Any], Any]) -> None:
    items: Iterable[Any] = getattr(owner, name)
    object.__setattr__(owner, name, tuple(sorted(items, key=key)))
