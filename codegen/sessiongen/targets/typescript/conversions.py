"""How the value of each field is made from the SDK's value: types, units and functions."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.encoding_plan import FieldPlan, MessagePlan
from sessiongen.ir.name_case import snake
from sessiongen.ir.schema import Field, Kind
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.context import Context
from sessiongen.targets.typescript.enums import accepted_type, converter

_MILLISECONDS = "_ms"
_PLAIN = {
    Kind.BOOL: "boolean",
    Kind.FLOAT: "number",
    Kind.INT: "number",
    Kind.STRING: "string",
}


@dataclass(frozen=True)
class Conversion:
    """How a field is filled.

    source: the property of the source object. type: of its value, without null.
    optional: it may be absent. nullable: it may be null. value: the expression of the field's
    value.
    """

    source: str
    type: str
    optional: bool
    nullable: bool
    value: str


@dataclass(frozen=True)
class _Single:
    """A single value: its type in the source, and the function that converts it, or ""."""

    type: str
    function: str


def conversion(
    context: Context, plan: MessagePlan, source: FieldPlan, all_optional: bool
) -> Conversion:
    """Returns how a field is filled.

    all_optional: any property of the source may be absent.
    """
    name = property_name(context, plan, source)
    optional = all_optional or source.optional
    nullable = optional or _can_be_null(plan, source.field)
    access = naming.access("source", name)
    override = override_name(plan, source.field)
    if override in context.overrides.functions:
        function = f"overrides.{override}"
        value, type_ = (
            _applied(context, function, access, nullable),
            f"Parameters<typeof {function}>[0]",
        )
        return Conversion(name, type_, optional, nullable, value)
    single = _single(context, plan, source)
    if source.field.key is not None:
        return _map(context, plan, source, single, optional)
    if source.field.repeated:
        value = _filled(access, optional, "[]")
        converted = f"list({value}, {single.function})" if single.function else f"[...{value}]"
        type_ = f"readonly {_element(single.type)}[]"
        return Conversion(name, type_, optional, optional, converted)
    value = _applied(context, single.function, access, nullable)
    return Conversion(name, single.type, optional, nullable, value)


def _can_be_null(plan: MessagePlan, field: Field) -> bool:
    """Whether a field has to be named, but may be absent in the message.

    The SDK's classes say themselves what may be absent.
    """
    return not plan.has_sdk_class and field.presence and field.oneof is None


def property_name(context: Context, plan: MessagePlan, source: FieldPlan) -> str:
    """Returns the property of the source: the SDK's name, or the field's in lowerCamelCase."""
    record = context.record(plan.message)
    facts = {fact.name for fact in record.fields} if record else set[str]()
    return source.name if source.name in facts else naming.camel(source.name)


def override_name(plan: MessagePlan, field: Field) -> str:
    """Returns the name of the function that may convert a field by hand."""
    parts = (*plan.message.path, naming.camel(field.name))
    return naming.lower_first("".join(map(naming.capital, parts)))


def _filled(access: str, optional: bool, default: str) -> str:
    return f"({access} ?? {default})" if optional else access


def _applied(context: Context, function: str, access: str, optional: bool) -> str:
    if not function:
        return f"{access} ?? undefined" if optional else access
    return f"optional({access}, {function})" if optional else call(context, function, access)


def call(context: Context, function: str, source: str) -> str:
    """Returns the call of a conversion; the encoder of an empty message has no parameter."""
    return f"{function}()" if function in context.empty_encoders else f"{function}({source})"


def _element(type_: str) -> str:
    return f"({type_})" if " " in type_ else type_


def _map(
    context: Context, plan: MessagePlan, source: FieldPlan, single: _Single, optional: bool
) -> Conversion:
    name = property_name(context, plan, source)
    access = naming.access("source", name)
    value = f"{access} ?? {{}}" if optional else access
    if source.field.value.kind is Kind.STRING:
        type_ = "Readonly<Record<string, unknown>>"
        return Conversion(name, type_, optional, optional, f"texts({value})")
    if single.function:
        converted = f"mapValues({value}, {single.function})"
        type_ = f"Readonly<Record<string, {single.type}>>"
        return Conversion(name, type_, optional, optional, converted)
    message = context.message_type(plan.message.full_name)
    type_ = f"NonNullable<{message}['{context.binding.field_property(source.field)}']>"
    spread = f"({value})" if optional else value
    return Conversion(name, f"Readonly<{type_}>", optional, optional, f"{{ ...{spread} }}")


def _single(context: Context, plan: MessagePlan, source: FieldPlan) -> _Single:
    field = source.field
    kind = field.value.kind
    full_name = f"{plan.message.full_name}.{field.name}"
    if kind is Kind.MESSAGE:
        return _message(context, plan, source)
    if kind is Kind.ENUM:
        return _enum(context, plan, field)
    if kind is Kind.BYTES:
        # Libraries differ in the buffer that they allow.
        return _Single(_own_type(context, plan, field), "")
    if source.stringify:
        return _Single("unknown", "String")
    if full_name in context.wide:
        return _Single("bigint", "")
    if kind is Kind.FLOAT and _in_milliseconds(source):
        return _Single("number", "secondsFromMs")
    return _Single(_PLAIN[kind], "")


def _in_milliseconds(source: FieldPlan) -> bool:
    """Whether the SDK's name of a field has a unit that the protocol's lacks."""
    has_unit = source.field.name.endswith(_MILLISECONDS)
    return snake(source.name).endswith(_MILLISECONDS) and not has_unit


def _message(context: Context, plan: MessagePlan, source: FieldPlan) -> _Single:
    name = source.field.value.type_name
    if name in context.plans:
        return _Single(f"{context.symbol(name)}Source", context.encoder(name))
    if name == "google.protobuf.Timestamp":
        seconds = f"{'.'.join(plan.message.path)}.{source.field.name}" in context.options.seconds
        return _Single("number", f"timestampFrom{'Seconds' if seconds else 'Ms'}")
    if name == "google.protobuf.Duration":
        unit = "Ms" if _in_milliseconds(source) else "Seconds"
        return _Single("number", f"durationFrom{unit}")
    if name == "google.protobuf.Struct":
        if context.binding.version == 1:
            return _Single("JsonObject | Struct", "structFrom")
        return _Single("JsonObject", "")
    return _Single(_own_type(context, plan, source.field), "")


def _enum(context: Context, plan: MessagePlan, field: Field) -> _Single:
    bound = context.enums.get(field.value.type_name)
    if bound is None:
        return _Single(_own_type(context, plan, field), "")
    if bound.binding(context.vocabulary) is None:
        return _Single(context.class_of(bound.enum), "")
    return _Single(accepted_type(context, bound), converter(context, bound))


def _own_type(context: Context, plan: MessagePlan, field: Field) -> str:
    """Returns the type that the message has for a field, of one element."""
    message = context.message_type(plan.message.full_name)
    field_type = f"NonNullable<{message}['{context.binding.field_property(field)}']>"
    if field.oneof is not None:
        oneof = next(item for item in plan.message.oneofs if item.name == field.oneof)
        arm = naming.quoted(context.binding.arm(field))
        return f"ValueOf<{context.union_type(oneof)}, {arm}>"
    return f"{field_type}[number]" if field.repeated else field_type
