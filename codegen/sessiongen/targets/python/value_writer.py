"""Writes the statements that convert single values and write them to fields."""

from __future__ import annotations

from collections.abc import Iterator

from sessiongen.ir.encoding_plan import FieldPlan
from sessiongen.ir.schema import Field, Kind, Value
from sessiongen.targets.python.context import Context
from sessiongen.targets.python.payload_names import PayloadNames
from sessiongen.targets.python.naming import plain

# The functions that fill a well-known type in place, and those that create one.
SETTERS = {
    "google.protobuf.Timestamp": "set_timestamp",
    "google.protobuf.Duration": "set_duration",
    "google.protobuf.Struct": "set_struct",
}
_MAKERS = {name: setter.replace("set_", "to_") for name, setter in SETTERS.items()}


class ValueWriter:
    """Writes values. enums, fields, values: the functions that the statements use, by module."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.names = PayloadNames(context)
        self.enums: set[str] = set()
        self.fields: set[str] = set()
        self.values: set[str] = set()

    def _filler(self, value: Value) -> str:
        return f"fill_{self.names.function(self.context.plans[value.type_name].message)}"

    def _field_value(self, source: FieldPlan) -> str:
        if source.stringify:
            self.fields.add("text_of")
            return "text_of(value)"
        return self._converted(source.field.value, "value")

    def _assign(self, to: str, field: Field, value: str) -> str:
        if plain(field.name):
            return f"{to}.{field.name} = {value}"
        return f'setattr({to}, "{field.name}", {value})'

    def _repeated(self, value: Value, read: str, target: str) -> Iterator[str]:
        """Yields the statements that write all elements except None, unless None is a literal."""
        if value.type_name in self.context.plans:
            yield f"for item in {read} or ():"
            yield "    if item is not None:"
            yield f"        {self._filler(value)}(item, {target}.add())"
            return
        literals = self.names.literals(value)
        condition = "" if literals is not None and literals.nullable else " if item is not None"
        item = self._converted(value, "item")
        if value.type_name in _MAKERS:
            maker = _MAKERS[value.type_name]
            self.values.add(maker)
            item = f"{maker}(item)"
        values = f"{read} or ()"
        if value.kind is not Kind.MESSAGE:
            self.values.add("elements")
            values = f"elements({values})"
        yield f"{target}.extend({item} for item in {values}{condition})"

    def _set(self, value: Value, target: str, variable: str, strings: bool = False) -> str:
        """Returns the statement that writes one value."""
        if value.type_name in self.context.plans:
            return f"{self._filler(value)}({variable}, {target})"
        if value.kind is Kind.MESSAGE:
            setter = SETTERS.get(value.type_name, "set_message")
            self.fields.add(setter)
            return f"{setter}({target}, {variable})"
        if strings and value.kind is Kind.STRING:
            return f"{target} = str({variable})"
        return f"{target} = {self._converted(value, variable)}"

    def _converted(self, value: Value, variable: str) -> str:
        converter = self._converter(value)
        return f"{converter}({variable})" if converter else variable

    def _converter(self, value: Value) -> str:
        literals = self.names.literals(value) if value.kind is Kind.ENUM else None
        if literals is None:
            return ""
        self.enums.add(literals.to_proto)
        return literals.to_proto
