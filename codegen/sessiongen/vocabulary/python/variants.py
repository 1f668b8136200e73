"""Reads for which kinds of values Python code fills the arms of a oneof.

The code is a test of the class or the `type` of a value around the construction of a message with
one field, or a loop over a table of classes and fields.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from sessiongen.vocabulary.behaviours import VARIANT
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.literals import alternatives, constant, last
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module, inner_bodies
from sessiongen.vocabulary.python.rows import loop_rows

_TAG = "type"
Rows = dict[str, list[ast.expr]]


def variant_behaviours(
    modules: Modules, module: Module, constructions: Iterable[ConstructionBuilder]
) -> Iterator[Behaviour]:
    """Yields the kinds of values for which each message with one field is constructed."""
    by_function: dict[int, list[ConstructionBuilder]] = {}
    for item in constructions:
        if item.function is not None and item.fields and not item.open:
            by_function.setdefault(id(item.function), []).append(item)
    for items in by_function.values():
        reader = _VariantReader(modules, module, items)
        yield from reader.read(getattr(items[0].function, "body", []), [], {})


class _VariantReader:
    """Reads one function. items: the constructions in it."""

    def __init__(
        self, modules: Modules, module: Module, items: Iterable[ConstructionBuilder]
    ) -> None:
        self._modules = modules
        self._module = module
        self._items = {id(item.node): item for item in items}

    def read(self, body: list[ast.stmt], kinds: list[ast.expr], rows: Rows) -> Iterator[Behaviour]:
        """Yields the kinds of the constructions in a block. kinds: those of the values there."""
        for statement in body:
            if isinstance(statement, ast.If):
                inner = tested_kinds(statement.test)
                yield from self.read(statement.body, inner or kinds, rows)
                yield from self.read(statement.orelse, kinds, rows)
            elif isinstance(statement, ast.Match):
                by_tag = last(statement.subject) == _TAG
                for case in statement.cases:
                    inner = list(_matched_kinds(case.pattern, by_tag))
                    yield from self.read(case.body, inner or kinds, rows)
            elif any(True for _ in inner_bodies(statement)) and not _is_simple(statement):
                table = self._table(statement)
                for block in inner_bodies(statement):
                    yield from self.read(block, kinds, {**rows, **table})
            elif kinds:
                yield from self._constructions(statement, kinds, rows)

    def _table(self, statement: ast.stmt) -> Rows:
        if not isinstance(statement, ast.For):
            return {}
        function = next(iter(self._items.values())).function
        return loop_rows(self._modules, self._module, function, statement)

    def _constructions(
        self, statement: ast.stmt, kinds: list[ast.expr], rows: Rows
    ) -> Iterator[Behaviour]:
        tested = next((it.id for it in kinds if isinstance(it, ast.Name) and it.id in rows), "")
        for node in ast.walk(statement):
            item = self._items.get(id(node))
            if tested and isinstance(node, ast.Call) and last(node.func) in {"getattr", "setattr"}:
                for filled in self._items.values():
                    yield from self._rows(filled, tested, rows)
            elif item is not None and not tested and len(item.fields) == 1:
                yield self._fact(item, next(iter(item.fields)), kinds)

    def _rows(self, item: ConstructionBuilder, tested: str, rows: Rows) -> Iterator[Behaviour]:
        """Yields the kind in each row of a table, for the field in the same row."""
        names = [
            values
            for name, values in rows.items()
            if name != tested and all(constant(value) in item.fields for value in values)
        ]
        for kind, value in zip(rows[tested], names[0], strict=False) if names else ():
            yield self._fact(item, constant(value) or "", [kind])

    def _fact(self, item: ConstructionBuilder, field: str, kinds: list[ast.expr]) -> Behaviour:
        value = ", ".join(sorted({constant(kind) or last(kind) for kind in kinds}))
        subject = f"{item.message}.{field}"
        return Behaviour(VARIANT, subject, item.within, value, self._module.place(item.node))


def _is_simple(statement: ast.stmt) -> bool:
    return not isinstance(
        statement, (ast.For, ast.AsyncFor, ast.While, ast.With, ast.AsyncWith, ast.Try)
    )


def tested_kinds(test: ast.expr) -> list[ast.expr]:
    """Returns the classes or tags that a condition asks for."""
    if isinstance(test, ast.BoolOp):
        parts = [tested_kinds(item) for item in test.values]
        known = [part for part in parts if part]
        if isinstance(test.op, ast.And):
            return known[0] if known else []
        return [kind for part in known for kind in part] if len(known) == len(parts) else []
    if isinstance(test, ast.Call) and last(test.func) == "isinstance" and len(test.args) == 2:
        return _alternatives(test.args[1])
    if isinstance(test, ast.Compare) and last(test.left) == _TAG:
        if isinstance(test.ops[0], (ast.Eq, ast.In)):
            return _alternatives(test.comparators[0])
    return []


def _alternatives(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return list(node.elts)
    return [node] if isinstance(node, ast.Constant) else list(alternatives(node))


def _matched_kinds(pattern: ast.pattern, by_tag: bool) -> Iterator[ast.expr]:
    if isinstance(pattern, ast.MatchOr):
        for item in pattern.patterns:
            yield from _matched_kinds(item, by_tag)
    elif isinstance(pattern, ast.MatchAs) and pattern.pattern is not None:
        yield from _matched_kinds(pattern.pattern, by_tag)
    elif isinstance(pattern, ast.MatchClass):
        yield pattern.cls
    elif isinstance(pattern, ast.MatchValue) and by_tag:
        yield pattern.value
