"""The layer `enums`: conversions between a message's values, the SDK's, and names in JSON."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.protocol import BoundEnum
from sessiongen.ir.schema import Enum, EnumValue
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.context import Context
from sessiongen.targets.typescript.layout import bracketed, union
from sessiongen.vocabulary.model import ENUM


@dataclass(frozen=True)
class Value:
    """A value: its member, its name as a key and as a string, the SDK's spelling likewise.

    written: whether it is the one that is written of those with its number.
    """

    member: str
    name_key: str
    name: str
    spelling_key: str
    spelling: str
    written: bool


@dataclass(frozen=True)
class EnumModel:
    """An enum. literal: the type of the SDK's values; "" if the SDK has no such enum.

    accepts: the type of a value of the SDK. fallback: the member for unknown values, or "".
    unknown: the name of that member.
    """

    full_name: str
    type: str
    function: str
    table: str
    literal: str
    declaration: str
    accepts: str
    fallback: str
    unknown: str
    values: tuple[Value, ...]
    ends: dict[str, str]
    signatures: dict[str, str]


def enums_model(context: Context) -> list[EnumModel]:
    """Returns the enums in order of declaration."""
    return [_enum(context, item) for item in context.protocol.enums]


def literal_type(context: Context, bound: BoundEnum) -> str:
    """Returns the name of the type of the SDK's values; "" if it has no such enum."""
    binding = bound.binding(context.vocabulary)
    return f"{context.symbol(bound.enum.full_name)}Literal" if binding and binding.pairs else ""


def accepted_type(context: Context, bound: BoundEnum) -> str:
    """Returns the type of what is converted to a message's value.

    A member of a TypeScript enum is no literal to the type checker, but it is a string.
    """
    binding = bound.binding(context.vocabulary)
    is_open = binding is not None and (binding.fact.form == ENUM or binding.fact.open)
    return "string" if is_open else literal_type(context, bound)


def converter(context: Context, bound: BoundEnum) -> str:
    """Returns the name of the function from the SDK's values to the message's."""
    return f"{naming.lower_first(context.symbol(bound.enum.full_name))}ToProto"


def _enum(context: Context, bound: BoundEnum) -> EnumModel:
    enum = bound.enum
    name, class_ = context.symbol(enum.full_name), context.class_of(enum)
    literal = literal_type(context, bound)
    unknown = naming.enum_member(enum, bound.fallback) if bound.fallback else ""
    fallback = f"{class_}.{unknown}" if unknown else ""
    values = _values(context, bound, class_)
    spellings = [item.spelling for item in values if item.spelling]
    return EnumModel(
        full_name=enum.full_name,
        type=class_,
        function=naming.lower_first(name),
        table=naming.constant(name),
        literal=literal,
        declaration=union(f"export type {literal} =", spellings) if literal else "",
        accepts=accepted_type(context, bound),
        fallback=fallback,
        unknown=unknown,
        values=values,
        ends=_ends(class_, literal, all(item.spelling for item in values if item.written)),
        signatures=_signatures(
            naming.lower_first(name), class_, literal, accepted_type(context, bound), fallback
        ),
    )


def _ends(class_: str, literal: str, total: bool) -> dict[str, str]:
    """Returns the ends of the tables, which check their keys."""
    head = "} as const satisfies Record<"
    spelling = literal if total else f"{literal} | undefined"
    return {
        "to_proto": bracketed(head, [literal, class_], ">;"),
        "from_proto": bracketed(head, [class_, spelling], ">;"),
        "names": bracketed(head, [class_, "string"], ">;"),
        "numbers": bracketed(head, ["string", class_], ">;"),
    }


def _signatures(
    function: str, class_: str, literal: str, accepts: str, fallback: str
) -> dict[str, str]:
    """Returns the heads of the functions."""
    parameter = f"value: {accepts} | null | undefined" if fallback else f"value: {accepts}"
    result = f"{literal} | undefined" if fallback else literal
    heads = {
        "to_proto": (f"{function}ToProto", parameter, class_),
        "from_proto": (f"{function}FromProto", f"value: {class_}", result),
        "name": (f"{function}Name", f"value: {class_}", "string"),
        "from_name": (f"{function}FromName", "name: string", class_),
    }
    return {
        key: bracketed(f"export function {name}(", [parameter], f"): {returns} {{")
        for key, (name, parameter, returns) in heads.items()
    }


def _values(context: Context, bound: BoundEnum, class_: str) -> tuple[Value, ...]:
    binding = bound.binding(context.vocabulary)
    spellings = {value.number: text for text, value in (binding.pairs if binding else ())}
    written: dict[int, EnumValue] = {}
    values = []
    for value in bound.enum.values:
        first = written.setdefault(value.number, value)
        spelling = spellings.get(value.number, "") if first is value else ""
        values.append(_value(bound.enum, value, class_, spelling, first is value))
    return tuple(values)


def _value(enum: Enum, value: EnumValue, class_: str, spelling: str, written: bool) -> Value:
    return Value(
        member=f"{class_}.{naming.enum_member(enum, value)}",
        name_key=naming.key(value.name),
        name=naming.quoted(value.name),
        spelling_key=naming.key(spelling) if spelling else "",
        spelling=naming.quoted(spelling) if spelling else "",
        written=written,
    )
