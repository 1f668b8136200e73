"""Sets of words in Python: Enum classes and Literal types.

In: a class, an alias's value or an annotation. Out: the words, or None where it is no set
of words; a part that is not a constant is a fault at its place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.diagnostic_list import Faults
from sessiongen.vocabulary.model import Word
from sessiongen.vocabulary.python.modules import Definition, Module, Modules

ENUMS = {"Enum", "StrEnum"}
_NUMBERS = {"IntEnum", "Flag", "IntFlag"}
# Forms whose first argument is the type and the rest is not.
_WRAPPERS = {"Annotated", "Required", "NotRequired", "ReadOnly", "Final"}
_HOPS = 20
# What may stand in an enum beside its members, and around it, and leaves them alone.
_HARMLESS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Pass)
_DECORATORS = {"final", "unique"}

Key = tuple[str, str]


@dataclass
class Words:
    """Words found. open: other types stand beside them. optional: so does None.

    numbers: values that are no strings; a set of numbers is no vocabulary.
    """

    words: list[Word] = field(default_factory=list)
    open: bool = False
    optional: bool = False
    numbers: int = 0

    def add(self, other: Words) -> None:
        """Take over what another set has."""
        self.words += other.words
        self.open |= other.open
        self.optional |= other.optional
        self.numbers += other.numbers

    def closed(self) -> Words:
        """Return the finished set: a number beside the words is another value."""
        return replace(self, open=self.open or bool(self.numbers))

    def named_on(self, line: int) -> Words:
        """Return the set as a name on a line stands for it, in a file of its own."""
        return replace(self, words=[word._replace(line=line) for word in self.words])


def dotted(node: ast.AST) -> str | None:
    """Return `a.b.c` for a chain of names, None for any other expression."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def last(node: ast.AST) -> str:
    """Return the last name of a chain, empty for any other expression."""
    return (dotted(node) or "").rpartition(".")[2]


def constant(node: ast.AST | None) -> str | None:
    """Return the value of a string constant, None for any other expression."""
    value = node.value if isinstance(node, ast.Constant) else None
    # half a surrogate pair is a str to Python, and no text to anyone else
    whole = isinstance(value, str) and not any("\ud800" <= item <= "\udfff" for item in value)
    return value if whole and isinstance(value, str) else None


def unquoted(node: ast.expr) -> ast.expr:
    """Return the expression inside a quoted annotation, at the quote's place."""
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
    """Yield the parts of a type: unions taken apart, wrappers and quotes taken off."""
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
    """Return the arguments of a subscript."""
    return node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]


def is_none(node: ast.expr) -> bool:
    """Whether an expression is the constant None."""
    return isinstance(node, ast.Constant) and node.value is None


def is_literal(node: ast.expr) -> bool:
    """Whether an expression is `Literal[...]`."""
    return isinstance(node, ast.Subscript) and last(node.value) == "Literal"


def aliased(found: Definition) -> ast.expr | None:
    """Return what an alias stands for: the right-hand side, or the type given to
    `TypeAliasType`."""
    value = found.value
    if isinstance(value, ast.Call) and last(value.func) == "TypeAliasType" and len(value.args) > 1:
        return value.args[1]
    return value


