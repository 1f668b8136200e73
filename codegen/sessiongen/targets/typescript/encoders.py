"""The layer `encoders`: a function for each message that hosts send, from its source to it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.ir.encoding_plan import MessagePlan, TaggedOneof
from sessiongen.ir.roles import RoleMessage
from sessiongen.ir.schema import Oneof
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.context import Context
from sessiongen.targets.typescript.conversions import call, conversion, override_name
from sessiongen.targets.typescript.layout import WIDTH, bracketed
from sessiongen.targets.typescript.requests import payload_type
from sessiongen.targets.typescript.sources import partial_classes, source_type

_ASSIGN = "Object.assign("


@dataclass(frozen=True)
class ArmCode:
    """An arm of a oneof: the condition under which it is set, and its value.

    tag: the literal in a source that identifies this arm, or "" if sources have no tag.
    """

    arm: str
    tag: str
    condition: str
    value: str


@dataclass(frozen=True)
class OneofCode:
    """The function that chooses the arm of a oneof.

    total: whether the type of the source has no value beside those of the arms.
    """

    function: str
    head: str
    property: str
    subject: str
    tagged: bool
    total: bool
    arms: tuple[ArmCode, ...]


@dataclass(frozen=True)
class Encoder:
    """The encoder of a message.

    opened: the expression of the message up to the object that it is made from. empty: the
    expression of a message without fields. fields: the lines of the object.
    """

    docs: str
    head: str
    type: str
    opened: str
    empty: str
    fields: tuple[str, ...]
    oneofs: tuple[OneofCode, ...]


@dataclass(frozen=True)
class EventCode:
    """The source of an event's payload and its encoder."""

    key: str
    source: str
    encoder: str


@dataclass(frozen=True)
class EncodersModel:
    """The encoders of a protocol, and the table of those of its events.

    assigned: whether some assign fields to an empty message.
    """

    encoders: tuple[Encoder, ...]
    assigned: bool
    base: str
    table: str
    event: str
    oneof: str
    timestamp: str
    head: str
    events: tuple[EventCode, ...]


def encoders_model(context: Context) -> EncodersModel:
    """Returns the encoders in order of declaration."""
    roles = context.protocol.roles
    base, oneof = context.symbol(roles.event.full_name), roles.event.oneof
    timestamp = roles.timestamp
    event = context.message_type(roles.event.full_name) if roles.event.present else ""
    partial = partial_classes(context)
    parameters = ["arm: A", f"source: {base}Sources[A]"]
    encoders = tuple(_encoder(context, plan, partial) for plan in context.plans.values())
    return EncodersModel(
        encoders=encoders,
        assigned=any(item.fields and item.opened.startswith(_ASSIGN) for item in encoders),
        base=base,
        table=f"{naming.constant(base)}_ENCODERS",
        event=event,
        oneof=context.binding.oneof_property(oneof) if event else "",
        timestamp=context.binding.field_property(timestamp) if timestamp else "",
        head=bracketed(
            f"export function {_event_function(context)}<A extends keyof {base}Sources>(",
            [*parameters, *(["createdAt: number = Date.now()"] if timestamp else [])],
            f"): {event} {{",
        ),
        events=tuple(_events(context, roles.event)),
    )


def override_names(context: Context) -> set[str]:
    """Returns the names that functions of an overrides module may have."""
    return {
        override_name(plan, source.field)
        for plan in context.plans.values()
        for source in plan.fields
    }


def _event_function(context: Context) -> str:
    """Returns the name of the function that makes an event of an arm's source."""
    event = context.protocol.roles.event
    name = f"encode{context.symbol(event.full_name)}"
    return f"{name}Arm" if event.full_name in context.plans else name


def _events(context: Context, event: RoleMessage) -> Iterator[EventCode]:
    for arm in event.arms:
        name = arm.value.type_name
        key = naming.key(context.binding.arm(arm))
        if name in context.plans:
            yield EventCode(key, source_type(context, name), context.encoder(name))
        else:
            yield EventCode(key, payload_type(context, event.full_name, arm), "(value) => value")


def _encoder(context: Context, plan: MessagePlan, partial: set[str]) -> Encoder:
    message, path = context.message_type(plan.message.full_name), ".".join(plan.message.path)
    function = context.encoder(plan.message.full_name)
    oneofs = tuple(_oneofs(context, plan, _is_all_optional(context, plan, partial)))
    fields = tuple(_fields(context, plan, _is_all_optional(context, plan, partial)))
    calls = [f"{item.property}: {item.function}({item.subject})," for item in oneofs]
    is_empty = function in context.empty_encoders
    parameters = [] if is_empty else [f"source: {source_type(context, plan.message.full_name)}"]
    return Encoder(
        docs=f"Returns an empty `{path}`." if is_empty else f"Returns the `{path}` of a source.",
        head=bracketed(
            f"export function {function}(",
            parameters,
            f"): {message} {{",
        ),
        type=message,
        opened=_opened(context, plan, message, partial),
        empty=context.binding.empty(message),
        fields=(*fields, *calls),
        oneofs=oneofs,
    )


