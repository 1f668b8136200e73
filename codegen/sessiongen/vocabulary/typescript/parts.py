"""Reads which parts of a text TypeScript code leaves out when it fills a field with it.

Functions of the package are followed with the constant arguments of their calls; an argument that
is left out is undefined.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tree_sitter import Node

from sessiongen.vocabulary.behaviour_scope import Parts
from sessiongen.vocabulary.behaviours import part_fact
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.calls import called_function, returned, values_of
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import CLASSES, NAMES, class_methods, text

_MAX_STEPS = 8
_UNDEFINED = "undefined"
_EQUAL, _NOT_EQUAL = {"==", "==="}, {"!=", "!=="}
# The constant arguments of a call by parameter; an argument that is not constant has no entry.
_Arguments = Mapping[str, str]


def part_behaviours(
    modules: Modules,
    file: File,
    constructions: Iterable[ConstructionBuilder],
    parts: Iterable[Parts],
) -> Iterator[Behaviour]:
    """Yields the parts of a text that a field leaves out, for each place that fills the field."""
    for item in parts:
        definitions = modules.locate(item.class_name)
        node = definitions[0].of(*CLASSES) if len(definitions) == 1 else None
        reader = _PartReader(modules, _TextClass(node, item.names)) if node is not None else None
        for construction in constructions:
            for name, value in (*construction.assigned, *construction.arms):
                subject = f"{construction.message}.{name}"
                if subject in item.fields:
                    owner = construction.file_of(value, file)
                    sent = reader.sent(owner, value, {}, _MAX_STEPS) if reader else None
                    if sent is None and _is_plain_text(value):
                        continue
                    place = owner.place(value)
                    yield part_fact(item.names, sent, subject, construction.within, place)


def _is_plain_text(value: Node) -> bool:
    """Whether a value is a variable that a condition around it shows to be a string."""
    node = syntax.unwrapped(value)
    return any(
        f"typeof {text(node)} === 'string'" in text(test.child_by_field_name("condition"))
        for test in syntax.enclosing(node, "if_statement")[:1]
        if node.type in NAMES
    )


class _TextClass:
    """A class of texts: the parts that each of its properties and methods contains."""

    def __init__(self, node: Node, names: tuple[str, ...]) -> None:
        self._names = names
        self._methods = class_methods(node)
        self._values: dict[str, Node] = {}
        constructor = self._methods.get("constructor")
        for item in syntax.walk(constructor) if constructor is not None else ():
            if item.type == "assignment_expression":
                name = syntax.this_property(item.child_by_field_name("left"))
                value = item.child_by_field_name("right")
                if name and value is not None:
                    self._values[name] = value

    def property(self, name: str, steps: int) -> set[str] | None:
        """Returns the parts in a property or a method's result, None if there are none."""
        if name in self._values:
            return self._first(self._values[name], steps) or None
        method = self._methods.get(name)
        if method is None or not steps:
            return None
        parts = [self._first(value, steps - 1) for value in returned(method)]
        return set().union(*parts) or None

    def _first(self, node: Node, steps: int) -> set[str]:
        """Returns the parts in an expression; of `a ?? b`, those of the first that has any."""
        node = syntax.unwrapped(node)
        operator = text(node.child_by_field_name("operator"))
        if node.type == "binary_expression" and operator in {"??", "||"}:
            for name in ("left", "right"):
                side = node.child_by_field_name(name)
                parts = self._first(side, steps) if side is not None else set()
                if parts:
                    return parts
            return set()
        member = syntax.member(node)
        if syntax.this_property(node):
            own = self.property(syntax.this_property(node), steps - 1) if steps else None
            return own or set()
        if member is not None and member[1] in self._names:
            return {member[1]}
        return set().union(*(self._first(item, steps) for item in node.named_children))


class _PartReader:
    """Finds where expressions turn a text into a string."""

    def __init__(self, modules: Modules, text_class: _TextClass) -> None:
        self._modules = modules
        self._text = text_class

    def sent(self, file: File, node: Node, arguments: _Arguments, steps: int) -> set[str] | None:
        """Returns the parts of the text in an expression, None if it cannot be read."""
        node = syntax.unwrapped(node)
        if steps == 0:
            return None
        if node.type == "ternary_expression":
            return self._ternary(file, node, arguments, steps - 1)
        if node.type in NAMES and text(node) not in arguments:
            return _joined(
                self.sent(file, value, arguments, steps - 1) for value in values_of(node)
            )
        member = syntax.member(node)
        if member is not None:
            # The property of a call's result is not that of the text itself.
            plain = syntax.unwrapped(member[0]).type != "call_expression"
            return self._text.property(member[1], steps) if plain else None
        if node.type == "call_expression":
            return self._call(file, node, arguments, steps - 1)
        parts = (self.sent(file, item, arguments, steps - 1) for item in node.named_children)
        return _joined(parts)

    def _ternary(
        self, file: File, node: Node, arguments: _Arguments, steps: int
    ) -> set[str] | None:
        decided = _decided(node.child_by_field_name("condition"), arguments)
        branches = [
            part
            for name, taken in (("consequence", True), ("alternative", False))
            if decided in (None, taken) and (part := node.child_by_field_name(name)) is not None
        ]
        return _joined(self.sent(file, part, arguments, steps) for part in branches)

    def _call(self, file: File, call: Node, arguments: _Arguments, steps: int) -> set[str] | None:
        function, target = called_function(self._modules, file, call)
        if function is None:
            member = syntax.member(call.child_by_field_name("function"))
            given = syntax.arguments(call)
            if text(call.child_by_field_name("function")) == "String" and given:
                return self._text.property("toString", steps)
            return self._text.property(member[1], steps) if member is not None else None
        inner = _bound(function, call, arguments)
        return _joined(self.sent(target, value, inner, steps) for value in returned(function))


def _joined(parts: Iterable[set[str] | None]) -> set[str] | None:
    known = [item for item in parts if item is not None]
    return set().union(*known) if known else None


def _bound(function: Node, call: Node, outer: _Arguments) -> _Arguments:
    """Returns the constant arguments of a call; one that is left out is undefined."""
    given = syntax.arguments(call)
    values: dict[str, str] = {}
    for index, item in enumerate(syntax.parameters(function)):
        name, default = text(item.child_by_field_name("pattern")), item.child_by_field_name("value")
        node = given[index] if index < len(given) else default
        if node is None:
            values[name] = _UNDEFINED
        elif node.type in NAMES and text(node) in outer:
            values[name] = outer[text(node)]
        elif syntax.constant(node) is not None or text(node) in {_UNDEFINED, "null"}:
            values[name] = _word(node)
    return values


def _word(node: Node) -> str:
    """Returns a constant as text, a string with quotes so that it is not a keyword."""
    constant = syntax.constant(node)
    return repr(constant) if constant is not None else text(node)


def _decided(test: Node | None, arguments: _Arguments) -> bool | None:
    """Returns the value of a condition that constant arguments decide, None for any other."""
    if test is None:
        return None
    test = syntax.unwrapped(test)
    if test.type == "identifier" and text(test) in arguments:
        return arguments[text(test)] not in {_UNDEFINED, "null", "''"}
    left, right = (test.child_by_field_name(name) for name in ("left", "right"))
    if test.type != "binary_expression" or left is None or right is None:
        return None
    if text(left) not in arguments:
        return None
    operator = text(test.child_by_field_name("operator"))
    equal = arguments[text(left)] == _word(right)
    if operator in _EQUAL:
        return equal
    return not equal if operator in _NOT_EQUAL else None
