"""Union members: the arms of a oneof beside the member types of the SDK's union.

Findings are: a member type that no arm carries, an arm whose type the SDK's union or field
lacks, and a variant that a function of the SDK ignores.
"""

from __future__ import annotations

from collections.abc import Iterator

from sessiongen.frontend.annotations import Annotated
from sessiongen.diagnostics import Rule
from sessiongen.ir.name_case import snake
from sessiongen.parity.matrix import Finding
from sessiongen.ir.schema import Field, Kind, Message, Schema
from sessiongen.ir.record_mapping import find_record, split
from sessiongen.vocabulary.model import UnionFact, Record, Vocabulary

# How SDKs write the types of plain arms.
_PLAIN = {"str": Kind.STRING, "string": Kind.STRING, "bool": Kind.BOOL, "boolean": Kind.BOOL}


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
        """Yield the findings of a field that is an arm or holds a oneof."""
        union = self._own()
        if field.oneof is not None:
            if union is not None and not any(self._is(kind, field) for kind in union.members):
                yield self._missing(field, f"{self._path}.{field.name}", union)
            yield from self._skipped(field)
            return
        held = self._schema.messages.get(field.value.type_name)
        union = self._on_field(field)
        if held is None or not held.oneofs or union is None:
            return
        for arm in held.oneofs[0].arms:
            if not any(self._is(kind, arm) for kind in union.members):
                yield self._missing(field, f"{self._path}.{field.name}.{arm.name}", union)

    def members_without_arm(self) -> Iterator[Finding]:
        """Yield a finding for each type of the SDK's union that no arm carries."""
        union = self._own()
        if union is None:
            return
        for kind in union.members:
            # a name that begins with an underscore is the SDK's own business
            if kind.startswith("_") or any(self._is(kind, arm) for arm in self._arms()):
                continue
            what = f"has no arm for the SDK's {kind} in {union.name} ({union.place})"
            yield self._finding(f"sdk type {union.name}.{kind}", what)

    def _arms(self) -> tuple[Field, ...]:
        return tuple(field for field in self._message.fields if field.oneof is not None)

    def _own(self) -> UnionFact | None:
        """Return the SDK's union that the message's oneof stands for, if it has one."""
        if not self._arms():
            return None
        note = self._annotated.get(self._message.full_name, "sdk_class")
        names = split(note) if note else [self._message.path[-1]]
        if self._record is not None:
            names += [f"{self._record.name}.{item.name}" for item in self._message.oneofs]
        return self._named(names)

    def _on_field(self, field: Field) -> UnionFact | None:
        return self._named([f"{self._record.name}.{field.name}"] if self._record else [])

    def _named(self, names: list[str]) -> UnionFact | None:
        wanted = {name.casefold() for name in names}
        found = (item for item in self._vocabulary.unions if item.name.casefold() in wanted)
        return next(found, None)

    def _is(self, kind: str, arm: Field) -> bool:
        """Whether an arm carries a type: by the arm's class, its tag, or as a plain value."""
        message = self._schema.messages.get(arm.value.type_name)
        if message is None:
            return _PLAIN.get(kind) is arm.value.kind
        record = find_record(message, self._annotated, self._vocabulary)
        tagged = self._vocabulary.record(kind)
        tag = snake(tagged.tag) if tagged and tagged.tag else None
        return tag == arm.name or (record is not None and record.name == kind)

    def _skipped(self, arm: Field) -> Iterator[Finding]:
        message = self._schema.messages.get(arm.value.type_name)
        record = find_record(message, self._annotated, self._vocabulary) if message else None
        for skip in self._vocabulary.ignored_variants:
            if record is not None and skip.tag == record.tag:
                name = f"{self._path}.{arm.name}"
                what = f"{arm.name} is ignored in {skip.within} ({skip.place})"
                yield self._finding(f"arm {name}: {skip.within}", what)

    def _missing(self, field: Field, name: str, union: UnionFact) -> Finding:
        what = f"{name.removeprefix(self._path + '.')} is no type of {union.name} ({union.place})"
        return self._finding(f"arm {name}", what, field)

    def _finding(self, difference_id: str, what: str, field: Field | None = None) -> Finding:
        sdk = self._vocabulary.sdk
        span = field.span if field else self._message.span
        return Finding(sdk, difference_id, f"{sdk}: {self._path}: {what}", Rule.PARITY_FIELD, span)
