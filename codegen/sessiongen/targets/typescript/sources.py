"""The layer `sources`: the types of the objects that encoders read.

They have the SDK's names of fields, and the SDK's objects fit them structurally. Nothing of the
SDK is imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.ir.encoding_plan import MessagePlan, TaggedOneof
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.context import Context
from sessiongen.targets.typescript.conversions import Conversion, conversion
from sessiongen.targets.typescript.layout import union

_PARTIAL = re.compile(r"\bPartial<(\w+)>")


@dataclass(frozen=True)
class Member:
    """A member of an interface."""

    docs: str
    text: str


@dataclass(frozen=True)
class SourceType:
    """The type of a message's source: an interface, or a union of those of its arms."""

    name: str
    docs: str
    members: tuple[Member, ...]
    union: str


def sources_model(context: Context) -> list[SourceType]:
    """Returns the types in order of declaration."""
    partial = partial_classes(context)
    return [_type(context, plan, partial) for plan in context.plans.values()]


def source_type(context: Context, full_name: str) -> str:
    """Returns the name of the type of a message's source."""
    return f"{context.symbol(full_name)}Source"


def partial_classes(context: Context) -> set[str]:
    """Returns the SDK's classes whose objects may lack any field, as `Partial<…>` says."""
    vocabulary = context.vocabulary
    if vocabulary is None:
        return set()
    types = [fact.type for record in vocabulary.records for fact in record.fields]
    named = {name for type_ in types for name in _PARTIAL.findall(type_)}
    unions = {item.name: item.members for item in vocabulary.unions}
    return named | {member for name in named for member in unions.get(name, ())}


def _type(context: Context, plan: MessagePlan, partial: set[str]) -> SourceType:
    name = source_type(context, plan.message.full_name)
    docs = plan.message.docs
    transparent = plan.transparent
    if transparent is not None:
        return SourceType(
            name, docs, (), union(f"export type {name} =", _arms(context, transparent))
        )
    record = context.record(plan.message)
    all_optional = record is not None and record.name in partial
    return SourceType(name, docs, tuple(_members(context, plan, all_optional)), "")


def _members(context: Context, plan: MessagePlan, all_optional: bool) -> Iterator[Member]:
    if plan.tag is not None:
        mark = "?" if all_optional else ""
        yield Member("", f"readonly type{mark}: {naming.quoted(plan.tag)};")
    seen = {"type"} if plan.tag is not None else set[str]()
    for source in plan.fields:
        converted = conversion(context, plan, source, all_optional)
        if converted.source not in seen:
            seen.add(converted.source)
            yield Member(source.field.docs, _member(converted))
    for tagged in plan.tagged_oneofs:
        if tagged.name is not None:
            arms = [*_arms(context, tagged), "null", "undefined"]
            head = f"readonly {naming.key(naming.camel(tagged.name))}?:"
            yield Member(tagged.oneof.docs, union(head, arms, indent=2).strip())


def _member(converted: Conversion) -> str:
    mark = "?" if converted.optional else ""
    head = f"readonly {naming.key(converted.source)}{mark}:"
    absent = converted.nullable and converted.type != "unknown"
    parts = [converted.type, *(["null", "undefined"] if absent else [])]
    return union(head, parts, indent=2).strip()


def _arms(context: Context, tagged: TaggedOneof) -> list[str]:
    return [source_type(context, item.arm.value.type_name) for item in tagged.arms]
