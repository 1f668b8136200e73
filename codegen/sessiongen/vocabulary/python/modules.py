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
from dataclasses import dataclass

from sessiongen.diagnostics import Rule, Span
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.python.parsed_module import (
    Imported,
    Module,
    aliased_name,
    defined_names,
    index,
)

_BREAK = re.compile(r"\r\n|\r|\n")
_MAX_STEPS = 20


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
        """Return the definition of a name such as `module.Name` in a module."""
        head, *rest = dotted.split(".")
        target = self._name(module, head, _MAX_STEPS)
        for name in rest:
            if isinstance(target, Module):
                target = self._name(target, name, _MAX_STEPS)
            elif target is not None:
                target = _nested(target, name)
        return target if isinstance(target, Definition) else None

    def with_bases(self, definition: Definition, steps: int = _MAX_STEPS) -> list[Definition]:
        """Return a class and its base classes in the package, those of a class after it."""
        classes = [definition]
        for base in getattr(definition.node, "bases", []) if steps else []:
            node = base.value if isinstance(base, ast.Subscript) else base
            target = self.resolve(definition.module, ast.unparse(node))
            if target is not None and isinstance(target.node, ast.ClassDef):
                classes += self.with_bases(target, steps - 1)
        return list({item.key: item for item in classes}.values())

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
            aliased = aliased_name(module.definitions.get(head, [])) if steps else None
            if aliased is not None and aliased.partition(".")[0] != head:
                return self.qualified(module, f"{aliased}.{rest}".rstrip("."), steps - 1)
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

    def uses(self, module: Module, protobuf: str) -> bool:
        """Whether a module imports the messages, or something in or above their module."""
        if protobuf in module.stars:
            return True
        stars = [self.named(star) for star in module.stars]
        if any(star is not None and self.uses(star, protobuf) for star in stars):
            return True
        for head in module.imports:
            qualified = self.qualified(module, head)
            if f"{qualified}.".startswith(f"{protobuf}."):
                return True
            above = protobuf.startswith(f"{qualified}.")
            if above and f".{protobuf.rpartition('.')[2]}." in "\n".join(module.lines):
                return True
        return False

    def using(self, protobuf: str) -> list[Module]:
        """Return the modules that use the messages, also through other modules of the package."""
        used: dict[str, Module] = {}
        texts = [protobuf.rpartition(".")[0].rpartition(".")[2]]
        while texts:
            modules = [
                item
                for item in self.mentioning(*texts)
                if item.path not in used and self.uses(item, protobuf)
            ]
            used.update((item.path, item) for item in modules)
            texts = [f"{item.name.rpartition('.')[2]} import" for item in modules]
            texts += [f"import {item.name.rpartition('.')[2]}" for item in modules]
        return [used[path] for path in sorted(used)]

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
        index(module)
        return module

    def _unparsed(self, span: Span, message: str) -> None:
        help_ = "read the SDK with a Python at least as new as the one it is written for"
        self.faults.unreadable(span, Rule.SDK_SOURCE, message, help_)


def _nested(definition: Definition, name: str) -> Definition | None:
    """Return a definition inside a class."""
    for statement in (
        reversed(definition.node.body) if isinstance(definition.node, ast.ClassDef) else ()
    ):
        if name in defined_names(statement):
            return Definition(definition.module, f"{definition.name}.{name}", statement)
    return None
