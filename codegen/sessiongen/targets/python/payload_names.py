"""Names of messages and enums in encoders, models and decoders."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sessiongen.diagnostics import Diagnostic, Span
from sessiongen.ir.name_case import flat_names, snake
from sessiongen.targets.python.naming import Namespace, identifier
from sessiongen.ir.enum_mapping import EnumBinding
from sessiongen.ir.protocol import BoundEnum
from sessiongen.ir.schema import Message, Value
from sessiongen.ir.encoding_plan import TAG, MessagePlan
from sessiongen.targets.python.context import Context

# Names that models.py uses itself, as names of classes and of fields.
_RESERVED = frozenset(
    "Any Iterable Literal Mapping TYPE_CHECKING TypeAlias TypedDict Union annotations dataclass "
    "TimestampLike DurationLike StructLike str bytes bool int float tuple object".split()
)


@dataclass(frozen=True)
class EnumLiterals:
    """The Python form of an enum: the type of its literals, and the converters.

    imported: the name of the type in enums.py, or "" if the literals are plain strings.
    nullable: whether None is a literal, for unknown values.
    fallback: whether the enum has a value for unknown values, so that the converters never raise.
    """

    type: str
    imported: str
    nullable: bool
    to_proto: str
    from_proto: str
    fallback: bool


class PayloadNames:
    """Names of the messages that events and responses carry.

    The name of a message inside the message of a role does not include the outer name.
    """

    def __init__(self, context: Context) -> None:
        roles = context.protocol.roles
        holders = {(item.file, item.path) for item in (roles.event, roles.request, roles.response)}
        paths = {}
        for name, plan in context.plans.items():
            path = plan.message.path
            is_nested = len(path) > 1 and (plan.message.file, path[:1]) in holders
            paths[name] = path[1:] if is_nested else path
        self._plans = context.plans
        self._flat = flat_names(paths)
        flat = flat_names({item.enum.full_name: item.enum.path for item in context.protocol.enums})
        self._literals = {
            item.enum.full_name: _literals(
                item, item.binding(context.vocabulary), flat[item.enum.full_name]
            )
            for item in context.protocol.enums
        }
        literals = {item.imported for item in self._literals.values()}
        self._aliases = context.modules.aliases
        self._reserved = _RESERVED | literals | self._aliases | {TAG}
        self._event = self.role(roles.event)
        self._members: dict[str, dict[str, str]] = {}

    def function(self, message: Message) -> str:
        """Returns the part of function names that stands for a message."""
        name = snake(self._flat[message.full_name])
        return f"{name}_" if name == self._event else name

    def role(self, message: Message) -> str:
        """Returns the part of function names that stands for the message of a role."""
        return snake(message.path[-1])

    def title(self, message: Message) -> str:
        """Returns the name of a message's class in models.py."""
        return identifier(self._flat[message.full_name], self._reserved)

    def members(self, plan: MessagePlan) -> dict[str, str]:
        """Returns the names of a class's fields, by the name of the field or oneof.

        A field cannot have the name of a type in the annotations of the class.
        """
        known = self._members.get(plan.message.full_name)
        if known is None:
            reserved = _RESERVED | self._aliases | set(self._types(plan))
            known = {name: identifier(name, reserved) for name, _ in _owners(plan)}
            self._members[plan.message.full_name] = known
        return known

    def _types(self, plan: MessagePlan) -> Iterator[str]:
        for field in plan.message.fields:
            literals = self.literals(field.value)
            if literals is not None:
                yield literals.imported
            if field.value.type_name in self._plans:
                yield self.title(self._plans[field.value.type_name].message)

    def faults(self) -> list[Diagnostic]:
        """Returns a fault for each name that equals another."""
        functions, titles = Namespace("encoders.py"), Namespace("models.py", self._reserved)
        namespaces = [functions, titles]
        for plan in self._plans.values():
            message = plan.message
            functions.claim(f"encode_{self.function(message)}", message.full_name, message.span)
            titles.claim(self.title(message), message.full_name, message.span)
            namespaces.append(Namespace(f"models.{self.title(message)}"))
            members = self.members(plan)
            for name, span in _owners(plan):
                namespaces[-1].claim(members[name], name, span)
        return [fault for namespace in namespaces for fault in namespace.faults]

    def literals(self, value: Value) -> EnumLiterals | None:
        """Returns the Python form of a value's enum; None if the enum is not in the protocol."""
        return self._literals.get(value.type_name)


def _owners(plan: MessagePlan) -> Iterator[tuple[str, Span]]:
    yield from ((item.field.name, item.field.span) for item in plan.fields)
    yield from ((item.oneof.name, item.oneof.span) for item in plan.tagged_oneofs)


def _literals(bound: BoundEnum, binding: EnumBinding | None, flat: str) -> EnumLiterals:
    function = snake(flat)
    fallback = bound.fallback is not None
    if binding is None or not binding.pairs:
        names = f"{function}_from_name", f"{function}_name"
        return EnumLiterals("str", "", False, *names, fallback)
    literal = f"{flat}Literal"
    type_ = f"{literal} | None" if fallback else literal
    names = f"{function}_to_proto", f"{function}_from_proto"
    return EnumLiterals(type_, literal, fallback, *names, fallback)
