"""Finds the objects that an expression can be, for the fields of a message."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tree_sitter import Node

from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.calls import called_function, returned
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.records import RecordReader
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, text
from sessiongen.vocabulary.typescript.written_tables import entries

_MAX_STEPS = 8
_NOTHING = {"null", "undefined", "false"}


@dataclass(frozen=True)
class ObjectValue:
    """An object in the code, or a value of a type with fields.

    node: the object; None for a value that is only known by its type. names: the fields of the type.
    call: the call of the function that returns it, if one does.
    """

    file: File
    node: Node | None = None
    names: tuple[str, ...] = ()
    call: Node | None = None


class ObjectReader:
    """Finds the objects in the code of a file."""

    def __init__(self, modules: Modules, file: File) -> None:
        self._modules = modules
        self._file = file

    def objects(self, node: Node, steps: int = _MAX_STEPS) -> list[ObjectValue] | None:
        """Returns the objects that an expression can be, None if they are not all known."""
        inner = syntax.unwrapped(node)
        if inner.type == "object":
            return [ObjectValue(self._file, inner)]
        if inner.type in _NOTHING:
            return []
        if not steps:
            return None
        if inner.type == "ternary_expression":
            branches = ("consequence", "alternative")
            return self._all([inner.child_by_field_name(name) for name in branches], steps)
        if inner.type == "binary_expression":
            is_and = text(inner.child_by_field_name("operator")) == "&&"
            sides = ["right"] if is_and else ["left", "right"]
            return self._all([inner.child_by_field_name(name) for name in sides], steps)
        if inner.type == "call_expression":
            return self._call(inner, steps - 1)
        if inner.type == "await_expression":
            return self.objects(inner.named_children[0], steps - 1)
        return self._name(inner, steps - 1) if inner.type == "identifier" else None

    def _all(self, nodes: list[Node | None], steps: int) -> list[ObjectValue] | None:
        parts = [self.objects(node, steps - 1) for node in nodes if node is not None]
        return None if None in parts else [item for part in parts for item in part or ()]

    def _call(self, call: Node, steps: int) -> list[ObjectValue] | None:
        """Returns the objects that a function of the package returns."""
        if text(call.child_by_field_name("function")) in {"Object.assign", "Object.freeze"}:
            return self._all(list(syntax.arguments(call)), steps)
        called = call.child_by_field_name("function")
        inner = syntax.unwrapped(called) if called is not None else call
        if inner.type == "subscript_expression":
            return self._table_call(inner.child_by_field_name("object"), call, steps)
        function, file = called_function(self._modules, self._file, call)
        values = list(returned(function)) if function is not None else []
        reader = ObjectReader(self._modules, file)
        parts = [reader.objects(value, steps) for value in values]
        if None in parts or not parts:
            return None
        return [replace(item, call=call) for part in parts for item in part or ()]

    def _table_call(self, table: Node | None, call: Node, steps: int) -> list[ObjectValue] | None:
        """Returns the objects that the functions of a table return."""
        known = entries(self._modules, self._file, table) if table is not None else None
        if known is None or any(value.type not in FUNCTIONS for _, value in known[1]):
            return None
        reader = ObjectReader(self._modules, known[0])
        parts = [reader.objects(it, steps) for _, value in known[1] for it in returned(value)]
        if None in parts:
            return None
        return [replace(item, call=call) for part in parts for item in part or ()]

    def _name(self, node: Node, steps: int) -> list[ObjectValue] | None:
        """Returns the object that a variable is declared with, if nothing changes it."""
        functions = syntax.enclosing(node, *FUNCTIONS)
        name, values = text(node), []
        for item in syntax.walk(functions[-1]) if functions else ():
            if item.type == "variable_declarator":
                target = item.child_by_field_name("name")
                if text(target) == name:
                    values.append(item.child_by_field_name("value"))
                elif target is not None and (taken := _taken_before_rest(target, name)) is not None:
                    value = item.child_by_field_name("value")
                    return self._rest(value, taken, steps) if value is not None else None
            elif item.type == "assignment_expression":
                left = item.child_by_field_name("left")
                if left is not None and name in {text(part) for part in syntax.walk(left)}:
                    return None
        if values:
            value = values[0] if len(values) == 1 else None
            return self.objects(value, steps) if value is not None else None
        return self._parameter(name, functions) or self._constant(name, steps)

    def _rest(self, value: Node, taken: set[str], steps: int) -> list[ObjectValue] | None:
        """Returns what is left of a value of a known type without some of its fields."""
        objects = self.objects(value, steps)
        if objects is None or any(item.node is not None for item in objects):
            return None
        names = (tuple(name for name in item.names if name not in taken) for item in objects)
        return [replace(item, names=left) for item, left in zip(objects, names, strict=True)]

    def _parameter(self, name: str, functions: list[Node]) -> list[ObjectValue] | None:
        """Returns the value of a parameter whose type has known fields."""
        for function in functions:
            for item in syntax.parameters(function):
                kind = syntax.annotation(item)
                if text(item.child_by_field_name("pattern")) == name and kind is not None:
                    fields = RecordReader(self._modules, Faults()).fields_of(self._file, kind)
                    return [ObjectValue(self._file, None, tuple(fields))] if fields else None
        return None

    def _constant(self, name: str, steps: int) -> list[ObjectValue] | None:
        """Returns the object that a constant of the package holds."""
        definition = self._modules.resolve(self._file, name)
        value = definition.node.child_by_field_name("value") if definition is not None else None
        if definition is None or value is None or definition.node.type != "variable_declarator":
            return None
        return ObjectReader(self._modules, definition.file).objects(value, steps)


def _taken_before_rest(pattern: Node, name: str) -> set[str] | None:
    """Returns the fields that `{ a, b, ...name }` takes, None for a pattern without that name."""
    if pattern.type != "object_pattern":
        return None
    rest = [item for item in pattern.named_children if item.type == "rest_pattern"]
    if not rest or name not in {text(item) for item in rest[0].named_children}:
        return None
    return {
        text(item.child_by_field_name("key") or item.child_by_field_name("left") or item)
        for item in pattern.named_children
        if item.type != "rest_pattern"
    }
