"""Shapes: what each message is made from, field by field.

In: a Protocol and its annotations. Out: a Shape for each message that events and
responses carry, with the names that the Python SDK gives to its parts.

Three kinds of oneof are told apart. Where every arm is a message of its own kind, the
source of the arm says by its `type` which arm it is: it stands in an attribute named as
the oneof, or, where the message holds nothing else and the SDK has no class for it, it
is the message's own source. Any other oneof has an attribute for each arm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.reachability import carried
from sessiongen.ir.protocol import PYTHON, Protocol
from sessiongen.ir.roles import union
from sessiongen.ir.schema import Field, Kind, Message, Oneof
from sessiongen.ir.record_mapping import fact_of, record_of, source_names
from sessiongen.vocabulary.model import Record

# The attribute by which sources of several kinds are told apart.
TAG = "type"

# The types of an SDK's fields that hold nothing but text.
_TEXTS = frozenset({"str", "str | None"})


@dataclass(frozen=True)
class Source:
    """A field and the attribute of the source that fills it.

    absent: the source may lack it.
    told: the field is a text, and what fills it in the SDK is none, such as an error.
    """

    field: Field
    name: str
    absent: bool
    told: bool = False


@dataclass(frozen=True)
class Tagged:
    """An arm and the tag of its sources."""

    arm: Field
    tag: str


@dataclass(frozen=True)
class Choice:
    """A oneof whose arm is chosen by the tag of its source.

    name: the attribute that holds the arm's source; None where the source is the arm's.
    """

    oneof: Oneof
    name: str | None
    arms: tuple[Tagged, ...]


@dataclass(frozen=True)
class Shape:
    """A message, what fills it, and the tag it has as an arm's source, or None.

    classed: whether the SDK has a class for it.
    loose: whether the SDK's class lets each of its fields be left out.
    """

    message: Message
    fields: tuple[Source, ...]
    choices: tuple[Choice, ...]
    tag: str | None
    classed: bool
    loose: bool

    @property
    def transparent(self) -> Choice | None:
        """The choice that stands for the whole message, if one does."""
        return next((item for item in self.choices if item.name is None), None)


def shapes(protocol: Protocol, annotated: Annotated) -> dict[str, Shape]:
    """Return the shapes by full name of the message, in order of declaration."""
    return _Shaper(protocol, annotated).all()


class _Shaper:
    def __init__(self, protocol: Protocol, annotated: Annotated) -> None:
        self.annotated = annotated
        self.messages = {item.full_name: item for item in carried(protocol)}
        python = next((item for item in protocol.vocabularies if item.language == PYTHON), None)
        self.records = {
            name: record_of(message, annotated, python) if python else None
            for name, message in self.messages.items()
        }
        roles = protocol.roles
        self.payloads = {
            arm.value.type_name
            for role in (roles.event, roles.response)
            for arm in union(role).arms
        }
        self.tags = self._tags()

    def all(self) -> dict[str, Shape]:
        choices = {name: tuple(self._choices(item)) for name, item in self.messages.items()}
        chosen = {
            tagged.arm.value.type_name
            for found in choices.values()
            for choice in found
            for tagged in choice.arms
        }
        return {
            name: Shape(
                message,
                tuple(self._fields(message, choices[name])),
                choices[name],
                self.tags[name] if name in chosen else None,
                self.records[name] is not None,
                self._loose(self.records[name]),
            )
            for name, message in self.messages.items()
        }

    def _loose(self, record: Record | None) -> bool:
        return record is not None and all(fact.optional for fact in record.fields)

    def _tags(self) -> dict[str, str | None]:
        """Return the one tag of each message that can be an arm's source."""
        named: dict[str, set[str]] = {name: set() for name in self.messages}
        for message in self.messages.values():
            for oneof in message.oneofs:
                for arm in oneof.arms:
                    if arm.value.type_name in named:
                        record = self.records[arm.value.type_name]
                        named[arm.value.type_name].add((record and record.tag) or arm.name)
        return {
            name: next(iter(tags)) if len(tags) == 1 and self._taggable(name) else None
            for name, tags in named.items()
        }

    def _taggable(self, name: str) -> bool:
        """Whether a message leaves room for a tag: nothing in it has that name, and it is no
        bare oneof."""
        message = self.messages[name]
        names = [*(item.name for item in message.fields), *(item.name for item in message.oneofs)]
        return TAG not in names and bool(
            message.outside() or not message.oneofs or name in self.payloads
        )

    def _choices(self, message: Message) -> Iterator[Choice]:
        record = self.records[message.full_name]
        bare = record is None and message.full_name not in self.payloads
        for oneof in message.oneofs:
            tags = [self.tags.get(arm.value.type_name) for arm in oneof.arms]
            if None in tags or len(set(tags)) < len(tags) or not self._held(oneof, record):
                continue
            whole = bare and len(message.oneofs) == 1 and not message.outside()
            arms = tuple(Tagged(arm, tag) for arm, tag in zip(oneof.arms, tags, strict=True) if tag)
            yield Choice(oneof, None if whole else oneof.name, arms)

    def _held(self, oneof: Oneof, record: Record | None) -> bool:
        """Whether the SDK's class, if there is one, keeps the arms in one attribute."""
        return record is None or any(fact.name == oneof.name for fact in record.fields)

    def _fields(self, message: Message, choices: tuple[Choice, ...]) -> Iterator[Source]:
        by_tag = {choice.oneof.name for choice in choices}
        for field in message.fields:
            if field.oneof not in by_tag:
                yield self._source(message, field)

    def _source(self, message: Message, field: Field) -> Source:
        fact = fact_of(message, field, self.annotated, self.records[message.full_name])
        if fact is not None:
            single = field.key is None and not field.repeated
            told = field.value.kind is Kind.STR and single and fact.type not in _TEXTS
            return Source(field, fact.name, fact.optional, told)
        single = field.value.kind is not Kind.MESSAGE or field.oneof is not None
        name = source_names(message, field, self.annotated)[0]
        return Source(field, name, field.presence and single and not field.required)
