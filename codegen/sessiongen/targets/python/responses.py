"""The model of responses.py: a typed dict for each response that the SDK has no class for.

All keys are required, so that a type checker reports a missing field.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.targets.python.layout import imported
from sessiongen.ir.schema import Field, Kind, Value
from sessiongen.ir.encoding_plan import MessagePlan
from sessiongen.targets.python.payload_names import PayloadNames
from sessiongen.targets.python.references import SCALAR_TYPES
from sessiongen.targets.python.context import Context

_OWN_TYPES = {
    "google.protobuf.Timestamp": "TimestampLike",
    "google.protobuf.Duration": "DurationLike",
    "google.protobuf.Struct": "StructLike",
}


@dataclass(frozen=True)
class ResponseDict:
    """A typed dict: its name, its encoder, and its keys as lines."""

    name: str
    encoder: str
    keys: list[str]


@dataclass(frozen=True)
class ResponsesModel:
    """responses.py."""

    literals: str
    values: str
    dicts: list[ResponseDict]


def responses_model(context: Context) -> ResponsesModel:
    """Returns the model of responses.py."""
    return _ResponsesBuilder(context).model()


def response_plans(context: Context) -> list[MessagePlan]:
    """Returns the plans of responses for which the SDK has no class.

    Messages that are also in an event or in another message are not included.
    """
    roles, plans = context.protocol.roles, context.plans
    inside = (field for plan in plans.values() for field in plan.message.fields)
    elsewhere = {field.value.type_name for field in (*inside, *roles.event.arms)}
    answers = {arm.value.type_name for arm in roles.response.arms} - elsewhere
    return [plan for name, plan in plans.items() if name in answers and not plan.has_sdk_class]


class _ResponsesBuilder:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.names = PayloadNames(context)
        self.literals: set[str] = set()
        self.values: set[str] = set()

    def model(self) -> ResponsesModel:
        dicts = [
            ResponseDict(
                self.names.title(plan.message),
                f"encode_{self.names.function(plan.message)}",
                list(self._keys(plan)),
            )
            for plan in response_plans(self.context)
        ]
        return ResponsesModel(
            imported(".enums", self.literals), imported(".values", self.values), dicts
        )

    def _keys(self, plan: MessagePlan) -> Iterator[str]:
        members = self.names.members(plan)
        for source in plan.fields:
            yield f"{members[source.field.name]}: {self._type(source.field)}"
        for tagged_oneof in plan.tagged_oneofs:
            yield f"{members[tagged_oneof.oneof.name]}: Any"

    def _type(self, field: Field) -> str:
        if field.key is not None:
            return f"Mapping[{SCALAR_TYPES[field.key]}, Any] | None"
        one, nullable = self._single(field.value)
        if field.repeated:
            items = one if one == "Any" or nullable else f"{one} | None"
            return f"Iterable[{items}] | None"
        needed = field.required or (field.value.kind is Kind.ENUM and not field.presence)
        return one if one == "Any" or nullable or needed else f"{one} | None"

    def _single(self, value: Value) -> tuple[str, bool]:
        """Returns the type of one value, and whether it includes None."""
        if value.type_name in _OWN_TYPES:
            self.values.add(_OWN_TYPES[value.type_name])
            return _OWN_TYPES[value.type_name], False
        if value.kind is Kind.MESSAGE:
            return "Any", False
        literals = self.names.literals(value) if value.kind is Kind.ENUM else None
        if literals is None:
            return SCALAR_TYPES[value.kind], False
        if literals.imported:
            self.literals.add(literals.imported)
        return literals.type, literals.nullable
