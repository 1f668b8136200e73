"""The model of events.py: the event sink, the SDK's events and the listeners."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.targets.python.imports import sorted_imports
from sessiongen.targets.python.layout import quoted
from sessiongen.targets.python.naming import Namespace, plain
from sessiongen.ir.protocol import Event
from sessiongen.ir.roles import TIMESTAMP
from sessiongen.ir.schema import Field, Value, Kind
from sessiongen.targets.python.context import Context, arm_docs, event_docs
from sessiongen.targets.python.parameters import (
    Parameter,
    ParameterBuilder,
    construct,
    signature,
)

# Names of events.py, which an imported class would hide.
_MODULE_NAMES = frozenset({"ABC", "Arm", "Emitter", "EventEmitter", "Final", "Protocol"})


@dataclass(frozen=True)
class EventModel:
    """An event: its sink method with parameters, its listeners, its SDK event.

    sdk_event: the literal of the name under which the SDK emits the event.
    source: the type of the SDK's event.
    """

    name: str
    arm: str
    number: int
    sdk_event: str
    forwarder: str
    source: str
    listener: str
    payload: str
    guards: list[str]
    signature: str
    statement: str
    docs: str
    has_comment: bool


@dataclass(frozen=True)
class EventsModel:
    """events.py.

    source_imports: the imports of the SDK's events, for type checkers.
    renamed: the events whose forwarders are not named like their arms.
    has_newer: whether older messages lack an event.
    """

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    values: list[str]
    source_imports: list[str]
    base: str
    event: str
    event_name: str
    timestamp: str
    oneof: str
    arm_type: str
    events: list[EventModel]
    renamed: list[EventModel]
    has_newer: bool


def events_model(context: Context) -> EventsModel:
    """Returns the model of events.py."""
    return _EventsBuilder(context).model()


class _EventsBuilder:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.role = context.protocol.roles.event
        self.timestamp = context.protocol.roles.timestamp
        self.references = context.references()
        self.parameters = ParameterBuilder(context, self.references, context.reserved | {"event"})
        reserved = context.class_reserved
        self.sink = Namespace("the event sink", reserved | {"emit", "_emit"})
        self.forwarders = Namespace("the forwarders", reserved)
        self.listeners = Namespace("the listeners", reserved | {"on_unknown"})
        # The classes of the SDK's events by their module.
        self.sources: dict[str, set[str]] = {}

    def model(self) -> EventsModel:
        base = self.context.flat(self.role.full_name)
        oneof = self.role.oneof
        events = [self._event(item) for item in self.context.protocol.events]
        for namespace in (self.sink, self.forwarders, self.listeners, self.parameters):
            self.context.faults += namespace.faults
        # `imports` is complete only after all names have been resolved.
        event = self.references.message(self.role.full_name)
        return EventsModel(
            imports=self.references.imports,
            aliases=self.references.aliases,
            values=sorted(self.references.values),
            source_imports=sorted_imports(self.sources).splitlines(),
            base=base,
            event=event,
            event_name=f"{self.role.full_name}.{oneof.name}",
            timestamp=self._time.name if self._time else "",
            oneof=oneof.name,
            arm_type=f"{self.context.union_name(oneof)}Arm",
            events=events,
            has_newer=any(self.context.lacks(self.role, arm) for arm in self.role.arms),
            renamed=[item for item in events if item.forwarder != item.arm],
        )

    def _event(self, event: Event) -> EventModel:
        arm = event.arm
        name = self.sink.name(arm.name, arm.span)
        common = self._common(name)
        parameters = self.parameters.payload(name, arm, False, common)
        payload = self.parameters.construct_payload(arm, parameters)
        payload_argument = Parameter(arm.name, "", "", "", payload, False, "")
        return EventModel(
            name=name,
            arm=arm.name,
            number=arm.number,
            sdk_event=quoted(event.sdk_event),
            forwarder=self.forwarders.name(arm.name, arm.span),
            source=self._source(arm),
            listener=self.listeners.name(f"on_{arm.name}", arm.span),
            payload=self.references.strict(arm.value),
            guards=[
                *self.parameters.guards(arm, parameters),
                *self.parameters.oneof_guards(self.role.other_oneofs, common),
            ],
            signature=signature([*parameters, *common]),
            statement=self._statement(common, payload_argument),
            docs=event_docs(self.context.protocol, arm),
            has_comment=bool(arm_docs(self.context.protocol, arm)),
        )

    def _source(self, arm: Field) -> str:
        """Returns the type of the SDK's event, Any if it is not known."""
        record = self.context.event_classes.get(arm.name)
        if record is None or record.name in _MODULE_NAMES | self.context.class_reserved:
            return "Any"
        module = record.place.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        self.sources.setdefault(module, set()).add(record.name)
        return record.name

    def _statement(self, common: list[Parameter], payload: Parameter) -> str:
        """Returns the statement that emits an event."""
        parameters = [*common, payload]
        if self._time is None or any(item.unset or not plain(item.field) for item in parameters):
            event = construct(self.references.message(self.role.full_name), parameters)
            return f"self.emit({event})"
        time, *others = parameters
        fields = "".join(f", {item.field}={item.argument}" for item in others)
        return f"self._emit({time.name}{fields})"

    @property
    def _time(self) -> Field | None:
        """The field for the time of events, if it can be written as a keyword."""
        field = self.timestamp
        return field if field is not None and plain(field.name) else None

    def _common(self, function: str) -> list[Parameter]:
        others = [item for item in self.role.common_fields if item is not self.timestamp]
        result = self.parameters.common(function, others)
        if self.timestamp is not None:
            result.insert(0, self._timestamp_parameter(function, self.timestamp))
        return result

    def _timestamp_parameter(self, function: str, field: Field) -> Parameter:
        self.references.natural(Value(Kind.MESSAGE, TIMESTAMP))
        self.references.values.discard("to_timestamp")
        self.references.values.add("timestamp_or_now")
        parameter = self.parameters.common(function, [field])[0]
        return Parameter(
            field=field.name,
            name=parameter.name,
            annotation=f"{parameter.annotation.removesuffix(' | None')} | None",
            default="None",
            argument=f"timestamp_or_now({parameter.name})",
            unset=False,
            docs=field.docs,
        )