class WordReader:
    """Reads sets of words, following names through the package."""

    def __init__(self, modules: Modules, faults: Faults) -> None:
        self.modules = modules
        self.faults = faults

    def of_class(self, found: Definition) -> Words | None:
        """Return the members of an Enum class of strings; None for any other class.

        One without members is a base of others, and no set of words itself.
        """
        kind = self._kind(found, _HOPS)
        if kind is None or not isinstance(found.node, ast.ClassDef):
            return None
        for decorator in found.node.decorator_list:
            if last(decorator) not in _DECORATORS:
                self._fault(found.module, decorator, f"what decorates {found.name} may change it")
        words = Words()
        values: dict[str, str] = {}
        for statement in found.node.body:
            self._member(found.module, statement, kind, words, values)
        if words.words and words.numbers:
            self._fault(found.module, found.node, f"{found.name} has values that are no strings")
        return words if words.words else None

    def of_alias(self, found: Definition, around: frozenset[Key] = frozenset()) -> Words | None:
        """Return the words of an alias such as `X = Literal[...]`; None if it has none.

        around: the aliases in whose words it was met.
        """
        value = aliased(found)
        if value is None or found.key in around:
            return None
        words = Words()
        for part in alternatives(value):
            inner = self._part(found.module, part, around | {found.key})
            if inner is None:
                words.open = True
            else:
                words.add(inner)
        return words.closed() if words.words else None

    def of_field(self, module: Module, annotation: ast.expr) -> Words | None:
        """Return the words that an annotation itself spells out; None if it has none."""
        words, found = Words(), False
        for part in alternatives(annotation):
            if is_literal(part):
                found = True
                self._literal(module, part, words, frozenset())
            elif is_none(part):
                words.optional = True
            else:
                words.open = True
        return words.closed() if found and (words.words or not words.numbers) else None

    def _part(self, module: Module, part: ast.expr, around: frozenset[Key]) -> Words | None:
        words = Words()
        if is_none(part):
            words.optional = True
            return words
        if is_literal(part):
            self._literal(module, part, words, around)
            return words
        name = dotted(part)
        found = self.modules.resolve(module, name) if name else None
        if found is None:
            return None
        if found.key in around:
            return words
        is_class = isinstance(found.node, ast.ClassDef)
        inner = self.of_class(found) if is_class else self.of_alias(found, around)
        return inner.named_on(part.lineno) if inner is not None else None

    def _literal(
        self, module: Module, node: ast.expr, words: Words, around: frozenset[Key]
    ) -> None:
        assert isinstance(node, ast.Subscript)
        for element in elements(node):
            if isinstance(element, ast.Constant) and not _broken(element):
                self._constant(element, words)
            elif is_literal(element):
                self._literal(module, element, words, around)
            elif not self._named(module, element, words, around):
                self._fault(module, element, f"`{_text(element)}` in a Literal is not a constant")

    def _constant(self, node: ast.Constant, words: Words) -> None:
        text = constant(node)
        if text is not None:
            words.words.append(Word(text, None, node.lineno))
        elif node.value is None:
            words.optional = True
        else:
            words.numbers += 1

    def _named(self, module: Module, node: ast.expr, words: Words, around: frozenset[Key]) -> bool:
        """Add what a name inside a Literal stands for: a member, or another Literal."""
        name = dotted(node)
        if name is None:
            return False
        found = self.modules.resolve(module, name)
        inner = self.of_alias(found, around) if found else None
        if inner is not None:
            words.add(inner.named_on(node.lineno))
            return True
        value = self.member(module, name)
        if value is not None:
            words.words.append(Word(value, None, node.lineno))
        return value is not None

    def member(self, module: Module, name: str) -> str | None:
        """Return the value of an enum's member such as `Reason.ERROR`."""
        owner, _, member = name.rpartition(".")
        base = self.modules.resolve(module, owner) if owner else None
        enum = self.of_class(base) if base else None
        hits = [word.value for word in enum.words if word.member == member] if enum else []
        return hits[0] if hits else None

    def _kind(self, found: Definition, hops: int) -> str | None:
        """Return the enum base that a class goes back to, None for any other class."""
        if not isinstance(found.node, ast.ClassDef) or hops == 0:
            return None
        for base in found.node.bases:
            name = last(base)
            target = self.modules.resolve(found.module, dotted(base) or "")
            if target is None and name in ENUMS | _NUMBERS:
                return name
            kind = self._kind(target, hops - 1) if target else None
            if kind is not None:
                return kind
        return None

    def _member(
        self, module: Module, node: ast.stmt, kind: str, words: Words, values: dict[str, str]
    ) -> None:
        target, value = _assigned(node)
        if target is None:
            if not (isinstance(node, _HARMLESS) or _is_docs(node)):
                self._fault(module, node, "members of an enum that are not constants by name")
            return
        if target == "_ignore_":
            self._fault(module, node, "an enum that takes members away again")
        if target.startswith("_") or value is None:
            return
        text = constant(value)
        if text is not None:
            pass
        elif isinstance(value, ast.Call) and last(value.func) == "auto" and kind == "StrEnum":
            text = target.lower()
        elif isinstance(value, ast.Name) and value.id in values:
            return
        elif (_is_number(value) or kind in _NUMBERS) and not _broken(value):
            words.numbers += 1
            return
        else:
            self._fault(module, value, f"the value of {target} is computed")
            return
        values[target] = text
        words.words.append(Word(text, target, node.lineno))

    def _fault(self, module: Module, node: ast.AST, message: str) -> None:
        self.faults.unreadable(self.modules.span(module, node), Rule.SDK_ENUM, message)


def _assigned(node: ast.stmt) -> tuple[str | None, ast.expr | None]:
    if isinstance(node, ast.Assign) and all(isinstance(item, ast.Name) for item in node.targets):
        assert isinstance(node.targets[0], ast.Name)
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return None, None


def _broken(node: ast.expr) -> bool:
    """Whether an expression is a string that is no text."""
    text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return text and constant(node) is None


def _is_docs(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and last(value.func) == "auto":
        return True
    return isinstance(value, ast.Constant)


def _text(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."
