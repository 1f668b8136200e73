"""Reads tables in Python code: value maps, keys of map fields, and ignored variants.

A value map is a dict whose values are all proto values. A key of it that is not a constant is
reported.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Default, MapKeys, IgnoredVariant, ValueMap
from sessiongen.vocabulary.python.construction_builder import ConstructionBuilder
from sessiongen.vocabulary.python.modules import Modules
from sessiongen.vocabulary.python.parsed_module import Module
from sessiongen.vocabulary.python.literals import LiteralReader, constant, dotted

_TAG = "type"

_Key = tuple[str, str]
_ProtoValue = Callable[[ast.expr], str | None]

# The functions that write a value, and the form of the result.
_FORMS = {"str": "text", "repr": "text", "json.dumps": "JSON"}


class Tables:
    """Collects the tables of several modules; a map may be used in another one."""

    def __init__(self, modules: Modules, protobuf: str, faults: Faults) -> None:
        self.map_keys: list[MapKeys] = []
        self.ignored_variants: list[IgnoredVariant] = []
        self._modules = modules
        self._protobuf = protobuf
        self._faults = faults
        self._literals = LiteralReader(modules, faults)
        self._maps: dict[_Key, ValueMap] = {}
        self._defaults: list[tuple[_Key, Default]] = []

    def read(self, module: Module, constructions: Iterable[ConstructionBuilder]) -> None:
        """Reads the tables of a module."""
        proto_value = partial(self._proto_value, module)
        for node, within in _walk(module.tree, ()):
            if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Dict):
                self._read_map(module, node, node.value, proto_value)
            elif isinstance(node, ast.Call):
                self._read_default(module, node, within, proto_value)
            elif isinstance(node, ast.Compare):
                self._read_ignored_variant(module, node, within)
        for item in constructions:
            for name, value in item.values.items():
                self._read_map_keys(module, item, name, value)

    def maps(self) -> Iterator[ValueMap]:
        """Yields the maps, each with its defaults."""
        for key, value_map in self._maps.items():
            yield value_map._replace(
                defaults=tuple(default for owner, default in self._defaults if owner == key)
            )

    def _proto_value(self, module: Module, node: ast.expr) -> str | None:
        """Returns `VALUE` of `pb.VALUE` or `pb.Enum.VALUE`."""
        path = self._modules.proto_path(module, dotted(node) or "", self._protobuf)
        return path[-1] if path and path[-1].isupper() else None

    def _read_map(
        self,
        module: Module,
        node: ast.Assign | ast.AnnAssign,
        value: ast.Dict,
        proto_value: _ProtoValue,
    ) -> None:
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        values = [proto_value(item) for item in value.values]
        if not values or not all(values) or not isinstance(target, ast.Name):
            return
        pairs = []
        for key, converted in zip(value.keys, values, strict=True):
            literal = constant(key) or self._literals.member(
                module, dotted(key) or "" if key else ""
            )
            if literal is None or converted is None:
                span = self._modules.span(module, key or value)
                message = f"a key of the map {target.id} is not a constant"
                self._faults.unreadable(span, Rule.SDK_ENUM, message)
            else:
                pairs.append((literal, converted))
        value_map = ValueMap(target.id, module.place(node), tuple(pairs), ())
        self._maps[module.path, target.id] = value_map

    def _read_default(
        self, module: Module, call: ast.Call, within: str, proto_value: _ProtoValue
    ) -> None:
        """Records `pb.VALUE` of `MAP.get(x, pb.VALUE)`."""
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr != "get" or len(call.args) < 2:
            return
        value = proto_value(call.args[1])
        name = dotted(function.value)
        if value is not None and name is not None:
            definition = self._modules.resolve(module, name)
            key = (definition.path, definition.name) if definition else (module.path, name)
            self._defaults.append((key, Default(value, within, module.place(call))))

    def _read_ignored_variant(self, module: Module, test: ast.Compare, within: str) -> None:
        tag = constant(test.comparators[0])
        tests_tag = isinstance(test.left, ast.Attribute) and test.left.attr == _TAG
        if tests_tag and tag is not None and isinstance(test.ops[0], ast.NotEq):
            self.ignored_variants.append(IgnoredVariant(tag, within, module.place(test)))

    def _read_map_keys(
        self, module: Module, construction: ConstructionBuilder, name: str, value: ast.expr
    ) -> None:
        """Records the keys of a dict that fills a field, or that a function returns for it."""
        tables = [value] if isinstance(value, ast.Dict) else []
        called = dotted(value.func) if isinstance(value, ast.Call) else None
        function = self._modules.resolve(module, called) if called else None
        if function is not None and isinstance(
            function.node, (ast.FunctionDef, ast.AsyncFunctionDef)
        ):
            module = function.module
            tables = [
                node.value
                for node in ast.walk(function.node)
                if isinstance(node, ast.Return) and isinstance(node.value, ast.Dict)
            ]
        for table in tables:
            keys = [constant(key) for key in table.keys]
            constants = tuple(key for key in keys if key is not None)
            if constants:
                place = module.place(table)
                open_ = len(constants) < len(keys)
                self.map_keys.append(
                    MapKeys(
                        construction.message,
                        name,
                        construction.within,
                        open_,
                        place,
                        constants,
                        tuple(_forms(table)),
                    )
                )


def _forms(table: ast.Dict) -> Iterator[tuple[str, str]]:
    """Yields the keys of a dict whose values are made by `str` or `json.dumps`, with the form."""
    for key, value in zip(table.keys, table.values, strict=True):
        name, called = constant(key), dotted(value.func) if isinstance(value, ast.Call) else None
        form = _FORMS.get(called or "")
        if name is not None and form is not None:
            yield name, form


def _walk(node: ast.AST, within: tuple[str, ...]) -> Iterator[tuple[ast.AST, str]]:
    """Yields all nodes, each with the class and function around it."""
    for child in ast.iter_child_nodes(node):
        yield child, ".".join(within)
        has_scope = isinstance(child, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        name = (getattr(child, "name", ""),) if has_scope else ()
        yield from _walk(child, (*within, *name))
