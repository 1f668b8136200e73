"""Finds names that a stub of messages would define twice.

mypy-protobuf generates helpers such as `_Kind` and `TEXT_FIELD_NUMBER`, which a protocol may use as
names too. Type checkers reject such a stub.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from sessiongen.targets.python.naming import MESSAGE_API

# Characters beyond which a syntax tree would take more memory than all the rest of a run.
_LARGEST = 2_000_000


def clashes(text: str) -> list[str]:
    """Return what is wrong with a stub, as phrases; nothing for a sound one."""
    if len(text) > _LARGEST:
        return []
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        return [f"would not be valid Python ({error.msg})"]
    inside = [phrase for node in body for phrase in _inside(node)]
    return [*inside, *_twice(_names(body), "the module")]


def _inside(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ClassDef):
        yield from _twice(_names(node.body), node.name)
        for name in _attributes(node) & MESSAGE_API - {"DESCRIPTOR"}:
            yield f"would hide {name!r} of protobuf's own message class in {node.name}"
        for inner in node.body:
            yield from _inside(inner)


def _attributes(node: ast.ClassDef) -> set[str]:
    """Return the attributes of a message class; the classes of enums hide nothing."""
    if not any(isinstance(base, ast.Attribute) and base.attr == "Message" for base in node.bases):
        return set()
    return {
        item.target.id
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }


def _twice(names: list[str], where: str) -> list[str]:
    counted = Counter(names)
    return [f"would define {name!r} twice in {where}" for name in counted if counted[name] > 1]


def _names(body: list[ast.stmt]) -> list[str]:
    """Return the names that statements define; the overloads of a function are one name."""
    names: list[str] = []
    functions: set[str] = set()
    for node in body:
        if isinstance(node, ast.FunctionDef):
            functions.add(node.name)
        elif isinstance(node, ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
        elif isinstance(node, ast.ImportFrom):
            names += [item.asname or item.name for item in node.names]
        elif isinstance(node, ast.If):
            # Its two sides define the same names for different versions of Python.
            names += _names(node.body)
    return [*names, *sorted(functions)]
