"""Parses the modules of a Python package and resolves names to definitions.

Imports, re-exports and star imports are followed within the package. A name from another
package has no definition.
"""

from __future__ import annotations

import ast
import builtins
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field

from sessiongen.diagnostics import Rule, Span
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Place
from sessiongen.vocabulary.package import Package

_BREAK = re.compile(r"\r\n|\r|\n")
_MAX_STEPS = 20
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
    """A parsed file. name: the dotted name. definitions: the statements that bind each name."""

    name: str
    path: str
    tree: ast.Module
    lines: list[str]
    is_package: bool
    definitions: dict[str, list[ast.stmt]] = field(default_factory=dict)
    imports: dict[str, Imported] = field(default_factory=dict)
    stars: list[str] = field(default_factory=list)

    def place(self, node: ast.AST) -> Place:
        """Return the line on which a node begins."""
        return Place(self.path, getattr(node, "lineno", 1))

    def column(self, line: int, offset: int) -> int:
        """Return the one-based column in characters for ast's offset in bytes."""
        text = self.lines[line - 1] if line <= len(self.lines) else ""
        return len(text.encode()[:offset].decode(errors="replace")) + 1


@dataclass(frozen=True)
class Definition:
    """A statement that binds a name, and its module."""

    module: Module
    name: str
    node: ast.stmt

    @property
    def path(self) -> str:
        """The path of its module in the package."""
        return self.module.path

    @property
    def key(self) -> tuple[str, str]:
        """The identity of the definition."""
        return self.module.name, self.name

    @property
    def value(self) -> ast.expr | None:
        """The right-hand side, where the statement assigns one."""
        value = getattr(self.node, "value", None)
        return value if isinstance(value, ast.expr) else None


