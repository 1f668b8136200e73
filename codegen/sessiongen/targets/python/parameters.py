"""Parameters of generated functions: annotation, default, and conversion of the argument."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sessiongen.diagnostics import Diagnostic
from sessiongen.targets.python.context import Context
from sessiongen.targets.python.naming import Namespace, plain
from sessiongen.ir.schema import Field, Kind, Message, Oneof, Value
from sessiongen.targets.python.references import SCALAR_TYPES, References

# Messages whose Python form is one value rather than their fields.
SINGLE_VALUES = frozenset(
    f"google.protobuf.{name}" for name in ("Timestamp", "Duration", "Struct", "Any", "Value")
)


@dataclass(frozen=True)
class Parameter:
    """A keyword parameter and the field that it fills.

    argument: the expression for the constructor.
    unset: None is a valid argument, although the stub of the constructor rejects it.
    default: source text, or "" for a required parameter.
    """

    field: str
    name: str
    annotation: str
    default: str
    argument: str
    unset: bool
    docs: str

    @property
    def declaration(self) -> str:
        """The parameter in a signature."""
        return f"{self.name}: {self.annotation}" + (f" = {self.default}" if self.default else "")


def signature(parameters: Iterable[Parameter], others: Sequence[str] = ()) -> str:
    """Returns the parameters of a method, all of which are keywords.

    others: further parameters as they are written.
    """
    keywords = [*(item.declaration for item in parameters), *others]
    return ", ".join(["self", *(["*", *keywords] if keywords else [])])


class ParameterBuilder:
    """Returns the parameters of the functions in a file."""

    def __init__(self, context: Context, references: References, reserved: Iterable[str]) -> None:
        self.context = context
        self.schema = context.protocol.schema
        self.references = references
        self.reserved = frozenset(reserved)
        self.faults = list[Diagnostic]()

    def payload(
        self, function: str, arm: Field, lenient: bool, others: Sequence[Parameter] = ()
    ) -> list[Parameter]:
        """Returns the parameters for an arm's payload.

        lenient: whether the caller may omit fields that can be absent.
        others: the other parameters of the function.
        """
        namespace = Namespace(f"{function}()", self.reserved | {item.name for item in others})
        message = self.fields_of(arm)
        if message is None:
            annotation, converter = self.references.natural(arm.value)
            name = namespace.name("value", arm.span)
            # A message takes None for an arm, and would be sent without one. The converters of
            # messages reject None themselves.
            converted = converter and arm.value.kind is Kind.MESSAGE
            checked = name if converted else self._refusing_none(name, arm.name)
            argument = _call(converter, checked)
            return [Parameter("", name, annotation, "", argument, False, arm.docs)]
        result = [self._parameter(item, namespace, lenient) for item in message.fields]
        self.faults += namespace.faults
        return result

    def common(self, function: str, fields: Iterable[Field]) -> list[Parameter]:
        """Returns parameters for fields beside the arms; those of required fields have no default."""
        namespace = Namespace(f"{function}()", self.reserved)
        result = [self._common(item, namespace) for item in fields]
        self.faults += namespace.faults
        return result

    def fields_of(self, arm: Field) -> Message | None:
        """Returns the message whose fields are the parameters of an arm; None for one value."""
        if arm.value.kind is not Kind.MESSAGE or arm.value.type_name in SINGLE_VALUES:
            return None
        return self.schema.messages[arm.value.type_name]

    def construct_payload(self, arm: Field, parameters: Sequence[Parameter]) -> str:
        """Returns the expression that builds an arm's payload from its parameters."""
        message = self.fields_of(arm)
        if message is None:
            return parameters[0].argument
        type_ = self.references.message(message.full_name)
        if not any(self.context.lacks(message, field) for field in message.fields):
            return construct(type_, parameters)
        self.references.values.add("build_known")
        return f"build_known({type_}, {_dict(parameters)})"

    def guards(self, arm: Field, parameters: Sequence[Parameter]) -> list[str]:
        """Returns the statements that reject several arms of a oneof in an arm's payload."""
        message = self.fields_of(arm)
        return self.oneof_guards(message.oneofs if message else (), parameters)

    def oneof_guards(self, oneofs: Iterable[Oneof], parameters: Sequence[Parameter]) -> list[str]:
        """Returns the statements that reject several arms of each oneof."""
        names = {item.field: item.name for item in parameters}
        statements = []
        for oneof in oneofs:
            if len(oneof.arms) > 1:
                self.references.values.add("at_most_one")
                arguments = ", ".join(names[item.name] for item in oneof.arms)
                statements.append(f'at_most_one("{oneof.message}.{oneof.name}", {arguments})')
        return statements

    def _parameter(self, field: Field, namespace: Namespace, lenient: bool) -> Parameter:
        name = namespace.name(field.name, field.span)
        annotation, argument = self._forms(field, name)
        can_be_absent = field.presence and not field.required
        default = ""
        if can_be_absent or (lenient and (field.repeated or field.key is not None)):
            annotation += " | None"
            argument = _unless_none(name, argument)
            # At most one arm of a oneof is set, so arms are optional.
            default = "None" if lenient or field.oneof is not None else ""
        unset = annotation.endswith("| None") and self._refuses_none(field)
        return Parameter(field.name, name, annotation, default, argument, unset, field.docs)

    def _common(self, field: Field, namespace: Namespace) -> Parameter:
        name = namespace.name(field.name, field.span)
        annotation, argument = self._forms(field, name)
        if field.required:
            return Parameter(field.name, name, annotation, "", argument, False, field.docs)
        argument = _unless_none(name, argument)
        return Parameter(
            field.name,
            name,
            f"{annotation} | None",
            "None",
            argument,
            self._refuses_none(field),
            field.docs,
        )

    def _refuses_none(self, field: Field) -> bool:
        """Whether the stub of the message does not let its constructor take None for a field."""
        is_bool = field.value.kind is Kind.BOOL and not field.repeated and field.key is None
        return field.implicit_presence or (is_bool and not self.references.optional_bools)

    def _forms(self, field: Field, name: str) -> tuple[str, str]:
        annotation, converter = self.references.natural(field.value)
        if field.key is not None:
            key = self.references.natural(Value(field.key))[1]
            argument = f"{{{_call(key, 'key')}: {_call(converter, 'item')}"
            argument += f" for key, item in {name}.items()}}"
            annotation = f"Mapping[{SCALAR_TYPES[field.key]}, {annotation}]"
            return annotation, argument if converter or key else name
        if field.repeated:
            elements = self._elements(field, name)
            argument = f"[{converter}(item) for item in {elements}]" if converter else elements
            return f"Iterable[{annotation}]", argument
        return annotation, _call(converter, self._required(field, name))

    def _elements(self, field: Field, name: str) -> str:
        if field.value.kind is Kind.MESSAGE:
            return name
        self.references.values.add("elements")
        return f"elements({name})"

    def _required(self, field: Field, name: str) -> str:
        return self._refusing_none(name, field.name) if field.required else name

    def _refusing_none(self, name: str, field: str) -> str:
        self.references.values.add("required")
        return f'required({name}, "{field}")'


def _call(converter: str, name: str) -> str:
    return f"{converter}({name})" if converter else name


def _unless_none(name: str, argument: str) -> str:
    return argument if argument == name else f"None if {name} is None else {argument}"


def construct(type_: str, parameters: Sequence[Parameter]) -> str:
    """Returns the expression that constructs a message from parameters.

    `build`, which takes names as strings, is used for fields whose name is not valid in a call,
    or for which the stub rejects None.
    """
    arguments = [(item.field, item.argument) for item in parameters]
    if all(plain(item.field) and not item.unset for item in parameters):
        return f"{type_}({', '.join(f'{name}={argument}' for name, argument in arguments)})"
    return f"build({type_}, {_dict(parameters)})"


def _dict(parameters: Sequence[Parameter]) -> str:
    pairs = ", ".join(f'"{item.field}": {item.argument}' for item in parameters)
    return f"{{{pairs}}}"
