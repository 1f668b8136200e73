"""Reads what TypeScript code does with the lists that fill fields: their order and omissions.

An expression is followed through variables, array methods, and functions of the package to the
SDK's own list, which is a property, a parameter or a table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.behaviours import ListTrace, list_facts
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.calls import called_function, returned, values_of
from sessiongen.vocabulary.typescript.constructions import ConstructionBuilder
from sessiongen.vocabulary.typescript.kinds import excluded_kind, is_kind_test
from sessiongen.vocabulary.typescript.modules import Modules
from sessiongen.vocabulary.typescript.parsed_file import File
from sessiongen.vocabulary.typescript.syntax import FUNCTIONS, LOOPS, NAMES, text

_MAX_STEPS = 12
# What a method does to the order of its array.
_ORDERS = {
    "sort": "sorted",
    "toSorted": "sorted",
    "reverse": "reversed",
    "toReversed": "reversed",
}
_SAME_METHODS = {"map", "flat", "flatMap", "keys", "values", "entries", "concat"}
# Functions that return the items of their argument in its order.
_SAME = {
    "Object.keys",
    "Object.values",
    "Object.entries",
    "Array.from",
    "ThrowsPromise.all",
    "Promise.all",
}
_OPERATIONS = {
    "ternary_expression": ("consequence", "alternative"),
    "binary_expression": ("left", "right"),
}
# Expressions that add nothing to what is known of a list.
_VALUES = {
    "member_expression",
    "subscript_expression",
    "undefined",
    "null",
    "this",
    "new_expression",
}


def list_behaviours(
    modules: Modules,
    file: File,
    constructions: Iterable[ConstructionBuilder],
    repeated: Collection[str],
) -> Iterator[Behaviour]:
    """Yields the order of each list that fills a repeated field, and what is left out of it."""
    for construction in constructions:
        for name, value in construction.assigned:
            subject = f"{construction.message}.{name}"
            if subject in repeated:
                trace = ListTrace()
                owner = construction.file_of(value, file)
                _ListReader(modules, trace).follow(owner, value, _MAX_STEPS)
                yield from list_facts(trace, subject, construction.within, owner.place(value))


class _ListReader:
    """Follows expressions. trace: collects what is done to the list."""

    def __init__(self, modules: Modules, trace: ListTrace) -> None:
        self._modules = modules
        self._trace = trace
        self._followed: set[tuple[int, str]] = set()

    def follow(self, file: File, node: Node, steps: int) -> None:
        """Records what an expression does to the list that it returns."""
        node = syntax.unwrapped(node)
        if steps == 0:
            self._trace.readable = False
        elif node.type == "call_expression":
            self._call(file, node, steps - 1)
        elif node.type in NAMES:
            self._name(file, node, steps - 1)
        elif node.type == "array":
            self._trace.is_list = True
            for item in node.named_children:
                if item.type == "spread_element":
                    self.follow(file, item.named_children[0], steps - 1)
        elif node.type in _OPERATIONS:
            for field in _OPERATIONS[node.type]:
                part = node.child_by_field_name(field)
                if part is not None:
                    self.follow(file, part, steps - 1)
        elif node.type == "await_expression":
            self.follow(file, node.named_children[0], steps - 1)
        elif node.type not in _VALUES:
            self._trace.readable = False

    def _call(self, file: File, node: Node, steps: int) -> None:
        function = node.child_by_field_name("function")
        arguments = syntax.arguments(node)
        member = syntax.member(function)
        if text(function) in _SAME and arguments:
            self._trace.is_list = True
            self.follow(file, arguments[0], steps)
        elif member is not None and self._method(file, member[1], arguments):
            self._trace.is_list = True
            self.follow(file, member[0], steps)
        else:
            self._called(file, node, steps)

    def _method(self, file: File, name: str, arguments: list[Node]) -> bool:
        """Records what an array method does; returns whether its owner is the list."""
        if name in _ORDERS:
            self._trace.orders.add(_ORDERS[name])
        elif name == "filter":
            self._filter(arguments)
        elif name in {"slice", "splice"} and arguments:
            self._trace.conditions.add(f"in {name}({', '.join(map(text, arguments))})")
        elif name not in _SAME_METHODS and name != "slice":
            return False
        return True

    def _filter(self, arguments: list[Node]) -> None:
        condition = _condition_of(arguments[0]) if arguments else None
        if condition is None:
            self._trace.conditions.add(text(arguments[0]) if arguments else "")
        else:
            self._condition(condition)

    def _condition(self, condition: Node) -> None:
        """Records a condition under which an item is kept."""
        kind = excluded_kind(condition)
        if kind:
            self._trace.kinds.add(kind)
        elif not is_kind_test(condition):
            self._trace.conditions.add(syntax.type_text(condition))

    def _called(self, file: File, node: Node, steps: int) -> None:
        """Follows a function of the package or a method of the class to what it returns."""
        function, target = called_function(self._modules, file, node)
        if function is None or any(
            it.id == function.id for it in syntax.enclosing(node, *FUNCTIONS)
        ):
            self._trace.readable = False
            return
        for value in returned(function):
            self.follow(target, value, steps)
        for argument in syntax.arguments(node) if self._trace.is_list else ():
            if argument.type not in FUNCTIONS:
                self.follow(file, argument, steps)

    def _name(self, file: File, node: Node, steps: int) -> None:
        """Follows the values of a variable once; a parameter is the SDK's own list."""
        functions = syntax.enclosing(node, *FUNCTIONS)
        key = (functions[-1].id if functions else 0, text(node))
        if key in self._followed:
            return
        self._followed.add(key)
        for value in values_of(node):
            self.follow(file, value, steps)
        for item in syntax.walk(functions[-1]) if functions else ():
            member = syntax.member(item.child_by_field_name("function"))
            if item.type != "call_expression" or member is None or text(member[0]) != text(node):
                continue
            if member[1] in _ORDERS:
                self._trace.orders.add(_ORDERS[member[1]])
            elif member[1] in {"push", "unshift"}:
                self._added(file, item, member[1], steps)

    def _added(self, file: File, call: Node, method: str, steps: int) -> None:
        """Follows the list of a loop that adds items to a variable."""
        loops = syntax.enclosing(call, *LOOPS)
        if not loops:
            return
        self._trace.is_list = True
        if method == "unshift":
            self._trace.orders.add("reversed")
        for test in syntax.enclosing(call, "if_statement"):
            condition = test.child_by_field_name("condition")
            inside = loops[0].start_byte < test.start_byte
            if condition is not None and inside:
                self._condition(syntax.unwrapped(condition))
        listed = loops[0].child_by_field_name("right")
        if listed is not None:
            self.follow(file, listed, steps)


def _condition_of(function: Node) -> Node | None:
    """Returns the condition that a function for `filter` returns, None if it has statements."""
    body = function.child_by_field_name("body") if function.type in FUNCTIONS else None
    return body if body is not None and body.type != "statement_block" else None
