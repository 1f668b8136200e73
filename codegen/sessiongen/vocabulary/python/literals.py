"""Reads sets of literals in Python: Enum classes and Literal types.

Other definitions read as None. A member that is not a constant is reported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import LiteralValue
from sessiongen.vocabulary.python.modules import Definition, Modules
from sessiongen.vocabulary.python.parsed_module import Module

ENUMS = {"Enum", "StrEnum"}
_NUMBERS = {"IntEnum", "Flag", "IntFlag"}
# Forms whose first argument is the type and the rest is not.
_WRAPPERS = {"Annotated", "Required", "NotRequired", "ReadOnly", "Final"}
_MAX_STEPS = 20
# Statements in an enum, and decorators of an enum, that do not change its members.
_OTHER_STATEMENTS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)
_DECORATORS = {"final", "unique"}

Key = tuple[str, str]


@dataclass
class LiteralSet:
    """A set of literals.

    open: other types are allowed too. optional: None is allowed too.
    numbers: how many values are not strings.
    """

    literals: list[LiteralValue] = field(default_factory=list)
    open: bool = False
    optional: bool = False
    numbers: int = 0

    def add(self, other: LiteralSet) -> None:
        """Adds the literals of another set."""
        self.literals += other.literals
        self.open |= other.open
        self.optional |= other.optional
        self.numbers += other.numbers

    def closed(self) -> LiteralSet:
        """Returns the finished set; it is open if it has numbers too."""
        return replace(self, open=self.open or bool(self.numbers))

    def named_on(self, line: int) -> LiteralSet:
        """Returns the set with all literals at the line of a name that refers to it."""
        return replace(self, literals=[literal._replace(line=line) for literal in self.literals])


def dotted(node: ast.AST) -> str | None:
    """Returns `a.b.c` for a chain of names, None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def last(node: ast.AST) -> str:
    """Returns the last name of a chain, empty for any other expression."""
    return (dotted(node) or "").rpartition(".")[2]


def self_attribute(node: ast.AST) -> str:
    """Returns `x` for `self.x`, empty for any other expression."""
    head, _, name = (dotted(node) or "").rpartition(".")
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Call):
        return f"super().{node.attr}" if dotted(node.value.func) == "super" else ""
    return name if head == "self" else ""


def constant(node: ast.AST | None) -> str | None:
    """Returns the value of a string constant, None for any other expression."""
    value = node.value if isinstance(node, ast.Constant) else None
    # Python allows an unpaired surrogate in a str; JSON and protobuf do not.
    encodable = isinstance(value, str) and not any("\ud800" <= item <= "\udfff" for item in value)
    return value if encodable and isinstance(value, str) else None


