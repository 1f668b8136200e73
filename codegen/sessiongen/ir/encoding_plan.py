"""Plans how each message is encoded from an SDK's objects, field by field.

There is a MessagePlan for each message reachable from events and responses, with the names
that one SDK uses for its fields.

A oneof whose arms are all messages of different types is a TaggedOneof: the `type` attribute
of the source object determines the arm. The object is the value of an attribute with the name
of the oneof. If the message has no other fields and the SDK has no class for it, the object is
the source of the message itself. The source of any other oneof has one attribute for each arm.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.protocol import Protocol
from sessiongen.ir.reachability import sent_by_host
from sessiongen.ir.record_mapping import find_field, find_record, source_names
from sessiongen.ir.schema import Field, Kind, Message, Oneof
from sessiongen.vocabulary.model import Record, Vocabulary

# The attribute that determines the type of a source object.
TAG = "type"

# The types of an SDK's fields whose values are strings.
_STRING_TYPES = frozenset({"str", "str | None", "string", "string | null", "string | undefined"})


@dataclass(frozen=True)
class FieldPlan:
    """A field and the attribute of the source object that fills it.

    optional: the source object may lack the attribute.
    stringify: the field is a string, and the attribute is another object, such as an error.
    """

    field: Field
    name: str
    optional: bool
    stringify: bool = False


@dataclass(frozen=True)
class TaggedArm:
    """An arm and the tag of its source objects."""

    arm: Field
    tag: str


@dataclass(frozen=True)
class TaggedOneof:
    """A oneof whose arm is chosen by the tag of its source object.

    name: the attribute with the arm's source; None if it is the source of the message itself.
    """

    oneof: Oneof
    name: str | None
    arms: tuple[TaggedArm, ...]


@dataclass(frozen=True)
class MessagePlan:
    """How one message is encoded.

    tag: the tag of its source as an arm of a TaggedOneof, or None.
    has_sdk_class: whether the SDK has a class for the message.
    all_optional: whether every field of the SDK's class may be missing.
    """

    message: Message
    fields: tuple[FieldPlan, ...]
    tagged_oneofs: tuple[TaggedOneof, ...]
    tag: str | None
    has_sdk_class: bool
    all_optional: bool

    @property
    def transparent(self) -> TaggedOneof | None:
        """The oneof whose source is the source of the whole message, if there is one."""
        return next((item for item in self.tagged_oneofs if item.name is None), None)


def encoding_plans(
    protocol: Protocol, annotated: Annotated, vocabulary: Vocabulary | None
) -> dict[str, MessagePlan]:
    """Returns the plans by full name of the message, in order of declaration.

    vocabulary: the SDK whose objects are encoded; None if there is none.
    """
    return _Planner(protocol, annotated, vocabulary).plans()


class _Planner:
    def __init__(
        self, protocol: Protocol, annotated: Annotated, vocabulary: Vocabulary | None
    ) -> None:
        self.annotated = annotated
        self.messages = {item.full_name: item for item in sent_by_host(protocol)}
        self.records = {
            name: find_record(message, annotated, vocabulary) if vocabulary else None
            for name, message in self.messages.items()
        }
        roles = protocol.roles
        self.payloads = {
            arm.value.type_name for role in (roles.event, roles.response) for arm in role.arms
        }
        self.tags = self._tags()

    def plans(self) -> dict[str, MessagePlan]:
        oneofs = {name: tuple(self._tagged_oneofs(item)) for name, item in self.messages.items()}
        tagged = {
            item.arm.value.type_name
            for message_oneofs in oneofs.values()
            for oneof in message_oneofs
            for item in oneof.arms
        }
        return {
            name: MessagePlan(
                message,
                tuple(self._fields(message, oneofs[name])),
                oneofs[name],
                self.tags[name] if name in tagged else None,
                self.records[name] is not None,
                _all_optional(self.records[name]),
            )
            for name, message in self.messages.items()
        }

    def _tags(self) -> dict[str, str | None]:
        """Returns the tag of each message that can be the source of an arm.

        A message that is the payload of arms with different tags has none.
        """
        tags_of: dict[str, set[str]] = {name: set() for name in self.messages}
        for message in self.messages.values():
            for oneof in message.oneofs:
                for arm in oneof.arms:
                    if arm.value.type_name in tags_of:
                        record = self.records[arm.value.type_name]
                        tags_of[arm.value.type_name].add((record and record.tag) or arm.name)
        return {
            name: next(iter(tags)) if len(tags) == 1 and self._can_have_tag(name) else None
            for name, tags in tags_of.items()
        }

    def _can_have_tag(self, name: str) -> bool:
        """Whether the source of a message can have a tag.

        It cannot if the message has a field with the name of the tag, or consists of a oneof.
        """
        message = self.messages[name]
        names = [*(item.name for item in message.fields), *(item.name for item in message.oneofs)]
        return TAG not in names and bool(
            message.outside() or not message.oneofs or name in self.payloads
        )

    def _tagged_oneofs(self, message: Message) -> Iterator[TaggedOneof]:
        record = self.records[message.full_name]
        can_be_transparent = record is None and message.full_name not in self.payloads
        for oneof in message.oneofs:
            tags = [self.tags.get(arm.value.type_name) for arm in oneof.arms]
            if None in tags or len(set(tags)) < len(tags) or not _has_one_attribute(oneof, record):
                continue
            transparent = can_be_transparent and len(message.oneofs) == 1 and not message.outside()
            pairs = zip(oneof.arms, tags, strict=True)
            arms = tuple(TaggedArm(arm, tag) for arm, tag in pairs if tag)
            yield TaggedOneof(oneof, None if transparent else oneof.name, arms)

    def _fields(self, message: Message, tagged: tuple[TaggedOneof, ...]) -> Iterator[FieldPlan]:
        tagged_names = {item.oneof.name for item in tagged}
        for field in message.fields:
            if field.oneof not in tagged_names:
                yield self._source(message, field)

    def _source(self, message: Message, field: Field) -> FieldPlan:
        fact = find_field(message, field, self.annotated, self.records[message.full_name])
        if fact is not None:
            single = field.key is None and not field.repeated
            is_string = field.value.kind is Kind.STRING and single
            return FieldPlan(
                field, fact.name, fact.optional, is_string and fact.type not in _STRING_TYPES
            )
        single = field.value.kind is not Kind.MESSAGE or field.oneof is not None
        name = source_names(message, field, self.annotated)[0]
        return FieldPlan(field, name, field.presence and single and not field.required)


def _all_optional(record: Record | None) -> bool:
    return record is not None and all(fact.optional for fact in record.fields)


def _has_one_attribute(oneof: Oneof, record: Record | None) -> bool:
    """Whether the SDK's class, if there is one, has one attribute for all arms."""
    return record is None or any(fact.name == oneof.name for fact in record.fields)
