"""The model of encoders.py: the statements that fill each message from an SDK's objects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sessiongen.ir.schema import Field, Kind
from sessiongen.ir.encoding_plan import TaggedOneof, MessagePlan, FieldPlan
from sessiongen.targets.python.layout import imported, LINE_LENGTH, quoted, tuple_of
from sessiongen.targets.python.encoder_models import EncoderModel, EncodersModel, EventArm
from sessiongen.targets.python.event_encoder import arms_without_time, event_docs
from sessiongen.targets.python.context import Context
from sessiongen.targets.python.naming import access
from sessiongen.targets.python.references import ZERO_VALUES
from sessiongen.targets.python.responses import response_plans
from sessiongen.targets.python.value_writer import SETTERS, ValueWriter


def encoders_model(context: Context) -> EncodersModel:
    """Returns the model of encoders.py."""
    return _Encoders(context).model()


def encoded_fields(context: Context) -> list[str]:
    """Returns the paths of all fields that are encoded, as in overrides."""
    return [
        ".".join((*plan.message.path, field.name))
        for plan in context.plans.values()
        for field in plan.message.fields
    ]


class _Encoders(ValueWriter):
    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.references = context.references()
        self.overridden: set[str] = set()
        self.type_layers = [item for item in ("models", "responses") if item in context.layers]
        self.response_dicts = {item.message.full_name for item in response_plans(context)}

    def model(self) -> EncodersModel:
        role = self.context.protocol.roles.event
        event = self.references.message(role.full_name) if role.present else ""
        name = self.names.role(role)
        arm_type = f"{self.context.union_name(role.oneof)}Arm" if role.present else ""
        encoders = [self._encoder(plan) for plan in self.context.plans.values()]
        plans = self.context.plans
        payloads = [item for item in role.arms if item.value.type_name in plans]
        scalars = [item for item in role.arms if item.value.type_name not in plans]
        without_time = arms_without_time(self.context)
        common = self._common(bool(without_time))
        return EncodersModel(
            scalars=[EventArm(item.name, self._scalar(item)) for item in scalars],
            payloads=[EventArm(item.name, self._filler(item.value)) for item in payloads],
            imports=self.references.imports,
            aliases=self.references.aliases,
            enums=imported(".enums", self.enums),
            fields=imported(".fields", self.fields),
            values=imported(".values", self.values),
            overrides=bool(self.overridden),
            type_layers=self.type_layers if self.response_dicts else [],
            encoders=encoders,
            newer=self.references.newer,
            event=event,
            event_name=name,
            event_docs=event_docs(self.context),
            encode_event=_opening(f"encode_{name}", [f"arm: {arm_type}", "source: Any"], event),
            fill_event=_opening(
                f"fill_{name}", [f"arm: {arm_type}", "source: Any", f"to: {event}"], "None"
            ),
            arm_type=arm_type,
            common=common,
            without_time=without_time,
        )

    def _encoder(self, plan: MessagePlan) -> EncoderModel:
        self.fields.add("filled")
        read = [item for item in plan.fields if self._override(plan, item.field) is None]
        named_oneofs = [item for item in plan.tagged_oneofs if item.name is not None]
        by_name = self._by_name(plan, read)
        if by_name:
            self.fields |= {"ObjectItems", "is_mapping"}
        by_attribute = not by_name and bool(plan.fields or named_oneofs)
        if by_attribute:
            self.fields |= {"MappingAttributes", "is_mapping"}
        name, title = self.names.function(plan.message), self.names.title(plan.message)
        is_response = plan.message.full_name in self.response_dicts
        source_type = (
            " | ".join(f"{item}.{title}" for item in self.type_layers if is_response) or "Any"
        )
        message = self.references.message(plan.message.full_name)
        optional_sources = [item for item in plan.fields if item.optional]
        # The names in the SDK and in models.py are read first, so the protocol's may be missing.
        optional_names = [item.field.name for item in optional_sources] + [
            item.name for item in optional_sources if item not in read
        ]
        return EncoderModel(
            name=name,
            message=message,
            encode=_opening(f"encode_{name}", [f"source: {source_type}"], message),
            fill=_opening(f"fill_{name}", ["source: Any", f"to: {message}"], "None"),
            copied=self._is_copied(plan),
            always_set=self._always_written(plan, by_name) is not None or self._is_arm(plan),
            by_name=by_name,
            by_attribute=by_attribute,
            optional=tuple_of(dict.fromkeys(optional_names)),
            statements=list(self._statements(plan, by_name)),
        )

    def _is_copied(self, plan: MessagePlan) -> bool:
        """Whether an SDK may emit the message itself, whose unset messages read as empty ones."""
        events = {item.value.type_name for item in self.context.protocol.roles.event.arms}
        own = plan.message.full_name in events and not plan.has_sdk_class
        fields = [item for item in plan.message.fields if not item.repeated and not item.oneof]
        return own and any(item.value.kind is Kind.MESSAGE for item in fields)

    def _by_name(self, plan: MessagePlan, read: Sequence[FieldPlan]) -> bool:
        """Whether all fields of the source are optional and have only one name.

        Overrides read attributes, so messages with overrides are read by attributes. An enum
        without an unknown value is not optional.
        """
        return (
            plan.all_optional
            and bool(read)
            and len(read) == len(plan.fields)
            and not plan.tagged_oneofs
            and not any(self._requires_literal(item) for item in read)
            and all(item.optional for item in plan.fields)
            and all(len(self._spellings(plan, item)) == 1 for item in read)
        )

    def _always_written(self, plan: MessagePlan, by_name: bool) -> FieldPlan | None:
        """Returns a field that is always written, if there is one.

        Writing the zero value of a field without presence changes nothing, but marks the
        message as present, which otherwise needs a call.
        """
        read = [
            item
            for item in plan.fields
            if self._override(plan, item.field) is None
            and not self.context.lacks(plan.message, item.field)
        ]
        literals = [item for item in read if self._takes_literal(item)]
        zero_fields = [item for item in read if self._zero(item) and not by_name]
        return next(iter([*literals, *zero_fields]), None)

    def _is_arm(self, plan: MessagePlan) -> bool:
        """Whether the message consists of a oneof, whose arm marks it as present."""
        tagged_oneof = plan.transparent
        return tagged_oneof is not None and not any(
            self._override(plan, item.arm) for item in tagged_oneof.arms
        )

    def _takes_literal(self, source: FieldPlan) -> bool:
        """Whether a field takes the literal of an enum, which a source must have."""
        return _single(source.field) and self._converter(source.field.value) != ""

    def _requires_literal(self, source: FieldPlan) -> bool:
        literals = self.names.literals(source.field.value)
        return self._takes_literal(source) and literals is not None and not literals.nullable

    def _zero(self, source: FieldPlan) -> str:
        kind = source.field.value.kind
        return ZERO_VALUES.get(kind, "") if _single(source.field) and not source.stringify else ""

    def _statements(self, plan: MessagePlan, by_name: bool) -> Iterator[str]:
        yield from self._guards(plan, by_name)
        sources = {item.field.name: item for item in plan.fields}
        tagged_oneofs = {item.oneof.name: item for item in plan.tagged_oneofs}
        if any(self.context.lacks(plan.message, item.field) for item in plan.fields):
            # The types of the oldest messages lack these fields.
            yield "newer: Any = to"
        for field in plan.message.fields:
            if field.name in sources:
                if self.context.lacks(plan.message, field):
                    yield f"if {self.references.presence(plan.message, field)}:"
                    newer = self._field_or_override(plan, sources[field.name], by_name, "newer")
                    yield from (f"    {item}" for item in newer)
                else:
                    yield from self._field_or_override(plan, sources[field.name], by_name)
            elif field.oneof in tagged_oneofs:
                yield from self._oneof_statements(plan, tagged_oneofs.pop(str(field.oneof)))

    def _field_or_override(
        self, plan: MessagePlan, source: FieldPlan, by_name: bool, to: str = "to"
    ) -> Iterator[str]:
        """Yields the statements that write a field. to: the local that has the message."""
        override = self._override(plan, source.field)
        if override is None:
            yield from self._field(plan, source, by_name, to)
            return
        self.overridden.add(override)
        yield f"overrides.{override}(source, {to})"

    def _guards(self, plan: MessagePlan, by_name: bool) -> Iterator[str]:
        """Yields the statements that reject a source with several arms of one oneof."""
        read = [item for item in plan.fields if self._override(plan, item.field) is None]
        sources = {item.field.name: item for item in read}
        for oneof in plan.message.oneofs:
            arms = [sources[arm.name] for arm in oneof.arms if arm.name in sources]
            if len(arms) > 1:
                self.values.add("at_most_one")
                values = ", ".join(self._read(plan, item, by_name) for item in arms)
                yield f'at_most_one("{oneof.message}.{oneof.name}", {values})'

    def _override(self, plan: MessagePlan, field: Field) -> str | None:
        return self.context.overrides.get(".".join((*plan.message.path, field.name)))

    def _spellings(self, plan: MessagePlan, source: FieldPlan) -> list[str]:
        """Returns the names of a field's attribute: in the SDK, in models.py, in the protocol."""
        member = self.names.members(plan)[source.field.name]
        return list(dict.fromkeys((source.name, member, source.field.name)))

    def _read(self, plan: MessagePlan, source: FieldPlan, by_name: bool) -> str:
        if by_name:
            name = quoted(source.name)
            return f"(source[{name}] if {name} in source else None)"
        return self._attribute(self._spellings(plan, source))

    def _attribute(self, names: Sequence[str]) -> str:
        if len(names) == 1:
            return access("source", names[0])
        self.fields.add("first_attribute")
        return f"first_attribute(source, {', '.join(map(quoted, names))})"

    def _oneof_statements(self, plan: MessagePlan, tagged_oneof: TaggedOneof) -> Iterator[str]:
        if tagged_oneof.name is None:
            yield from self._arms(plan, tagged_oneof, "source")
            return
        member = self.names.members(plan)[tagged_oneof.name]
        read = self._attribute(list(dict.fromkeys((member, tagged_oneof.name))))
        yield f"if (value := {read}) is not None:"
        for line in self._arms(plan, tagged_oneof, "value"):
            yield f"    {line}"

    def _arms(self, plan: MessagePlan, tagged_oneof: TaggedOneof, variable: str) -> Iterator[str]:
        """Yields the statements that write the arm with the tag of the source."""
        self.fields |= {"tag_of", "log_unknown_tag"}
        # Most sources are objects with a tag, so this is the fastest access.
        yield "try:"
        yield f"    tag = {variable}.type"
        yield "except AttributeError:"
        yield f"    tag = tag_of({variable})"
        for index, tagged in enumerate(tagged_oneof.arms):
            condition = f"tag == {quoted(tagged.tag)}"
            if self.context.lacks(plan.message, tagged.arm):
                condition += f" and {self.references.presence(plan.message, tagged.arm)}"
            yield f"{'el' if index else ''}if {condition}:"
            override = self._override(plan, tagged.arm)
            if override is not None:
                self.overridden.add(override)
                yield f"    overrides.{override}({variable}, to)"
            else:
                yield f"    {self._set(tagged.arm.value, access('to', tagged.arm.name), variable)}"
        if tagged_oneof.name is None:
            yield f"elif {variable} is None:"
            yield "    to.SetInParent()"
        yield "else:"
        if self._is_arm(plan):
            yield "    to.SetInParent()"
        yield f'    log_unknown_tag("{tagged_oneof.oneof.message}.{tagged_oneof.oneof.name}", tag)'

    def _field(self, plan: MessagePlan, source: FieldPlan, by_name: bool, to: str) -> Iterator[str]:
        field = source.field
        read = self._read(plan, source, by_name)
        target = access(to, field.name)
        if field.key is not None:
            yield f"if value := {read}:"
            yield "    for key, item in value.items():"
            key = "str(key)" if field.key is Kind.STRING else "key"
            yield f"        {self._set(field.value, f'{target}[{key}]', 'item', strings=True)}"
        elif field.repeated:
            yield from self._repeated(field.value, read, target)
        elif self._takes_literal(source):
            yield self._assign(to, field, self._converted(field.value, read))
        elif not by_name and (setter := self._setter(source)):
            yield f"{setter}({target}, {read})"
        elif statement := self._zero_statement(plan, source, by_name, read, to):
            yield statement
        elif field.required:
            self.values.add("required")
            yield f'value = required({read}, "{plan.message.full_name}.{field.name}")'
            yield self._write(source, to)
        else:
            name = quoted(source.name)
            assignment = f"value := source[{name}]" if by_name else f"value := {read}"
            yield f"if {f'{name} in source and ' if by_name else ''}({assignment}) is not None:"
            yield f"    {self._write(source, to)}"

    def _setter(self, source: FieldPlan) -> str:
        """Returns the function that sets a field from a value or None, or ""."""
        setter = "" if source.field.required else SETTERS.get(source.field.value.type_name, "")
        self.fields |= {setter} if setter else set()
        return setter

    def _zero_statement(
        self, plan: MessagePlan, source: FieldPlan, by_name: bool, read: str, to: str
    ) -> str:
        """Returns the statement that writes the value of a field, or zero if the value is None.

        It is "" if the field has presence, or the statement is longer than a line.
        """
        zero = self._zero(source)
        if not zero or by_name:
            return ""
        value = f"{zero} if (value := {read}) is None else value"
        statement = self._assign(to, source.field, value)
        fits = len(statement) <= LINE_LENGTH - 4
        return statement if fits or source is self._always_written(plan, by_name) else ""

    def _write(self, source: FieldPlan, to: str) -> str:
        """Returns the statement that writes the local `value` to a single field."""
        if source.field.value.kind is Kind.MESSAGE:
            return self._set(source.field.value, access(to, source.field.name), "value")
        return self._assign(to, source.field, self._field_value(source))

    def _scalar(self, arm: Field) -> str:
        """Returns the statement that fills an event arm whose payload has no encoder."""
        if arm.value.kind is Kind.MESSAGE:
            return self._set(arm.value, access("to", arm.name), "source")
        return self._assign("to", arm, self._converted(arm.value, "source"))

    def _common(self, some_without_time: bool) -> list[str]:
        """Returns the statement that fills the event's time."""
        field = self.context.protocol.roles.timestamp
        if field is None:
            return []
        self.fields |= {"set_timestamp", "time_of"}
        variable = "None if arm in _WITHOUT_TIME else source" if some_without_time else "source"
        return [f'set_timestamp({access("to", field.name)}, time_of({variable}, "{field.name}"))']


def _single(field: Field) -> bool:
    """Whether a field has a single value without presence."""
    return not (field.repeated or field.presence or field.key)


def _opening(name: str, parameters: list[str], result: str) -> str:
    return f"def {name}({', '.join(parameters)}) -> {result}:"
