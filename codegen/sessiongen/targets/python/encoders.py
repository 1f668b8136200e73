"""The model of encoders.py: from the SDK's objects to messages, field by field.

In: the target's Context. Out: an EncodersModel with the statements of each message's
`fill_` function, laid out as black leaves them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.naming import plain
from sessiongen.roles import union
from sessiongen.schema import Field, Kind, Value
from sessiongen.shapes import Choice, Shape, Source
from sessiongen.layout import bracketed, imported
from sessiongen.targets.python.message_names import MessageNames
from sessiongen.targets.python.models import Context
from sessiongen.targets.python.parameters import access

# Own types of protobuf that are filled in place, and those that are made.
_SETTERS = {
    "google.protobuf.Timestamp": "set_timestamp",
    "google.protobuf.Duration": "set_duration",
    "google.protobuf.Struct": "set_struct",
}
_MAKERS = {name: setter.replace("set_", "to_") for name, setter in _SETTERS.items()}


@dataclass(frozen=True)
class EncoderModel:
    """A message's encoder: the lines that open its two functions, and its statements.

    certain: whether something is always written, so that the message is set by that.
    by_name: the source may lack everything, so that each value is asked for by its key.
    by_attribute: the source is read by attributes, of which `optional` may be missing.
    """

    name: str
    title: str
    message: str
    encode: str
    fill: str
    certain: bool
    by_name: bool
    by_attribute: bool
    optional: str
    statements: list[str]


@dataclass(frozen=True)
class EventArm:
    """An event arm and the function, or the statement, that fills it."""

    arm: str
    filler: str


@dataclass(frozen=True)
class EncodersModel:
    """encoders.py."""

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    enums: str
    fields: str
    values: str
    overrides: bool
    encoders: list[EncoderModel]
    event: str
    event_name: str
    encode_event: str
    fill_event: str
    arm_type: str
    beside: list[str]
    payloads: list[EventArm]
    scalars: list[EventArm]


def encoders_model(context: Context) -> EncodersModel:
    """Return the model of encoders.py."""
    return _Encoders(context).model()


def carried_fields(context: Context) -> list[str]:
    """Return the names of all fields that have an encoder, as overrides name them."""
    return [
        ".".join((*shape.message.path, field.name))
        for shape in context.shapes.values()
        for field in shape.message.fields
    ]


class _Encoders:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.references = context.references()
        self.names = MessageNames(context)
        self.enums: set[str] = set()
        self.fields: set[str] = set()
        self.values: set[str] = set()
        self.overridden: set[str] = set()

    def model(self) -> EncodersModel:
        role = self.context.protocol.roles.event
        event = self.references.message(role.full_name)
        name = self.names.role(role)
        arm_type = f"{self.context.union_name(union(role))}Arm"
        encoders = [self._encoder(shape) for shape in self.context.shapes.values()]
        arms = union(role).arms
        payloads = [item for item in arms if item.value.type_name in self.context.shapes]
        scalars = [item for item in arms if item not in payloads]
        beside = self._beside()
        return EncodersModel(
            scalars=[EventArm(item.name, self._scalar(item)) for item in scalars],
            payloads=[EventArm(item.name, self._filler(item.value)) for item in payloads],
            imports=self.references.imports,
            aliases=self.references.aliases,
            enums=imported(".enums", self.enums),
            fields=imported(".fields", self.fields),
            values=imported(".values", self.values),
            overrides=bool(self.overridden),
            encoders=encoders,
            event=event,
            event_name=name,
            encode_event=_opening(f"encode_{name}", [f"arm: {arm_type}", "source: Any"], event),
            fill_event=_opening(
                f"fill_{name}", [f"arm: {arm_type}", "source: Any", f"to: {event}"], "None"
            ),
            arm_type=arm_type,
            beside=beside,
        )

    def _encoder(self, shape: Shape) -> EncoderModel:
        read = [item for item in shape.fields if self._override(shape, item.field) is None]
        held = [item for item in shape.choices if item.name is not None]
        overridden = len(read) < len(shape.fields)
        by_name = bool(read) and not shape.choices and all(item.absent for item in shape.fields)
        if by_name:
            self.fields |= {"items", "is_mapping"}
        by_attribute = not by_name and bool(read or held or overridden)
        if by_attribute:
            self.fields |= {"attributes", "is_mapping"}
        name = self.names.function(shape.message)
        message = self.references.message(shape.message.full_name)
        return EncoderModel(
            name=name,
            title=self.names.title(shape.message),
            message=message,
            encode=_opening(f"encode_{name}", ["source: Any"], message),
            fill=_opening(f"fill_{name}", ["source: Any", f"to: {message}"], "None"),
            certain=any(self._certain(item) for item in read),
            by_name=by_name,
            by_attribute=by_attribute,
            optional=" ".join(item.name for item in shape.fields if item.absent),
            statements=list(self._statements(shape, by_name)),
        )

    def _certain(self, source: Source) -> bool:
        field = source.field
        return field.value.kind is Kind.ENUM and not (field.repeated or field.presence or field.key)

    def _statements(self, shape: Shape, by_name: bool) -> Iterator[str]:
        yield from self._guards(shape, by_name)
        sources = {item.field.name: item for item in shape.fields}
        choices = {item.oneof.name: item for item in shape.choices}
        for field in shape.message.fields:
            override = self._override(shape, field)
            if override is not None:
                self.overridden.add(override)
                yield f"overrides.{override}(source, to)"
            elif field.name in sources:
                yield from self._field(sources[field.name], by_name)
            elif field.oneof in choices:
                yield from self._choice(choices.pop(str(field.oneof)))

    def _guards(self, shape: Shape, by_name: bool) -> Iterator[str]:
        """Refuse several arms of one oneof, of which the message would keep the last."""
        sources = {item.field.name: item for item in shape.fields}
        for oneof in shape.message.oneofs:
            arms = [sources[arm.name] for arm in oneof.arms if arm.name in sources]
            if len(arms) > 1:
                self.values.add("at_most_one")
                name = f'"{oneof.message}.{oneof.name}"'
                yield bracketed(
                    "at_most_one(", [name, *(self._read(item, by_name) for item in arms)], ")", 4
                ).lstrip()

    def _override(self, shape: Shape, field: Field) -> str | None:
        return self.context.overrides.get(".".join((*shape.message.path, field.name)))

    def _read(self, source: Source, by_name: bool) -> str:
        if by_name:
            return f'(source["{source.name}"] if "{source.name}" in source else None)'
        if source.name != source.field.name:
            self.fields.add("either")
            return f'either(source, "{source.name}", "{source.field.name}")'
        return access("source", source.name)

    def _choice(self, choice: Choice) -> Iterator[str]:
        self.fields |= {"is_mapping", "unknown_kind"}
        held, margin = "source", ""
        if choice.name is not None:
            held, margin = "value", "    "
            yield f"if (value := {access('source', choice.name)}) is not None:"
        key = f'{held}["type"] if is_mapping[type({held})] else {held}.type'
        yield f"{margin}kind = {key}"
        for index, tagged in enumerate(choice.arms):
            target = access("to", tagged.arm.name)
            yield f'{margin}{"el" if index else ""}if kind == "{tagged.tag}":'
            yield f"{margin}    {self._put(tagged.arm.value, target, held)}"
        yield f"{margin}else:"
        full_name = f"{choice.oneof.message}.{choice.oneof.name}"
        yield f'{margin}    unknown_kind("{full_name}", kind)'

    def _filler(self, value: Value) -> str:
        return f"fill_{self.names.function(self.context.shapes[value.type_name].message)}"

    def _field(self, source: Source, by_name: bool) -> Iterator[str]:
        field = source.field
        read = self._read(source, by_name)
        target = access("to", field.name)
        if field.key is not None:
            yield f"if value := {read}:"
            yield "    for key, item in value.items():"
            yield f"        {self._put(field.value, f'{target}[key]', 'item', strings=True)}"
        elif field.repeated:
            yield from self._repeated(field.value, read, target)
        elif field.value.kind is Kind.ENUM and not field.presence:
            yield f"{self._assign('to', field, self._converted(field.value, read))}"
        else:
            name = f'"{source.name}"'
            given = f"value := source[{name}]" if by_name else f"value := {read}"
            yield f"if {f'{name} in source and ' if by_name else ''}({given}) is not None:"
            if field.value.kind is Kind.MESSAGE:
                yield f"    {self._put(field.value, target, 'value')}"
            else:
                yield f"    {self._assign('to', field, self._converted(field.value, 'value'))}"

    def _assign(self, to: str, field: Field, value: str) -> str:
        if plain(field.name):
            return f"{to}.{field.name} = {value}"
        return f'setattr({to}, "{field.name}", {value})'

    def _repeated(self, value: Value, read: str, target: str) -> Iterator[str]:
        if value.type_name in self.context.shapes:
            yield f"for item in {read} or ():"
            yield "    if item is not None:"
            yield f"        {self._filler(value)}(item, {target}.add())"
        elif value.type_name in _MAKERS:
            maker = _MAKERS[value.type_name]
            self.values.add(maker)
            yield f"{target}.extend({maker}(item) for item in {read} or ())"
        elif value.kind is Kind.ENUM and self._converter(value):
            yield f"{target}.extend({self._converter(value)}(item) for item in {read} or ())"
        else:
            yield f"{target}.extend({read} or ())"

    def _put(self, value: Value, target: str, held: str, strings: bool = False) -> str:
        """Return the statement that writes one value."""
        if value.type_name in self.context.shapes:
            return f"{self._filler(value)}({held}, {target})"
        if value.type_name in _SETTERS:
            self.fields.add(_SETTERS[value.type_name])
            return f"{_SETTERS[value.type_name]}({target}, {held})"
        if value.kind is Kind.MESSAGE:
            return f"{target}.CopyFrom({held})"
        if strings and value.kind is Kind.STR:
            return f"{target} = str({held})"
        return f"{target} = {self._converted(value, held)}"

    def _converted(self, value: Value, held: str) -> str:
        converter = self._converter(value)
        return f"{converter}({held})" if converter else held

    def _converter(self, value: Value) -> str:
        words = self.names.words(value) if value.kind is Kind.ENUM else None
        if words is None:
            return ""
        self.enums.add(words.to_proto)
        return words.to_proto

    def _scalar(self, arm: Field) -> str:
        """Return the statement that fills an event arm whose payload is no message of ours."""
        if arm.value.kind is Kind.MESSAGE:
            return self._put(arm.value, access("to", arm.name), "source")
        return self._assign("to", arm, self._converted(arm.value, "source"))

    def _beside(self) -> list[str]:
        """Return the statements that fill what stands beside the event's arms."""
        roles = self.context.protocol.roles
        lines = []
        for field in roles.event.outside():
            if field is roles.timestamp:
                self.fields |= {"set_timestamp", "time_of"}
                read = f'time_of(source, "{field.name}")'
                lines.append(f"set_timestamp({access('to', field.name)}, {read})")
        return lines


def _opening(name: str, parameters: list[str], result: str) -> str:
    return bracketed(f"def {name}(", parameters, f") -> {result}:")