def unquoted(node: ast.expr) -> ast.expr:
    """Returns the expression inside a quoted annotation, at the position of the quote."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            inner = ast.parse(node.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return node
        for child in ast.walk(inner):
            ast.copy_location(child, node)
        return inner
    return node


def alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """Yields the members of a type, without unions, wrappers and quotes."""
    stack = [node]
    while stack:
        item = unquoted(stack.pop())
        if isinstance(item, ast.BinOp) and isinstance(item.op, ast.BitOr):
            stack += [item.right, item.left]
        elif isinstance(item, ast.Subscript) and last(item.value) in {"Union", "Optional"}:
            if last(item.value) == "Optional":
                yield ast.copy_location(ast.Constant(None), item)
            stack += reversed(elements(item))
        elif isinstance(item, ast.Subscript) and last(item.value) in _WRAPPERS:
            stack += elements(item)[:1]
        else:
            yield item


def elements(node: ast.Subscript) -> list[ast.expr]:
    """Returns the arguments of a subscript."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def is_none(node: ast.expr) -> bool:
    """Whether an expression is the constant None."""
    return isinstance(node, ast.Constant) and node.value is None


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is `Literal[...]`."""
    return isinstance(node, ast.Subscript) and last(node.value) == "Literal"


def aliased(definition: Definition) -> ast.expr | None:
    """Returns the value of an alias: the right-hand side, or the type given to
    `TypeAliasType`."""
    value = definition.value
    if isinstance(value, ast.Call) and last(value.func) == "TypeAliasType" and len(value.args) > 1:
        return value.args[1]
    return value


class LiteralReader:
    """Reads sets of literals, following names through the package."""

    def __init__(self, modules: Modules, faults: Faults) -> None:
        self.modules = modules
        self.faults = faults

    def of_class(self, definition: Definition) -> LiteralSet | None:
        """Returns the members of an Enum class of strings; None for any other class.

        An Enum class without members is only a base of others, and not a set of literals.
        """
        kind = self._enum_base(definition, _MAX_STEPS)
        if kind is None or not isinstance(definition.node, ast.ClassDef):
            return None
        for decorator in definition.node.decorator_list:
            if last(decorator) not in _DECORATORS:
                self._fault(
                    definition.module,
                    decorator,
                    f"a decorator of {definition.name} may change its members",
                )
        literals = LiteralSet()
        values: dict[str, str] = {}
        for statement in definition.node.body:
            self._member(definition.module, statement, kind, literals, values)
        if literals.literals and literals.numbers:
            self._fault(
                definition.module,
                definition.node,
                f"{definition.name} has values that are not strings",
            )
        return literals if literals.literals else None

    def of_alias(
        self, definition: Definition, enclosing: frozenset[Key] = frozenset()
    ) -> LiteralSet | None:
        """Returns the literals of an alias such as `X = Literal[...]`; None if it has none.

        enclosing: the aliases that contain it, which ends recursion.
        """
        value = aliased(definition)
        if value is None or definition.key in enclosing:
            return None
        literals = LiteralSet()
        for part in alternatives(value):
            inner = self._alternative(definition.module, part, enclosing | {definition.key})
            if inner is None:
                literals.open = True
            else:
                literals.add(inner)
        return literals.closed() if literals.literals else None

    def of_field(self, module: Module, annotation: ast.expr) -> LiteralSet | None:
        """Returns the literals in an annotation itself; None if it has none."""
        literals, has_literal = LiteralSet(), False
        for part in alternatives(annotation):
            if is_literal(part):
                has_literal = True
                self._add_literal(module, part, literals, frozenset())
            elif is_none(part):
                literals.optional = True
            else:
                literals.open = True
        return (
            literals.closed()
            if has_literal and (literals.literals or not literals.numbers)
            else None
        )

    def _alternative(
        self, module: Module, part: ast.expr, enclosing: frozenset[Key]
    ) -> LiteralSet | None:
        literals = LiteralSet()
        if is_none(part):
            literals.optional = True
            return literals
        if is_literal(part):
            self._add_literal(module, part, literals, enclosing)
            return literals
        name = dotted(part)
        definition = self.modules.resolve(module, name) if name else None
        if definition is None:
            return None
        if definition.key in enclosing:
            return literals
        is_class = isinstance(definition.node, ast.ClassDef)
        inner = self.of_class(definition) if is_class else self.of_alias(definition, enclosing)
        return inner.named_on(part.lineno) if inner is not None else None

    def _add_literal(
        self, module: Module, node: ast.expr, literals: LiteralSet, enclosing: frozenset[Key]
    ) -> None:
        assert isinstance(node, ast.Subscript)
        for element in elements(node):
            if isinstance(element, ast.Constant) and not _is_invalid_string(element):
                self._add_constant(element, literals)
            elif is_literal(element):
                self._add_literal(module, element, literals, enclosing)
            elif not self._add_named(module, element, literals, enclosing):
                self._fault(
                    module, element, f"`{_source_text(element)}` in a Literal is not a constant"
                )

    def _add_constant(self, node: ast.Constant, literals: LiteralSet) -> None:
        text = constant(node)
        if text is not None:
            literals.literals.append(LiteralValue(text, None, node.lineno))
        elif node.value is None:
            literals.optional = True
        else:
            literals.numbers += 1

    def _add_named(
        self, module: Module, node: ast.expr, literals: LiteralSet, enclosing: frozenset[Key]
    ) -> bool:
        """Adds the value of a name in a Literal: an enum member or another Literal."""
        name = dotted(node)
        if name is None:
            return False
        definition = self.modules.resolve(module, name)
        inner = self.of_alias(definition, enclosing) if definition else None
        if inner is not None:
            literals.add(inner.named_on(node.lineno))
            return True
        value = self.member(module, name)
        if value is not None:
            literals.literals.append(LiteralValue(value, None, node.lineno))
        return value is not None

    def constant(self, module: Module, node: ast.expr | None) -> str | None:
        """Returns the value of a string constant, a constant of a module or class, or a member."""
        text = constant(node)
        name = dotted(node) if node is not None and text is None else None
        if name is None:
            return text
        definition = self.modules.resolve(module, name)
        if definition is not None and len(definition.module.definitions.get(name, [1])) == 1:
            text = constant(definition.value)
        return text if text is not None else self.member(module, name)

    def member(self, module: Module, name: str) -> str | None:
        """Returns the value of an enum's member such as `Reason.ERROR`."""
        owner, _, member = name.rpartition(".")
        base = self.modules.resolve(module, owner) if owner else None
        enum = self.of_class(base) if base else None
        matches = (
            [literal.value for literal in enum.literals if literal.member == member] if enum else []
        )
        return matches[0] if matches else None

    def _enum_base(self, definition: Definition, steps: int) -> str | None:
        """Returns the enum base from which a class derives, None for any other class."""
        if not isinstance(definition.node, ast.ClassDef) or steps == 0:
            return None
        for base in definition.node.bases:
            name = last(base)
            target = self.modules.resolve(definition.module, dotted(base) or "")
            if target is None and name in ENUMS | _NUMBERS:
                return name
            kind = self._enum_base(target, steps - 1) if target else None
            if kind is not None:
                return kind
        return None

    def _member(
        self,
        module: Module,
        node: ast.stmt,
        kind: str,
        literals: LiteralSet,
        values: dict[str, str],
    ) -> None:
        target, value = _assigned(node)
        if target is None:
            if not (isinstance(node, _OTHER_STATEMENTS) or _is_docs(node)):
                self._fault(
                    module, node, "this statement in an enum is not a member with a constant value"
                )
            return
        if target == "_ignore_":
            self._fault(module, node, "`_ignore_` removes members of this enum")
        if target.startswith("_") or value is None:
            return
        text = constant(value)
        if text is not None:
            pass
        elif isinstance(value, ast.Call) and last(value.func) == "auto" and kind == "StrEnum":
            text = target.lower()
        elif isinstance(value, ast.Name) and value.id in values:
            return
        elif (_is_number(value) or kind in _NUMBERS) and not _is_invalid_string(value):
            literals.numbers += 1
            return
        else:
            self._fault(module, value, f"the value of {target} is computed")
            return
        values[target] = text
        literals.literals.append(LiteralValue(text, target, node.lineno))

    def _fault(self, module: Module, node: ast.AST, message: str) -> None:
        self.faults.unreadable(self.modules.span(module, node), Rule.SDK_ENUM, message)


def _assigned(node: ast.stmt) -> tuple[str | None, ast.expr | None]:
    if isinstance(node, ast.Assign) and all(isinstance(item, ast.Name) for item in node.targets):
        assert isinstance(node.targets[0], ast.Name)
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return None, None


def _is_invalid_string(node: ast.expr) -> bool:
    """Whether an expression is a string with an unpaired surrogate."""
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text and constant(node) is None


def _is_docs(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and last(value.func) == "auto":
        return True
    return isinstance(value, ast.Constant)


def _source_text(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."