def _opened(context: Context, plan: MessagePlan, message: str, partial: set[str]) -> str:
    """Returns the expression that makes a message, up to the object with its fields.

    In version 1, fields are assigned to an empty message, which takes a third of the time that
    the constructor takes. The constructor leaves out fields that are undefined.
    """
    binding = context.binding
    if binding.version > 1 or any(_can_be_undefined(context, plan, partial)):
        return binding.opened(message)
    return f"{_ASSIGN}{binding.empty(message)}, "


def _can_be_undefined(context: Context, plan: MessagePlan, partial: set[str]) -> Iterator[bool]:
    """Yields whether each field that is never absent in a message can be absent in its source."""
    all_optional = _is_all_optional(context, plan, partial)
    for source in plan.fields:
        single = source.field.key is None and not source.field.repeated
        yield single and not source.field.presence and (all_optional or source.optional)


def _is_all_optional(context: Context, plan: MessagePlan, partial: set[str]) -> bool:
    record = context.record(plan.message)
    return record is not None and record.name in partial


def _fields(context: Context, plan: MessagePlan, all_optional: bool) -> Iterator[str]:
    for source in plan.fields:
        if source.field.oneof is None:
            converted = conversion(context, plan, source, all_optional)
            yield _entry(context.binding.field_property(source.field), converted.value)


def _entry(key: str, value: str) -> str:
    """Returns a line of an object; a call that is too long has its arguments below each other."""
    line = f"{naming.key(key)}: {value},"
    head, bracket, rest = value.partition("(")
    if len(line) + 4 <= WIDTH or not bracket or not value.endswith(")"):
        return line
    return bracketed(f"{naming.key(key)}: {head}(", rest[:-1].split(", "), "),", 4).strip()


def _oneofs(context: Context, plan: MessagePlan, all_optional: bool) -> Iterator[OneofCode]:
    tagged = {item.oneof.name: item for item in plan.tagged_oneofs}
    for oneof in plan.message.oneofs:
        if not oneof.arms:
            continue
        if oneof.name in tagged:
            yield _tagged(context, plan, tagged[oneof.name])
        else:
            yield _untagged(context, plan, oneof, all_optional)


def _tagged(context: Context, plan: MessagePlan, tagged: TaggedOneof) -> OneofCode:
    arms = []
    for item in tagged.arms:
        name = naming.quoted(context.binding.arm(item.arm))
        value = call(context, context.encoder(item.arm.value.type_name), "source")
        arms.append(ArmCode(name, naming.quoted(item.tag), "", value))
    message_source = source_type(context, plan.message.full_name)
    subject = (
        "source" if tagged.name is None else naming.access("source", naming.camel(tagged.name))
    )
    type_ = (
        message_source
        if tagged.name is None
        else f"{message_source}['{naming.camel(tagged.name)}']"
    )
    return _oneof_code(context, tagged.oneof, type_, subject, arms, True)


def _untagged(context: Context, plan: MessagePlan, oneof: Oneof, all_optional: bool) -> OneofCode:
    arms = []
    for source in plan.fields:
        if source.field.oneof != oneof.name:
            continue
        converted = conversion(context, plan, source, all_optional)
        access = naming.access("source", converted.source)
        arm = naming.quoted(context.binding.arm(source.field))
        value = converted.value.removesuffix(" ?? undefined")
        if value.startswith("optional("):
            inside, _, function = value[len("optional(") : -1].rpartition(", ")
            value = call(context, function, inside)
        arms.append(ArmCode(arm, "", f"{access} != null", value))
    message_source = source_type(context, plan.message.full_name)
    return _oneof_code(context, oneof, message_source, "source", arms, False)


def _oneof_code(
    context: Context, oneof: Oneof, type_: str, subject: str, arms: list[ArmCode], tagged: bool
) -> OneofCode:
    function = naming.lower_first(f"{context.union_symbol(oneof)}Union")
    return OneofCode(
        function=function,
        head=bracketed(
            f"function {function}(",
            [f"source: {type_}"],
            f"): {context.union_type(oneof)} {{",
        ),
        property=naming.key(context.binding.oneof_property(oneof)),
        subject=subject,
        tagged=tagged,
        total=subject == "source",
        arms=tuple(arms),
    )
