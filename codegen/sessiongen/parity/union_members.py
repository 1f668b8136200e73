"""Compares the arms of a oneof with the member types of the SDK's union.

Findings are: a member type that no arm carries, an arm whose type the SDK's union or field
lacks, and a variant that a function of the SDK ignores.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessiongen.frontend.annotations import Annotated
from sessiongen.diagnostics import Rule
from sessiongen.ir.name_case import snake
from sessiongen.parity.matrix import ANY, Finding
from sessiongen.ir.schema import Field, Kind, Message, Schema
from sessiongen.ir.record_mapping import find_record, split
from sessiongen.vocabulary.model import UnionFact, Record, Vocabulary

# The names of scalar types in SDKs.
_PLAIN_TYPES = {"str": Kind.STRING, "string": Kind.STRING, "bool": Kind.BOOL, "boolean": Kind.BOOL}


class UnionComparison:
    """A message's unions in one SDK."""

    def __init__(
        self,
        message: Message,
        schema: Schema,
        annotated: Annotated,
        vocabulary: Vocabulary,
        record: Record | None,
    ) -> None:
        self._message = message
        self._schema = schema
        self._annotated = annotated
        self._vocabulary = vocabulary
        self._record = record
        self._path = ".".join(message.path)

    def of(self, field: Field) -> Iterator[Finding]:
        """Yields the findings of a field that is an arm or contains a oneof."""
        union = self._message_union()
        if field.oneof is not None:
            if union is not None and not any(
                self._matches(member, field) for member in union.members
            ):
                yield self._missing_member(field, f"{self._path}.{field.name}", union)
            yield from self._ignored_variants(field)
            return
        message = self._schema.messages.get(field.value.type_name)
        union = self._field_union(field)
        if message is None or not message.oneofs or union is None:
            return
        for arm in message.oneofs[0].arms:
            if not any(self._matches(member, arm) for member in union.members):
                yield self._missing_member(field, f"{self._path}.{field.name}.{arm.name}", union)

    def compared(self, field: Field) -> list[str]:
        """Returns the ids of the differences that a field could have, and a union was read for.

        That a variant is ignored is read from comparisons only, so it is not among them.
        """
        ids = []
        if field.oneof is not None and (union := self._message_union()) is not None:
            ids += [f"sdk type {union.name}.{ANY}", f"arm {self._path}.{field.name}"]
        message = self._schema.messages.get(field.value.type_name)
        if message is not None and message.oneofs and self._field_union(field) is not None:
            ids += [f"arm {self._path}.{field.name}.{arm.name}" for arm in message.oneofs[0].arms]
        return ids

    def members_without_arm(self) -> Iterator[Finding]:
        """Yields a finding for each type of the SDK's union that no arm carries."""
        union = self._message_union()
        if union is None:
            return
        for member in union.members:
            # Names that begin with an underscore are private to the SDK.
            if member.startswith("_") or any(self._matches(member, arm) for arm in self._arms()):
                continue
            description = f"has no arm for the SDK's {member} in {union.name} ({union.place})"
            yield self._finding(f"sdk type {union.name}.{member}", description)

    def _arms(self) -> tuple[Field, ...]:
        return tuple(field for field in self._message.fields if field.oneof is not None)

    def _message_union(self) -> UnionFact | None:
        """Returns the SDK's union that corresponds to the message's oneof, if there is one."""
        if not self._arms():
            return None
        annotation = self._annotated.get(self._message.full_name, "sdk_class")
        names = split(annotation) if annotation else [self._message.path[-1]]
        if self._record is not None:
            names += [f"{self._record.name}.{item.name}" for item in self._message.oneofs]
        return self._union_named(names)

    def _field_union(self, field: Field) -> UnionFact | None:
        return self._union_named([f"{self._record.name}.{field.name}"] if self._record else [])

    def _union_named(self, names: list[str]) -> UnionFact | None:
        spellings = {name.casefold() for name in names}
        unions = (item for item in self._vocabulary.unions if item.name.casefold() in spellings)
        return next(unions, None)

    def _matches(self, member: str, arm: Field) -> bool:
        """Whether an arm carries a member type: by its class, its tag, or as a plain value."""
        message = self._schema.messages.get(arm.value.type_name)
        if message is None:
            return _PLAIN_TYPES.get(member) is arm.value.kind
        record = find_record(message, self._annotated, self._vocabulary)
        tagged = self._vocabulary.record(member)
        tag = snake(tagged.tag) if tagged and tagged.tag else None
        return tag == arm.name or (record is not None and record.name == member)

    def _ignored_variants(self, arm: Field) -> Iterator[Finding]:
        message = self._schema.messages.get(arm.value.type_name)
        record = find_record(message, self._annotated, self._vocabulary) if message else None
        for variant in self._vocabulary.ignored_variants:
            if record is not None and variant.tag == record.tag:
                name = f"{self._path}.{arm.name}"
                description = f"{arm.name} is ignored in {variant.within} ({variant.place})"
                yield self._finding(f"arm {name}: {variant.within}", description)

    def _missing_member(self, field: Field, name: str, union: UnionFact) -> Finding:
        description = (
            f"{name.removeprefix(self._path + '.')} is not a member of {union.name} ({union.place})"
        )
        return self._finding(f"arm {name}", description, field)

    def _finding(self, difference_id: str, description: str, field: Field | None = None) -> Finding:
        sdk = self._vocabulary.sdk
        span = field.span if field else self._message.span
        return Finding(
            sdk, difference_id, f"{sdk}: {self._path}: {description}", Rule.PARITY_FIELD, span
        )
