"""The context of every model of the Python target, and the docs of arms."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from sessiongen.frontend.annotations import Annotated
from sessiongen.targets.python.installed_messages import InstalledModule
from sessiongen.diagnostics import Diagnostic
from sessiongen.ir.model import Model
from sessiongen.ir.pairing import Call
from sessiongen.ir.protocol import Protocol
from sessiongen.ir.record_mapping import find_record
from sessiongen.ir.schema import Field, Message, Oneof
from sessiongen.ir.encoding_plan import MessagePlan, encoding_plans
from sessiongen.vocabulary.model import Record, Vocabulary
from sessiongen.targets.python.references import MessageModules, References, modules

# Names in annotations and decorators of generated classes, which a method would hide, and names
# that abc sets on abstract classes.
TYPE_NAMES = frozenset(
    "_abc_impl _abc_registry _abc_cache _abc_negative_cache _abc_negative_cache_version "
    "Any Callable Iterable Mapping TimestampLike DurationLike StructLike "
    "str bytes bool int float type object list dict tuple property staticmethod "
    "abstractmethod".split()
)


@dataclass
class Context:
    """The input of every model of the target. Models add the faults that they find.

    vocabulary: the SDK whose objects the package encodes, or None.
    plans: how each message that a host sends is encoded.
    installed: the installed modules of messages by their proto file.
    oldest: the name of the oldest supported messages, None if none are configured.
    newer: the full names of elements that they lack.
    overrides: the function that fills a field, by the path of the field.
    layers: the layers of the output.
    event_classes: the SDK's class of each event arm, if the package is part of the SDK: it uses
        installed messages, as the SDK does.
    """

    protocol: Protocol
    modules: MessageModules
    vocabulary: Vocabulary | None
    plans: Mapping[str, MessagePlan]
    installed: Mapping[str, InstalledModule]
    oldest: str | None
    newer: frozenset[str]
    overrides: Mapping[str, str]
    layers: Collection[str]
    event_classes: Mapping[str, Record]
    faults: list[Diagnostic] = field(default_factory=list)

    def references(self) -> References:
        """Returns references for another file."""
        return References(self.protocol.schema, self.modules, self.newer)

    def lacks(self, message: Message, field: Field) -> bool:
        """Whether the oldest supported messages have a message, but lack a field of it."""
        name = f"{message.full_name}.{field.name}"
        return name in self.newer and message.full_name not in self.newer

    @property
    def reserved(self) -> frozenset[str]:
        """The names that generated functions use."""
        helpers = {
            "at_most_one",
            "build",
            "build_known",
            "elements",
            "required",
            "to_timestamp",
            "to_duration",
            "to_struct",
            "to_text",
            "timestamp_or_now",
        }
        return frozenset({"self", "getattr"} | helpers) | self.modules.aliases

    @property
    def class_reserved(self) -> frozenset[str]:
        """The names in annotations of generated classes."""
        return TYPE_NAMES | self.modules.aliases

    def flat(self, message: str) -> str:
        """Returns the flat name of a message."""
        return self.modules.flat[message]

    def union_name(self, oneof: Oneof) -> str:
        """Returns the flat name of a oneof: its message's, and its own unless it is the main one."""
        if oneof.main:
            return self.flat(oneof.message)
        return self.modules.flat[f"{oneof.message}.{oneof.name}"]


def context(
    model: Model,
    installed: Mapping[str, InstalledModule],
    overrides: Mapping[str, str],
    layers: Collection[str],
) -> Context:
    """Returns the context of a protocol."""
    protocol = model.protocol
    main = protocol.roles.main.file
    vocabulary = protocol.vocabulary("python")
    return Context(
        protocol,
        modules(protocol.schema, main, installed),
        vocabulary,
        encoding_plans(protocol, model.annotated, vocabulary),
        installed,
        model.oldest.name if model.oldest else None,
        model.oldest.newer if model.oldest else frozenset(),
        overrides,
        layers,
        _event_classes(protocol, model.annotated, vocabulary) if installed else {},
    )


def _event_classes(
    protocol: Protocol, annotated: Annotated, vocabulary: Vocabulary | None
) -> dict[str, Record]:
    """Returns the SDK's class of each event arm that has one."""
    messages = protocol.schema.messages
    return {
        arm.name: record
        for arm in protocol.roles.event.arms
        if vocabulary is not None
        and arm.value.type_name in messages
        and (record := find_record(messages[arm.value.type_name], annotated, vocabulary))
    }


def arm_docs(protocol: Protocol, arm: Field) -> str:
    """Returns the comment of an arm, or of its message if the arm has none."""
    return arm.docs or payload_docs(protocol, arm)


def payload_docs(protocol: Protocol, arm: Field) -> str:
    """Returns the comment of an arm's message, "" for a message of another protocol."""
    message = protocol.schema.messages.get(arm.value.type_name)
    return message.docs if message and message.file in protocol.schema.own else ""


def request_docs(protocol: Protocol, call: Call) -> str:
    """Returns the comment of a request, if it has one, and the numbers of its arms."""
    numbers = f"Request arm {call.request.number}, which has no response."
    if call.response is not None:
        response = f"`{call.response.name}` ({call.response.number})"
        numbers = f"Request arm {call.request.number}, answered by {response}."
    return _paragraphs(arm_docs(protocol, call.request), numbers)


def event_docs(protocol: Protocol, arm: Field) -> str:
    """Returns the comment of an event, if it has one, and the number of its arm."""
    return _paragraphs(arm_docs(protocol, arm), f"Event arm {arm.number}.")


def _paragraphs(*texts: str) -> str:
    return "\n\n".join(text for text in texts if text)
