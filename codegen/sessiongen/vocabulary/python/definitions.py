"""Reads the code of the definitions of a Python SDK that fill, convert and pass on messages."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator
from typing import TypeAlias

from sessiongen.vocabulary.digests import digest
from sessiongen.vocabulary.model import DefinitionFact
from sessiongen.vocabulary.python.modules import Definition
from sessiongen.vocabulary.python.parsed_module import Module, defined_names

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_Scope: TypeAlias = "ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef"
# The name of a definition is compared separately; the others have no effect on what code does.
_IGNORED = {"name", "ctx", "kind", "type_comment"}


def module_facts(module: Module, within: Container[str] | None = None) -> Iterator[DefinitionFact]:
    """Yields the facts of the definitions of a module, and that of its other statements.

    within: the methods to yield, as `Class.method`; None for all. Functions that are no methods
        and constants are always yielded.
    """
    for name, statements in module.definitions.items():
        for statement in statements:
            for fact in definition_facts(Definition(module, name, statement)):
                is_plain = not isinstance(statement, ast.ClassDef)
                if within is None or is_plain or fact.name in within:
                    yield fact
    unnamed = [
        item
        for item in _without_docstring(module.tree.body)
        if not isinstance(item, (ast.Import, ast.ImportFrom)) and not defined_names(item)
    ]
    place = module.place(unnamed[0] if unnamed else module.tree)
    yield DefinitionFact(module.name, digest(code_of(unnamed)), place)


def definition_facts(definition: Definition) -> Iterator[DefinitionFact]:
    """Yields the fact of a definition, and those of the methods and classes inside of a class."""
    module, name, node = definition.module, definition.name, definition.node
    if not isinstance(node, ast.ClassDef):
        yield _fact(module, name, node)
        return
    scopes = _scopes(node)
    yield _class_fact(module, name, node, [item.name for item in scopes])
    for item in scopes:
        yield from definition_facts(Definition(module, f"{name}.{item.name}", item))


def type_facts(definition: Definition) -> Iterator[DefinitionFact]:
    """Yields the facts of a data type: its fields, and its methods that have a decorator."""
    module, name, node = definition.module, definition.name, definition.node
    if not isinstance(node, ast.ClassDef):
        yield _fact(module, name, node)
        return
    yield _class_fact(module, name, node, [])
    for item in _scopes(node):
        if item.decorator_list:
            yield from definition_facts(Definition(module, f"{name}.{item.name}", item))


def _scopes(node: ast.ClassDef) -> list[_Scope]:
    return [item for item in node.body if isinstance(item, _SCOPES)]


def _class_fact(
    module: Module, name: str, node: ast.ClassDef, methods: list[str]
) -> DefinitionFact:
    own = [item for item in _without_docstring(node.body) if not isinstance(item, _SCOPES)]
    code = code_of([node.bases, node.keywords, node.decorator_list, methods, own])
    return DefinitionFact(name, digest(code), module.place(node))


def _fact(module: Module, name: str, node: ast.stmt) -> DefinitionFact:
    return DefinitionFact(name, digest(code_of(node)), module.place(node))


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = getattr(body[0], "value", None) if body else None
    has_docstring = isinstance(first, ast.Constant) and isinstance(body[0], ast.Expr)
    return body[1:] if has_docstring else body


def code_of(value: object) -> str:
    """Returns the text of a syntax tree, which is the same for each version of Python."""
    if isinstance(value, list):
        return f"[{' '.join(map(code_of, value))}]"
    if not isinstance(value, ast.AST):
        return repr(value)
    parts = []
    for field in value._fields:
        item = getattr(value, field, None)
        if item is None and not isinstance(value, ast.Constant) or item == []:
            continue
        if field == "body" and isinstance(value, _SCOPES):
            item = _without_docstring(value.body)
        if field not in _IGNORED or field == "name" and not isinstance(value, _SCOPES):
            parts.append(f"{field}={code_of(item)}")
    return f"{type(value).__name__}({' '.join(parts)})"
