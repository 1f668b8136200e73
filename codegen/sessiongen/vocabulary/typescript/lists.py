"""Reads what TypeScript code does with the lists that fill fields: their order and omissions.

An expression is followed through variables, array methods, and functions of the package to the
SDK's own list, which is a property, a parameter or a table.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from tree_sitter import Node

from sessiongen.vocabulary.behaviours import ListTrace, list_facts
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.typescript import syntax
from sessiongen.vocabulary.typescript.calls import (
    called_function,
    function_of,
    returned,
    values_of,
)
from sessiongen.vocabulary.typescript.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.typescript.control_flow import (
    Path,
    breaks,
    conditions,
    paths_without,
    statements_of,
    test_of,
)
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
# A test that an item is of a kind.
_KIND = re.compile(r"(?:\w+[?!]?\.)*type (?:={2,3}|is) '(\w+)'")
_SAME_METHODS = {"map", "flat", "keys", "values", "entries", "concat"}
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
        self._loops: set[int] = set()

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
            parts = [item for item in node.named_children if item.type != "comment"]
            for item in parts:
                if item.type == "spread_element":
                    self.follow(file, item.named_children[0], steps - 1)
            if parts and not any(item.type == "spread_element" for item in parts):
                # A list that the code writes out has no other items of the SDK.
                self._trace.conditions.add(f"one of {syntax.type_text(node)}")
        elif node.type in _OPERATIONS:
            self._emptied(node)
            for field in _OPERATIONS[node.type]:
                part = node.child_by_field_name(field)
                if part is not None:
                    self.follow(file, part, steps - 1)
        elif node.type == "await_expression":
            self.follow(file, node.named_children[0], steps - 1)
        elif node.type not in _VALUES:
            self._trace.readable = False

    def _emptied(self, node: Node) -> None:
        """Records the condition under which a list is replaced by an empty one."""
        test, *values = (
            node.child_by_field_name(name) for name in ("condition", "consequence", "alternative")
        )
        for value, other in zip(values, reversed(values), strict=True):
            if test is None or value is None or other is None or value.type != "array":
                continue
            about = {text(item) for item in syntax.walk(other) if item.is_named}
            concerns = any(text(item) in about for item in syntax.walk(test) if item.is_named)
            if not value.named_children and not concerns:
                condition = test_of(test).inverse if value == values[0] else test_of(test)
                self._trace.conditions.add(condition.text)

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
            self._filter(file, arguments)
        elif name == "flatMap":
            self._flat_map(arguments)
        elif name in {"slice", "splice"} and arguments:
            self._trace.conditions.add(f"in {name}({', '.join(map(text, arguments))})")
        elif name not in _SAME_METHODS and name != "slice":
            return False
        return True

    def _flat_map(self, arguments: list[Node]) -> None:
        """Records the items for which a function returns an empty list."""
        body = _condition_of(arguments[0]) if arguments else None
        inner = syntax.unwrapped(body) if body is not None else None
        if inner is not None and inner.type == "ternary_expression":
            test, *values = (
                inner.child_by_field_name(name)
                for name in ("condition", "consequence", "alternative")
            )
            tests = (test_of(test), test_of(test).inverse)
            for value, condition in zip(values, tests, strict=True):
                if value is not None and value.type == "array" and not value.named_children:
                    self._omit((condition,))
        elif arguments and (inner is None or inner.type != "array"):
            self._trace.readable &= arguments[0].type not in FUNCTIONS

    def _filter(self, file: File, arguments: list[Node]) -> None:
        condition = _condition_of(arguments[0]) if arguments else None
        if arguments and arguments[0].type == "identifier":
            definition = self._modules.resolve(file, text(arguments[0]))
            function = function_of(definition) if definition is not None else None
            values = list(returned(function)) if function is not None else []
            condition = values[0] if len(values) == 1 else None
        if condition is None:
            self._trace.conditions.add(text(arguments[0]) if arguments else "")
        else:
            self._condition(condition)

    def _condition(self, condition: Node) -> None:
        """Records a condition under which an item is kept."""
        condition = syntax.unwrapped(condition)
        kind = excluded_kind(condition)
        parts = syntax.conjuncts(condition)
        if kind:
            self._trace.kinds.add(kind)
        elif len(parts) > 1 and any(excluded_kind(item) for item in parts):
            for item in parts:
                self._condition(item)
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
        loop = _loop_around(call)
        if loop is None:
            return
        self._trace.is_list = True
        if method == "unshift":
            self._trace.orders.add("reversed")
        if loop.id not in self._loops:
            self._loops.add(loop.id)
            self._omitted(loop, text(call.child_by_field_name("function")))
        listed = loop.child_by_field_name("right")
        member = syntax.member(loop.child_by_field_name("function"))
        listed = member[0] if member is not None else listed
        if listed is not None:
            self.follow(file, listed, steps)

    def _omitted(self, loop: Node, method: str) -> None:
        """Records which items of a loop do not reach a call of `push`, and those after a `break`."""
        added = [
            item
            for item in syntax.walk(loop)
            if item.type == "call_expression"
            and text(item.child_by_field_name("function")) == method
        ]
        function = syntax.arguments(loop)[0] if loop.type == "call_expression" else loop
        body = statements_of(function)
        for path in paths_without(body, added):
            self._omit(path)
        for item in breaks(loop):
            tests = syntax.enclosing(item, "if_statement")[:1]
            condition = tests[0].child_by_field_name("condition") if tests else None
            stopped = text(syntax.unwrapped(condition)) if condition is not None else "the first"
            self._trace.conditions.add(f"before {stopped}")

    def _omit(self, path: Path) -> None:
        """Records that items are left out under some conditions."""
        kinds = [_KIND.fullmatch(part) for test in path for part in test.text.split(" || ")]
        named = [kind.group(1) for kind in kinds if kind is not None]
        if len(path) == 1 and len(named) == len(kinds):
            self._trace.kinds.update(named)
        elif not all(test.is_kind and test.is_negative for test in path):
            texts = conditions([path])
            self._trace.conditions.add(" ".join(texts[0].split()))


def _loop_around(call: Node) -> Node | None:
    """Returns the innermost loop, or call of `forEach`, around a call."""
    for outer in syntax.enclosing(call, *LOOPS, "call_expression"):
        member = syntax.member(outer.child_by_field_name("function"))
        if outer.type in LOOPS or (member is not None and member[1] == "forEach"):
            return outer
    return None


def _condition_of(function: Node) -> Node | None:
    """Returns the condition that a function for `filter` returns, None if it has statements."""
    body = function.child_by_field_name("body") if function.type in FUNCTIONS else None
    return body if body is not None and body.type != "statement_block" else None
