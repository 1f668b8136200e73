"""Reads constants of a TypeScript SDK whose values the protocol fixes, such as a topic or a timeout."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.model import ConstantFact
from sessiongen.vocabulary.scope import FixedValue, value_text
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.modules import Definition, Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import CLASSES, text

_MAX_STEPS = 20
# A shift of more bits is not a whole number in JavaScript.
_MAX_SHIFT = 30
_OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul}


def fixed_values(modules: Modules, wanted: Iterable[FixedValue]) -> Iterator[ConstantFact]:
    """Yields each value; one that cannot be read is empty."""
    for item in wanted:
        found = _expression(modules, item.definition)
        value = evaluated(modules, *found) if found else None
        text_ = value_text(value) if value is not None else ""
        place = found[0].place(found[1]) if found else None
        yield ConstantFact(item.name, item.definition, item.value, text_, place)


def _expression(modules: Modules, path: str) -> tuple[File, Node] | None:
    """Returns the value of a constant, or the default of `Class.method.parameter`."""
    name, *rest = path.split(".")
    definitions = modules.locate(name)
    # Two definitions may have different values, and the one that is used is not known.
    if len(definitions) != 1:
        return None
    definition = definitions[0]
    value = _default(definition, *rest) if len(rest) == 2 else None
    if not rest:
        value = _assigned(definition)
    return (definition.file, value) if value is not None else None


def _assigned(definition: Definition) -> Node | None:
    values = [node.child_by_field_name("value") for node in definition.nodes]
    return values[0] if len(values) == 1 else None


def _default(definition: Definition, method: str, parameter: str) -> Node | None:
    node = definition.of(*CLASSES)
    body = node.child_by_field_name("body") if node is not None else None
    for item in body.named_children if body is not None else ():
        named = text(item.child_by_field_name("name")) == method
        if item.type == "method_definition" and named:
            for each in syntax.parameters(item):
                if text(each.child_by_field_name("pattern")) == parameter:
                    return each.child_by_field_name("value")
    return None


def evaluated(
    modules: Modules, file: File, node: Node, steps: int = _MAX_STEPS
) -> str | int | float | None:
    """Returns the value of a constant expression, None for any other expression."""
    node = syntax.unwrapped(node)
    constant = syntax.constant(node)
    if constant is not None or not steps:
        return constant
    if node.type == "number":
        return _number(text(node))
    if node.type == "identifier":
        definition = modules.resolve(file, text(node))
        value = _assigned(definition) if definition is not None else None
        if definition is None or value is None:
            return None
        return evaluated(modules, definition.file, value, steps - 1)
    return _computed(modules, file, node, steps) if node.type == "binary_expression" else None


def _computed(modules: Modules, file: File, node: Node, steps: int) -> int | float | None:
    left, right = (node.child_by_field_name(name) for name in ("left", "right"))
    if left is None or right is None:
        return None
    first = evaluated(modules, file, left, steps - 1)
    second = evaluated(modules, file, right, steps - 1)
    if isinstance(first, str) or isinstance(second, str) or first is None or second is None:
        return None
    sign = text(node.child_by_field_name("operator"))
    if sign == "<<" and isinstance(first, int) and isinstance(second, int):
        result = first << second if 0 <= second <= _MAX_SHIFT else None
        return result if result is not None and abs(result) < 1 << 31 else None
    function = _OPERATORS.get(sign)
    computed: int | float | None = function(first, second) if function else None
    return computed


def _number(source: str) -> int | float | None:
    digits = source.replace("_", "")
    try:
        return int(digits, 0)
    except ValueError:
        pass
    try:
        return float(digits)
    except ValueError:
        return None
