"""The model of enums.py: proto enums to the SDK's values and back."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.enum_mapping import EnumBinding
from sessiongen.targets.python.layout import literal_alias, quoted
from sessiongen.ir.name_case import flat_names, snake
from sessiongen.targets.python.naming import Namespace, constant
from sessiongen.ir.protocol import BoundEnum
from sessiongen.ir.reachability import reachable_enums
from sessiongen.ir.schema import Enum
from sessiongen.targets.python.context import Context
from sessiongen.targets.python.references import References, newer


@dataclass(frozen=True)
class Pair:
    """An SDK value and the name of its proto value, as Python literals."""

    literal: str
    value: str


@dataclass(frozen=True)
class EnumModel:
    """An enum. Without pairs, the SDK has no such enum, and only names are generated.

    accepts: the type of an SDK value; str if the SDK has a str Enum.
    alias: the statement that defines the type of its literals.
    unknown: the literal with the name of the value for unknown literals, or "".
    """

    full_name: str
    title: str
    function: str
    class_: str
    table: str
    literal: str
    type: str
    accepts: str
    pairs: list[Pair]
    alias: str
    unknown: str


@dataclass(frozen=True)
class EnumsModel:
    """enums.py."""

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    enums: list[EnumModel]


def enums_model(context: Context) -> EnumsModel:
    """Returns the model of enums.py."""
    references = context.references()
    namespace = Namespace("enums.py", ("UnmappedValueError", "UnmappedValue", "decoded"))
    flat = flat_names({item.enum.full_name: item.enum.path for item in context.protocol.enums})
    enums = [
        _enum(
            context,
            references,
            namespace,
            item,
            item.binding(context.vocabulary),
            flat[item.enum.full_name],
        )
        for item in wanted_enums(context)
    ]
    context.faults += namespace.faults
    return EnumsModel(references.imports, references.aliases, enums)


def wanted_enums(context: Context) -> list[BoundEnum]:
    """Returns the enums that messages of the protocol carry or that the SDK has as well."""
    carried = reachable_enums(context.protocol)
    return [
        item
        for item in context.protocol.enums
        if item.enum.full_name in carried or item.binding(context.vocabulary) is not None
    ]


def _enum(
    context: Context,
    references: References,
    namespace: Namespace,
    bound: BoundEnum,
    binding: EnumBinding | None,
    flat: str,
) -> EnumModel:
    enum = bound.enum
    literal = f"{flat}Literal"
    pairs = _pairs(binding)
    for name in (literal, f"{snake(flat)}_"):
        namespace.claim(name, enum.full_name, enum.span)
    return EnumModel(
        full_name=enum.full_name,
        title=enum.path[-1],
        function=snake(flat),
        class_=_class(context, references, enum),
        table=f"_{constant(flat)}",
        literal=literal,
        type=references.enum(enum.full_name),
        accepts=_accepts(binding, literal, bound.fallback is not None),
        pairs=pairs,
        alias=literal_alias(literal, [pair.literal for pair in pairs]),
        unknown=quoted(bound.fallback.name) if bound.fallback else "",
    )


def _class(context: Context, references: References, enum: Enum) -> str:
    """Returns the expression of an enum; None in messages that are too old to have it."""
    if enum.full_name not in context.newer:
        return references.enum_class(enum.full_name)
    return newer(references, enum)


def _accepts(binding: EnumBinding | None, literal: str, fallback: bool) -> str:
    """Returns the type of accepted literals: str for a str Enum, whose members are no Literal."""
    type_ = "str" if fallback or (binding and binding.fact.form == "enum") else literal
    return f"{type_} | None" if fallback else f"{type_} | UnmappedValue"


def _pairs(binding: EnumBinding | None) -> list[Pair]:
    if binding is None:
        return []
    return [Pair(quoted(literal), quoted(value.name)) for literal, value in binding.pairs]
