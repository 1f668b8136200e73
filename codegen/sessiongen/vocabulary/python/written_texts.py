"""Reads what Python code writes under a key of a document, such as a report."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from sessiongen.vocabulary.behaviour_scope import WrittenText
from sessiongen.vocabulary.behaviours import NAMES_OF, NOT_WRITTEN, OWN_VALUE, TEXT
from sessiongen.vocabulary.model import Behaviour
from sessiongen.vocabulary.python.calls import PackageFunction, called_function
from sessiongen.vocabulary.python.literals import constant, dotted
from sessiongen.vocabulary.python.modules import Definition, Modules

_MAX_STEPS = 6
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def text_behaviours(
    modules: Modules, texts: Iterable[WrittenText], protobuf: str
) -> Iterator[Behaviour]:
    """Yields what each text is: names of the proto enum, the SDK's own value, or not written."""
    for text in texts:
        name, _, method = text.definition.partition(".")
        definitions = modules.locate(name) or _functions(modules, name)
        function = _function(definitions[0], method) if len(definitions) == 1 else None
        if function is None:
            yield Behaviour(TEXT, text.name, text.definition, "", None)
            continue
        definition = definitions[0]
        owner = definition.node if isinstance(definition.node, ast.ClassDef) else None
        written = PackageFunction(function, definition.module, owner)
        value = _TextReader(modules, protobuf, text.enum).read(written, text.key)
        place = definition.module.place(function)
        yield Behaviour(TEXT, text.name, text.definition, value, place)


def _functions(modules: Modules, name: str) -> list[Definition]:
    return [
        Definition(module, name, module.definitions[name][-1])
        for module in modules.mentioning(f"def {name}(")
        if name in module.definitions
    ]


def _function(definition: Definition, method: str) -> _Function | None:
    if not method:
        return definition.node if isinstance(definition.node, _Function) else None
    for item in definition.node.body if isinstance(definition.node, ast.ClassDef) else ():
        if isinstance(item, _Function) and item.name == method:
            return item
    return None


class _TextReader:
    def __init__(self, modules: Modules, protobuf: str, enum: str) -> None:
        self._modules = modules
        self._protobuf = protobuf
        self._enum = enum

    def read(self, function: PackageFunction, key: str) -> str:
        """Returns what a document has under a key."""
        values = list(_values(function.node, key))
        if not values:
            return "" if _has_unknown_keys(function.node) else NOT_WRITTEN
        named = any(self._names_enum(function, value, _MAX_STEPS) for value in values)
        return f"{NAMES_OF}{self._enum}" if named else OWN_VALUE

    def _names_enum(self, function: PackageFunction, node: ast.AST, steps: int) -> bool:
        """Whether code in a function, or a function that it calls, refers to the proto enum."""
        module, owner = function.module, function.owner
        for inner in ast.walk(node):
            name = dotted(inner) or ""
            path = self._modules.proto_path(module, name, self._protobuf) if name else None
            if path is not None and path[:1] == (self._enum,):
                return True
            if isinstance(inner, ast.Call) and steps:
                called = called_function(self._modules, module, owner, inner)
                if called is not None and self._names_enum(called, called.node, steps - 1):
                    return True
        return False


def _values(function: _Function, key: str) -> Iterator[ast.expr]:
    """Yields what a function puts under a key of a dict."""
    for node in ast.walk(function):
        if isinstance(node, ast.Dict):
            yield from (
                value
                for name, value in zip(node.keys, node.values, strict=True)
                if constant(name) == key
            )
        elif isinstance(node, ast.Call) and dotted(node.func) == "dict":
            yield from (item.value for item in node.keywords if item.arg == key)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(isinstance(it, ast.Subscript) and constant(it.slice) == key for it in targets):
                yield node.value


def _has_unknown_keys(function: _Function) -> bool:
    """Whether a function writes keys that are not constants."""
    return any(
        isinstance(node, ast.Dict) and any(constant(key) is None for key in node.keys)
        for node in ast.walk(function)
    )
