"""A parsed Python file with the names that it defines and imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from sessiongen.vocabulary.model import Place

# The readers recognize the names of these modules.
_TYPING_MODULES = {"enum", "typing", "typing_extensions"}


@dataclass(frozen=True)
class Imported:
    """A name bound by an import. name: None where the module itself is bound.

    always: bound when the module is loaded, not only for type checkers or inside functions.
    """

    module: str
    name: str | None
    always: bool


@dataclass
class Module:
    """A parsed file. name: the dotted name. definitions: the statements that bind each name.

    changed: the last names of the tables that it changes in place, once they were asked for.
    """

    name: str
    path: str
    tree: ast.Module
    lines: list[str]
    is_package: bool
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, Imported] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)
    changed: frozenset[str] | None = None

    def place(self, node: ast.AST) -> Place:
        """Returns the line on which a node begins."""
        return Place(self.path, getattr(node, "lineno", 1))

    def column(self, line: int, offset: int) -> int:
        """Returns the one-based column in characters for ast's offset in bytes."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return len(text.encode()[:offset].decode(errors="replace")) + 1


def aliased_name(statements: list[ast.stmt]) -> str | None:
    """Returns the dotted name that the only definition of a name assigns to it."""
    node = getattr(statements[0], "value", None) if len(statements) == 1 else None
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(names)]) if isinstance(node, ast.Name) else None


def index(module: Module) -> None:
    """Records the definitions and imports of a module."""
    for statement, always in _statements(module.tree.body, True):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            _bind(module, statement, always)
        for name in defined_names(statement):
            module.definitions.setdefault(name, []).append(statement)
    imports = [n for n in ast.walk(module.tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    for node in imports:
        _bind(module, node, False)
    _restore_names(module.tree, imports)


def _restore_names(tree: ast.Module, imports: list[ast.Import | ast.ImportFrom]) -> None:
    """Replaces aliases of names in the typing modules: `L` of `Literal as L` by `Literal`."""
    aliases = {
        alias.asname: alias.name
        for node in imports
        if isinstance(node, ast.ImportFrom) and node.module in _TYPING_MODULES
        for alias in node.names
        if alias.asname
    }
    for node in ast.walk(tree) if aliases else ():
        if isinstance(node, ast.Name):
            node.id = aliases.get(node.id, node.id)


def _statements(body: list[ast.stmt], always: bool) -> Iterator[tuple[ast.stmt, bool]]:
    """Yields the statements in the scope of a module, including nested ones."""
    for statement in body:
        yield statement, always
        if isinstance(statement, ast.If):
            checking = "TYPE_CHECKING" in ast.dump(statement.test)
            yield from _statements(statement.body, always and not checking)
            yield from _statements(statement.orelse, always)
        else:
            for part in inner_bodies(statement):
                yield from _statements(part, always)


def inner_bodies(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """Yields the blocks of a statement, unless it opens a scope of its own."""
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def defined_names(statement: ast.stmt) -> list[str]:
    """Returns the names that a statement defines."""
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return [statement.name]
    if isinstance(statement, ast.Assign):
        return [name for target in statement.targets for name in _names(target)]
    if isinstance(statement, (ast.AnnAssign, ast.AugAssign, ast.For, ast.AsyncFor)):
        return _names(statement.target)
    # A statement `type X = ...`; `ast` has no class for it before Python 3.12.
    name = getattr(statement, "name", None)
    return [name.id] if isinstance(name, ast.Name) else []


def _names(target: ast.expr) -> list[str]:
    """Returns the names that an assignment to a target binds."""
    if isinstance(target, (ast.Tuple, ast.List)):
        return [name for item in target.elts for name in _names(item)]
    return [target.id] if isinstance(target, ast.Name) else []


def _bind(module: Module, node: ast.Import | ast.ImportFrom, always: bool) -> None:
    if isinstance(node, ast.Import):
        for alias in node.names:
            name = alias.name if alias.asname else alias.name.partition(".")[0]
            module.imports.setdefault(alias.asname or name, Imported(name, None, always))
        return
    source = _source(module, node)
    for alias in node.names:
        if alias.name == "*":
            if source not in module.stars:
                module.stars.append(source)
            continue
        module.imports.setdefault(alias.asname or alias.name, Imported(source, alias.name, always))


def _source(module: Module, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    parts = module.name.split(".")
    up = node.level - 1 if module.is_package else node.level
    parts = parts[: len(parts) - up] if up else parts
    return ".".join([*parts, node.module] if node.module else parts)
