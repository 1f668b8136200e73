"""The layer `events`: subscriptions of a host, and the events of a driver."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.protocol import Event
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.arms import arm_type
from sessiongen.targets.typescript.context import Context
from sessiongen.targets.typescript.layout import bracketed
from sessiongen.targets.typescript.sources import source_type


@dataclass(frozen=True)
class EventModel:
    """An event. names are literals. forwarder: the member of the forwarders' interface."""

    key: str
    arm: str
    sdk_name: str
    driver_name: str
    name_access: str
    docs: str
    forwarder: str


@dataclass(frozen=True)
class EventsModel:
    """The events of a protocol.

    base: the start of the names of generated types. forwarded: the type of what a forwarder is
        given, which has the event's time if the SDK says it.
    """

    base: str
    type: str
    oneof: str
    arm: str
    end: str
    emit: str
    subscribe: str
    forwarded: str
    events: tuple[EventModel, ...]


def events_model(context: Context) -> EventsModel:
    """Returns the events in order of declaration."""
    event = context.protocol.roles.event
    names = driver_names(context)
    arm, type_ = arm_type(context, event.oneof), context.message_type(event.full_name)
    return EventsModel(
        base=context.symbol(event.full_name),
        type=type_,
        oneof=context.binding.oneof_property(event.oneof),
        arm=arm,
        end=_end(arm, total=event.arms == event.oneof.arms),
        emit=bracketed(
            "export function emitEvent(",
            [f"emitter: {context.symbol(event.full_name)}Emitter", f"event: {type_}"],
            "): number | undefined {",
        ),
        subscribe=bracketed(
            "export function subscribe(",
            ["session: SessionEvents", f"forwarders: {context.symbol(event.full_name)}Forwarders"],
            "): () => void {",
        ),
        forwarded=_forwarded(context),
        events=tuple(_event(context, item, names) for item in context.protocol.events),
    )


def _forwarded(context: Context) -> str:
    timestamp = context.protocol.roles.timestamp
    if timestamp is None:
        return "T"
    return f"T & {{ readonly {context.binding.field_property(timestamp)}?: number }}"


def _end(arm: str, total: bool) -> str:
    """Returns the end of a table, which checks its keys. total: every arm is an event."""
    if total:
        return bracketed("} as const satisfies Record<", [arm, "string"], ">;")
    return bracketed("} as const satisfies Partial<Record<", [arm, "string"], ">>;")


def driver_names(context: Context) -> dict[str, str]:
    """Returns the name under which the SDK's driver emits each arm; the arm's own if it does not."""
    driver = context.vocabulary.driver if context.vocabulary else None
    receives = {item.arm: item.event for item in driver.receives} if driver else {}
    return {
        item.arm.name: receives.get(item.arm.name, item.arm.name)
        for item in context.protocol.events
    }


def _event(context: Context, event: Event, names: dict[str, str]) -> EventModel:
    arm = context.binding.arm(event.arm)
    plan = context.plans.get(event.arm.value.type_name)
    known = plan is not None and plan.has_sdk_class
    source = source_type(context, event.arm.value.type_name) if known else "unknown"
    return EventModel(
        key=naming.key(arm),
        arm=naming.quoted(arm),
        sdk_name=naming.quoted(event.sdk_event),
        driver_name=naming.quoted(names[event.arm.name]),
        name_access=naming.access("EVENT_NAMES", arm),
        docs="\n\n".join(
            text for text in (event.arm.docs, f"Event arm {event.arm.number}.") if text
        ),
        forwarder=bracketed(f"readonly {naming.key(arm)}: Forward<", [source], ">;", 2),
    )
