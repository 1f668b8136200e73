"""The model of models.py and decoders.py: a frozen dataclass for each message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sessiongen.targets.python.naming import Namespace, access
from sessiongen.ir.schema import Field, Kind, Value
from sessiongen.ir.encoding_plan import TAG, TaggedOneof, MessagePlan
from sessiongen.targets.python.layout import imported, quoted
from sessiongen.targets.python.docstrings import comment, entry
from sessiongen.targets.python.payload_names import PayloadNames
from sessiongen.targets.python.references import SCALAR_TYPES, ZERO_VALUES
from sessiongen.targets.python.context import Context

_OWN_TYPES = {
    "google.protobuf.Timestamp": ("float", "_seconds"),
    "google.protobuf.Duration": ("float", "_seconds"),
    "google.protobuf.Struct": ("Mapping[str, Any]", "_struct"),
}


@dataclass(frozen=True)
class PlainClass:
    """A dataclass: its name, docs, and fields as lines."""

    name: str
    docs: str
    fields: list[str]


@dataclass(frozen=True)
class PlainUnion:
    """A message that consists of a oneof: an alias of the classes of its arms."""

    name: str
    docs: list[str]
    alias: str


@dataclass(frozen=True)
class Decoder:
    """A function that reads a message, or one oneof of it."""

    signature: str
    docs: str
    statements: list[str]


@dataclass(frozen=True)
class PlainModel:
    """models.py and decoders.py, which have different imports."""

    classes: list[PlainClass]
    unions: list[PlainUnion]
    literals: str
    model_imports: list[str]
    model_aliases: list[tuple[str, str, str]]
    decoders: list[Decoder]
    imports: list[str]
    aliases: list[tuple[str, str, str]]
    enums: str
    newer: list[tuple[str, str, str]]
    reads_seconds: bool
    reads_structs: bool


def plain_model(context: Context) -> PlainModel:
    """Returns the model of models.py and decoders.py."""
    return _Plain(context).model()


@dataclass(frozen=True)
class _Member:
    name: str
    type: str
    read: str
    docs: str


class _Plain:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.names = PayloadNames(context)
        self.references = context.references()
        self.model_references = context.references()
        self.literals: set[str] = set()
        self.enums: set[str] = set()
        self.value_readers: set[str] = set()
        self.classes: list[PlainClass] = []
        self.unions: list[PlainUnion] = []
        self.decoders: list[Decoder] = []
        self.readers = Namespace("decoders.py")

    def model(self) -> PlainModel:
        for plan in self.context.plans.values():
            if plan.transparent is None:
                self._class(plan)
            else:
                self._union(plan, plan.transparent)
        self.context.faults += self.names.faults() + self.readers.faults
        return PlainModel(
            classes=self.classes,
            unions=self.unions,
            literals=imported(".enums", self.literals),
            model_imports=self.model_references.imports,
            model_aliases=self.model_references.aliases,
            decoders=self.decoders,
            imports=self.references.imports,
            aliases=self.references.aliases,
            enums=imported(".enums", self.enums),
            newer=self.references.newer,
            reads_seconds="_seconds" in self.value_readers,
            reads_structs="_struct" in self.value_readers,
        )

    def _title(self, plan: MessagePlan) -> str:
        return self.names.title(plan.message)

    def _decoder(self, plan: MessagePlan) -> str:
        return f"decode_{self.names.function(plan.message)}"

    def _class(self, plan: MessagePlan) -> None:
        title = self._title(plan)
        members = list(self._members(plan))
        fields = [f"{item.name}: {item.type}" for item in members]
        if plan.tag is not None:
            tag = quoted(plan.tag)
            fields.append(f"{TAG}: Literal[{tag}] = {tag}")
        self.classes.append(PlainClass(title, _docs(plan, members), fields))
        arguments = ", ".join(f"{item.name}={item.read}" for item in members)
        call = f"    return models.{title}({arguments})"
        result = f"models.{title}"
        docs = f"Returns the dataclass of a message {title}."
        self._add(self._decoder(plan), plan, result, docs, [call])

    def _add(
        self, name: str, plan: MessagePlan, result: str, docs: str, statements: Sequence[str]
    ) -> None:
        message = self.references.message(plan.message.full_name)
        signature = f"def {name}(message: {message}) -> {result}:"
        self.decoders.append(Decoder(signature, docs, list(statements)))

    def _union(self, plan: MessagePlan, tagged_oneof: TaggedOneof) -> None:
        title = self._title(plan)
        arms = [*self._titles(tagged_oneof), "None"]
        alias = f"{title}: TypeAlias = {' | '.join(arms)}"
        self.unions.append(PlainUnion(title, comment(plan.message.docs), alias))
        docs = f"Returns the dataclass of the arm of a {title}; None if no known arm is set."
        result = f"models.{title}"
        self._add(self._decoder(plan), plan, result, docs, list(self._choose(tagged_oneof)))

    def _members(self, plan: MessagePlan) -> Iterator[_Member]:
        names = self.names.members(plan)
        tagged_oneofs = {item.oneof.name: item for item in plan.tagged_oneofs}
        for field in plan.message.fields:
            if field.name in names:
                type_, read = self._type(field), self._read_if_present(plan, field)
                yield _Member(names[field.name], type_, read, field.docs)
            elif field.oneof in tagged_oneofs:
                tagged_oneof = tagged_oneofs.pop(str(field.oneof))
                type_ = " | ".join([*self._titles(tagged_oneof), "None"])
                read = self._arm_of(plan, tagged_oneof)
                yield _Member(names[tagged_oneof.oneof.name], type_, read, tagged_oneof.oneof.docs)

    def _titles(self, tagged_oneof: TaggedOneof, prefix: str = "") -> list[str]:
        plans = self.context.plans
        return [
            f"{prefix}{self._title(plans[item.arm.value.type_name])}" for item in tagged_oneof.arms
        ]

    def _arm_of(self, plan: MessagePlan, tagged_oneof: TaggedOneof) -> str:
        """Returns the call that reads a oneof; its function is added to the decoders."""
        name = f"_{self.names.function(plan.message)}__{tagged_oneof.oneof.name}"
        full_name = f"{tagged_oneof.oneof.message}.{tagged_oneof.oneof.name}"
        self.readers.claim(name, full_name, tagged_oneof.oneof.span)
        result = " | ".join([*self._titles(tagged_oneof, "models."), "None"])
        docs = "Returns the dataclass of the arm; None if no known arm is set."
        self._add(name, plan, result, docs, list(self._choose(tagged_oneof)))
        return f"{name}(message)"

    def _choose(self, tagged_oneof: TaggedOneof) -> Iterator[str]:
        yield f'    arm = message.WhichOneof("{tagged_oneof.oneof.name}")'
        for item in tagged_oneof.arms:
            decoder = self._decoder(self.context.plans[item.arm.value.type_name])
            yield f'    if arm == "{item.arm.name}":'
            yield f"        return {decoder}({access('message', item.arm.name)})"
        yield "    return None"

    def _type(self, field: Field) -> str:
        one, nullable = self._single_type(field.value)
        if field.key is not None:
            return f"Mapping[{SCALAR_TYPES[field.key]}, {one}]"
        if field.repeated:
            return f"tuple[{one}, ...]"
        optional = field.presence and not field.required and not nullable
        return f"{one} | None" if optional else one

    def _single_type(self, value: Value) -> tuple[str, bool]:
        """Returns the type of one value, and whether it includes None."""
        if value.type_name in self.context.plans:
            return self._title(self.context.plans[value.type_name]), False
        if value.type_name in _OWN_TYPES:
            return _OWN_TYPES[value.type_name][0], False
        if value.kind is Kind.MESSAGE:
            return self.model_references.message(value.type_name), False
        if value.kind is not Kind.ENUM:
            return SCALAR_TYPES[value.kind], False
        literals = self.names.literals(value)
        if literals is None:
            return "int", False
        if literals.imported:
            self.literals.add(literals.imported)
        if literals.fallback:
            return literals.type, literals.nullable
        self.literals.add("UnmappedValue")
        return f"{literals.type} | UnmappedValue", False

    def _read_if_present(self, plan: MessagePlan, field: Field) -> str:
        """Returns the expression of a field; its zero value if the installed messages lack it."""
        if not self.context.lacks(plan.message, field):
            return self._read(field)
        name = self.references.presence(plan.message, field)
        read, zero = self._read(field), self._zero(field)
        return (
            f"({read}) if {name} else None" if zero == "None" else f"{read} if {name} else {zero}"
        )

    def _zero(self, field: Field) -> str:
        if field.key is not None:
            return "{}"
        if field.repeated:
            return "()"
        if field.presence and not field.required:
            return "None"
        return self._call(field.value, ZERO_VALUES.get(field.value.kind, "0"))

    def _read(self, field: Field) -> str:
        attribute = access("message", field.name)
        convert = self._converter(field.value)
        if field.key is not None:
            if not convert:
                return f"dict({attribute})"
            item = self._call(field.value, "item")
            return f"{{key: {item} for key, item in {attribute}.items()}}"
        if field.repeated and field.value.kind is Kind.ENUM and convert:
            # With `map`, pyright infers str instead of the literals.
            return f"tuple({self._call(field.value, 'item')} for item in {attribute})"
        if field.repeated:
            return f"tuple(map({convert}, {attribute}))" if convert else f"tuple({attribute})"
        value = self._call(field.value, attribute)
        if field.presence and not field.required:
            return f'{value} if message.HasField("{field.name}") else None'
        return value

    def _call(self, value: Value, expression: str) -> str:
        """Returns the expression that converts one value."""
        convert = self._converter(value)
        literals = self.names.literals(value) if value.kind is Kind.ENUM else None
        if literals is not None and not literals.fallback:
            self.enums.add("decoded")
            return f"decoded({convert}, {expression})"
        return f"{convert}({expression})" if convert else expression

    def _converter(self, value: Value) -> str:
        if value.type_name in self.context.plans:
            return self._decoder(self.context.plans[value.type_name])
        if value.type_name in _OWN_TYPES:
            self.value_readers.add(_OWN_TYPES[value.type_name][1])
            return _OWN_TYPES[value.type_name][1]
        literals = self.names.literals(value) if value.kind is Kind.ENUM else None
        if literals is None:
            return ""
        self.enums.add(literals.from_proto)
        return literals.from_proto


def _docs(plan: MessagePlan, members: Sequence[_Member]) -> str:
    parts = [plan.message.docs.lstrip()] if plan.message.docs.strip() else []
    described = [entry(item.name, item.docs.lstrip()) for item in members if item.docs]
    if described:
        parts.append("\n".join(["Attributes:", *described]))
    return "\n\n".join(parts)
