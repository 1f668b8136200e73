"""Finds names that a stub of messages would define twice.

mypy-protobuf generates helpers such as `_Kind` and `TEXT_FIELD_NUMBER`, which a protocol may use as
names too. Type checkers reject such a stub.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from sessiongen.targets.python.naming import MESSAGE_ATTRIBUTES

# The syntax tree of a longer text needs more memory than the rest of a run.
_MAX_PARSED_CHARACTERS = 2_000_000


def clashes(text: str) -> list[str]:
    """Returns a phrase for each invalid name in a stub."""
    if len(text) > _MAX_PARSED_CHARACTERS:
        return []
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        return [f"would not be valid Python ({error.msg})"]
    inside = [phrase for node in body for phrase in _class_clashes(node)]
    return [*inside, *_duplicates(_names(body), "the module")]


def _class_clashes(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.ClassDef):
        yield from _duplicates(_names(node.body), node.name)
        for name in _attributes(node) & MESSAGE_ATTRIBUTES - {"DESCRIPTOR"}:
            yield f"would hide {name!r} of protobuf's own message class in {node.name}"
        for inner in node.body:
            yield from _class_clashes(inner)


def _attributes(node: ast.ClassDef) -> set[str]:
    """Returns the attributes of a message class; {} for the classes of enums."""
    if not any(isinstance(base, ast.Attribute) and base.attr == "Message" for base in node.bases):
        return set()
    return {
        item.target.id
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }


def _duplicates(names: list[str], owner: str) -> list[str]:
    counted = Counter(names)
    return [f"would define {name!r} twice in {owner}" for name in counted if counted[name] > 1]


def _names(body: list[ast.stmt]) -> list[str]:
    """Returns the names that statements define; the overloads of a function are one name."""
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
            # Both branches define the same names for different versions of Python.
            names += _names(node.body)
    return [*names, *sorted(functions)]
