"""The model of enums.py: proto enums to the SDK's values and back."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.enum_mapping import EnumBinding
from sessiongen.targets.python.layout import quoted
from sessiongen.ir.name_case import snake
from sessiongen.targets.python.naming import ENUM_ATTRIBUTES, Namespace, constant, flat_names, plain
from sessiongen.ir.protocol import BoundEnum
from sessiongen.targets.python.context import Context
from sessiongen.targets.python.references import References


@dataclass(frozen=True)
class Pair:
    """An SDK value as a Python literal and the proto value beside it."""

    literal: str
    value: str


@dataclass(frozen=True)
class Name:
    """A name of a proto value. written: whether it is the first name of its number."""

    name: str
    value: str
    written: bool


@dataclass(frozen=True)
class EnumModel:
    """An enum. Without pairs, the SDK has no such enum, and only names are generated.

    accepts: the type of an SDK value; str if the SDK has a str Enum.
    accepts_name: the type of a name in JSON.
    key: the type of the keys of the tables, which are looked up with what the functions accept.
    fallback: the expression of the value for unknown literals, or "".
    """

    full_name: str
    function: str
    table: str
    literal: str
    type: str
    accepts: str
    accepts_name: str
    key: str
    pairs: list[Pair]
    names: list[Name]
    fallback: str
    docs_to_proto: str
    docs_from_proto: str
    docs_name: str
    docs_from_name: str


@dataclass(frozen=True)
class EnumsModel:
    """enums.py."""

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    enums: list[EnumModel]


def enums_model(context: Context) -> EnumsModel:
    """Return the model of enums.py."""
    references = context.references()
    namespace = Namespace("enums.py", ("UnmappedValueError", "UnmappedValue", "decoded"))
    flat = flat_names({item.enum.full_name: item.enum.path for item in context.protocol.enums})
    enums = [
        _enum(
            references, namespace, item, item.binding(context.vocabulary), flat[item.enum.full_name]
        )
        for item in context.protocol.enums
    ]
    context.faults += namespace.faults
    return EnumsModel(references.imports, references.aliases, enums)


def _enum(
    references: References,
    namespace: Namespace,
    bound: BoundEnum,
    binding: EnumBinding | None,
    flat: str,
) -> EnumModel:
    enum = bound.enum
    class_ = references.enum_class(enum.full_name)
    literal = f"{flat}Literal"
    published = {value.number: value.name for value in reversed(enum.values)}
    names = [
        Name(value.name, _value(class_, value.name), published[value.number] == value.name)
        for value in enum.values
    ]
    for name in (literal, f"{snake(flat)}_"):
        namespace.claim(name, enum.full_name, enum.span)
    return EnumModel(
        full_name=enum.full_name,
        function=snake(flat),
        table=f"_{constant(flat)}",
        literal=literal,
        type=references.enum(enum.full_name),
        accepts=_accepts(binding, literal, bound.fallback is not None),
        accepts_name="str" if bound.fallback else "str | UnmappedValue",
        key="str" if bound.fallback else "object",
        pairs=_pairs(binding, class_),
        names=names,
        fallback=_value(class_, bound.fallback.name) if bound.fallback else "",
        **_docs(bound),
    )


def _value(class_: str, name: str) -> str:
    """Return the expression for an enum's value."""
    if plain(name) and name not in ENUM_ATTRIBUTES:
        return f"{class_}.{name}"
    return f'{class_}.Value("{name}")'


def _docs(bound: BoundEnum) -> dict[str, str]:
    name = bound.enum.path[-1]
    raises = "\n\nRaises:\n    UnmappedValueError: The {} has no such value."
    known = bound.fallback
    sdk = (
        raises.format("protocol")
        if known is None
        else f"\n\nAn unknown value, or None, is {known.name}."
    )
    none = raises.format("SDK") if known is None else "\n\nNone if the SDK has no such value."
    number = (
        raises.format("protocol") if known is None else f"\n\nAn unknown number is {known.name}."
    )
    text = raises.format("protocol") if known is None else f"\n\nAn unknown name is {known.name}."
    return {
        "docs_to_proto": f"Returns the value of {name} for the SDK's value.{sdk}",
        "docs_from_proto": f"Returns the SDK's value for a value of {name}.{none}",
        "docs_name": f"Returns the name of a value of {name} in JSON.{number}",
        "docs_from_name": f"Returns the value of {name} with a name in JSON; aliases are accepted."
        f"{text}",
    }


def _accepts(binding: EnumBinding | None, literal: str, fallback: bool) -> str:
    """Return the type of accepted literals: str for a str Enum, whose members are no Literal."""
    type_ = "str" if fallback or (binding and binding.fact.form == "enum") else literal
    return f"{type_} | None" if fallback else f"{type_} | UnmappedValue"


def _pairs(binding: EnumBinding | None, class_: str) -> list[Pair]:
    if binding is None:
        return []
    return [Pair(quoted(literal), _value(class_, value.name)) for literal, value in binding.pairs]