class Modules:
    """Parses each module of a package once, when it is first requested."""

    def __init__(self, package: Package, faults: Faults) -> None:
        self.package = package
        self.faults = faults
        self._cache: dict[str, Module | None] = {}

    def definition_span(self, definition: Definition) -> Span:
        """Return the position of a definition."""
        return self.span(definition.module, definition.node)

    def span(self, module: Module, node: ast.AST) -> Span:
        """Return the position of a node for diagnostics."""
        line, offset = getattr(node, "lineno", 1), getattr(node, "col_offset", 0)
        return self.package.span(module.path, line, module.column(line, offset))

    def named(self, name: str) -> Module | None:
        """Return the module of a dotted name."""
        stem = name.replace(".", "/")
        for path in (f"{stem}.py", f"{stem}/__init__.py"):
            if path in self.package.files:
                return self.parsed(path)
        return None

    def parsed(self, path: str) -> Module | None:
        """Return the module of a file, None if it cannot be parsed, which is reported once."""
        if path not in self._cache:
            self._cache[path] = self._parse(path)
        return self._cache[path]

    def locate(self, name: str) -> list[Definition]:
        """Return every top-level definition of a name in the package."""
        pattern = re.compile(rf"^\s*(class\s+{name}\b|(type\s+)?{name}\s*[:=])".encode(), re.M)
        definitions = []
        for path in sorted(self.package.files):
            if path.endswith(".py") and pattern.search(self.package.files[path]):
                module = self.parsed(path)
                if module is not None and name in module.definitions:
                    definitions.append(Definition(module, name, module.definitions[name][-1]))
        return definitions

    def mentioning(self, *texts: str) -> Iterator[Module]:
        """Yield the modules whose text contains any of these strings, in order of their paths."""
        encoded = [text.encode() for text in texts]
        for path in sorted(self.package.files):
            data = self.package.files[path]
            if path.endswith(".py") and any(text in data for text in encoded):
                module = self.parsed(path)
                if module is not None:
                    yield module

    def resolve(self, module: Module, dotted: str) -> Definition | None:
        """Return the definition of a name such as `llm.ChatItem` in a module."""
        head, *rest = dotted.split(".")
        target = self._name(module, head, _MAX_STEPS)
        for name in rest:
            if isinstance(target, Module):
                target = self._name(target, name, _MAX_STEPS)
            elif target is not None:
                target = _nested(target, name)
        return target if isinstance(target, Definition) else None

    def external(self, module: Module, head: str) -> str:
        """Return the qualified name of a name, inside the package or not."""
        imported = module.imports.get(head)
        if imported is None:
            return f"{module.name}.{head}"
        return imported.module if imported.name is None else f"{imported.module}.{imported.name}"

    def qualified(self, module: Module, name: str, steps: int = _MAX_STEPS) -> str:
        """Return the qualified name of a dotted name; re-exports of the package are followed."""
        head, dot, rest = name.partition(".")
        imported = module.imports.get(head)
        if imported is None or head in module.definitions or steps == 0:
            return self._not_imported(module, name, steps)
        if imported.name is None:
            path = f"{imported.module}{dot}{rest}"
            return self._through_package(path, steps)
        target = self.named(imported.module)
        if target is not None and target is not module:
            return self.qualified(target, f"{imported.name}{dot}{rest}", steps - 1)
        return f"{imported.module}.{imported.name}{dot}{rest}"

    def _not_imported(self, module: Module, name: str, steps: int) -> str:
        """Return the qualified name of a name that a module defines or takes from a star import."""
        head, _, rest = name.partition(".")
        if head in module.definitions or steps == 0:
            return f"{module.name}.{name}"
        for star in module.stars:
            target = self.named(star)
            if target is None and not hasattr(builtins, head):
                return f"{star}.{name}"
            if target is not None and (head in target.imports or head in target.definitions):
                return self.qualified(target, name, steps - 1)
        inner = self.named(f"{module.name}.{head}") if module.is_package and rest else None
        return self.qualified(inner, rest, steps - 1) if inner else f"{module.name}.{name}"

    def _through_package(self, path: str, steps: int) -> str:
        """Return the qualified name of a path that begins with a module of the package."""
        owner, _, rest = path.rpartition(".")
        while owner:
            target = self.named(owner)
            if target is not None and rest:
                return self.qualified(target, rest, steps - 1)
            owner, _, last_name = owner.rpartition(".")
            rest = f"{last_name}.{rest}"
        return path

    def proto_path(self, module: Module, name: str, protobuf: str) -> tuple[str, ...] | None:
        """Return the path of a name inside the module of messages, None for any other name."""
        qualified = self.qualified(module, name)
        if qualified == protobuf:
            return ()
        inside = qualified.startswith(f"{protobuf}.")
        return tuple(qualified.removeprefix(f"{protobuf}.").split(".")) if inside else None

    def _name(self, module: Module, name: str, steps: int) -> Definition | Module | None:
        if steps == 0:
            return None
        if name in module.definitions:
            return Definition(module, name, module.definitions[name][-1])
        imported = module.imports.get(name)
        if imported is not None:
            return self._imported(imported, steps)
        for star in module.stars:
            target = self.named(star)
            definition = self._name(target, name, steps - 1) if target else None
            if definition is not None:
                return definition
        return self.named(f"{module.name}.{name}") if module.is_package else None

    def _imported(self, imported: Imported, steps: int) -> Definition | Module | None:
        if imported.name is None:
            return self.named(imported.module)
        target = self.named(imported.module)
        if target is None:
            return None
        return self._name(target, imported.name, steps - 1)

    def _parse(self, path: str) -> Module | None:
        data = self.package.files[path]
        try:
            text = data.decode("utf-8-sig")
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            self._unparsed(self.package.span(path, line), "the file is not UTF-8")
            return None
        except SyntaxError as error:
            span = self.package.span(path, error.lineno or 1, max(error.offset or 1, 1))
            self._unparsed(span, f"the file cannot be parsed: {error.msg}")
            return None
        except (ValueError, RecursionError, MemoryError):
            self._unparsed(self.package.span(path), "the file cannot be parsed")
            return None
        name = path.removesuffix(".py").replace("/", ".")
        module = Module(
            name.removesuffix(".__init__"),
            path,
            tree,
            _BREAK.split(text),
            name.endswith(".__init__"),
        )
        _index(module)
        return module

    def _unparsed(self, span: Span, message: str) -> None:
        help_ = "read the SDK with a Python at least as new as the one it is written for"
        self.faults.unreadable(span, Rule.SDK_SOURCE, message, help_)


def _index(module: Module) -> None:
    for statement, always in _statements(module.tree.body, True):
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            _bind(module, statement, always)
        for name in _defined(statement):
            module.definitions.setdefault(name, []).append(statement)
    imports = [n for n in ast.walk(module.tree) if isinstance(n, (ast.Import, ast.ImportFrom))]
    for node in imports:
        _bind(module, node, False)
    _restore_names(module.tree, imports)


def _restore_names(tree: ast.Module, imports: list[ast.Import | ast.ImportFrom]) -> None:
    """Replace aliases of names in the typing modules: `L` of `Literal as L` by `Literal`."""
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
    """Yield the statements in the scope of a module, including nested ones."""
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
    """Yield the blocks of a statement, unless it opens a scope of its own."""
    if isinstance(statement, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _nested(definition: Definition, name: str) -> Definition | None:
    """Return a definition inside a class."""
    for statement in (
        reversed(definition.node.body) if isinstance(definition.node, ast.ClassDef) else ()
    ):
        if name in _defined(statement):
            return Definition(definition.module, f"{definition.name}.{name}", statement)
    return None


def _defined(statement: ast.stmt) -> list[str]:
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
    """Return the names that an assignment to a target binds."""
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
