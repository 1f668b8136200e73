"""Sets of words in Python: Enum classes and Literal types.

In: a class, an alias's value or an annotation. Out: the words, or None where it is no set
of words; a part that is not a constant is a fault at its place.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.faults import Faults
from sessiongen.vocabulary.model import Word
from sessiongen.vocabulary.python.modules import Definition, Module, Modules

ENUMS = {"Enum", "StrEnum"}
_NUMBERS = {"IntEnum", "Flag", "IntFlag"}
# Forms whose first argument is the type and the rest is not.
_WRAPPERS = {"Annotated", "Required", "NotRequired", "ReadOnly", "Final"}
_HOPS = 20


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

    def named_on(self, line: int) -> Words:
        """Return the set as a name on a line stands for it, in a file of its own."""
        return replace(self, words=[replace(word, line=line) for word in self.words])


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


class WordReader:
    """Reads sets of words, following names through the package."""

    def __init__(self, modules: Modules, faults: Faults) -> None:
        self.modules = modules
        self.faults = faults

    def of_class(self, found: Definition) -> Words | None:
        """Return the members of an Enum class of strings; None for any other class."""
        kind = self._kind(found, _HOPS)
        if kind is None or not isinstance(found.node, ast.ClassDef):
            return None
        words = Words()
        values: dict[str, str] = {}
        for statement in found.node.body:
            self._member(found.module, statement, kind, words, values)
        if words.words and words.numbers:
            self._fault(found.module, found.node, f"{found.name} has values that are no strings")
        return words if words.words or not words.numbers else None

    def of_alias(self, found: Definition, hops: int = _HOPS) -> Words | None:
        """Return the words of an alias such as `X = Literal[...]`; None if it has none."""
        value = found.value
        if value is None or hops == 0:
            return None
        words = Words()
        for part in alternatives(value):
            inner = self._part(found.module, part, hops)
            if inner is None:
                words.open = True
            else:
                words.add(inner)
        return words if words.words else None

    def of_field(self, module: Module, annotation: ast.expr) -> Words | None:
        """Return the words that an annotation itself spells out; None if it has none."""
        words, found = Words(), False
        for part in alternatives(annotation):
            if is_literal(part):
                found = True
                self._literal(module, part, words, _HOPS)
            elif is_none(part):
                words.optional = True
            else:
                words.open = True
        return words if found and (words.words or not words.numbers) else None

    def _part(self, module: Module, part: ast.expr, hops: int) -> Words | None:
        words = Words()
        if is_none(part):
            words.optional = True
            return words
        if is_literal(part):
            self._literal(module, part, words, hops)
            return words
        name = dotted(part)
        found = self.modules.resolve(module, name) if name else None
        if found is None:
            return None
        is_class = isinstance(found.node, ast.ClassDef)
        inner = self.of_class(found) if is_class else self.of_alias(found, hops - 1)
        return inner.named_on(part.lineno) if inner is not None else None

    def _literal(self, module: Module, node: ast.expr, words: Words, hops: int) -> None:
        assert isinstance(node, ast.Subscript)
        for element in elements(node):
            if isinstance(element, ast.Constant):
                self._constant(element, words)
            elif is_literal(element) and hops:
                self._literal(module, element, words, hops - 1)
            elif not self._named(module, element, words, hops):
                self._fault(module, element, f"`{_text(element)}` in a Literal is not a constant")

    def _constant(self, node: ast.Constant, words: Words) -> None:
        if isinstance(node.value, str):
            words.words.append(Word(node.value, None, node.lineno))
        elif node.value is None:
            words.optional = True
        else:
            words.numbers += 1

    def _named(self, module: Module, node: ast.expr, words: Words, hops: int) -> bool:
        """Add what a name inside a Literal stands for: a member, or another Literal."""
        name = dotted(node)
        if name is None or hops == 0:
            return False
        found = self.modules.resolve(module, name)
        if found is not None and not isinstance(found.node, ast.ClassDef):
            inner = self.of_alias(found, hops - 1)
            if inner is not None:
                words.add(inner.named_on(node.lineno))
            return inner is not None
        owner, _, member = name.rpartition(".")
        base = self.modules.resolve(module, owner) if owner else None
        enum = self.of_class(base) if base else None
        hits = [word for word in enum.words if word.member == member] if enum else []
        words.words += [Word(word.value, None, node.lineno) for word in hits]
        return bool(hits)

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
            if isinstance(node, (ast.If, ast.For, ast.While, ast.Try, ast.With)):
                self._fault(module, node, "members of an enum that depend on a condition")
            return
        if target.startswith("_") or value is None:
            return
        if isinstance(value, ast.Constant) and isinstance(value.value, str):
            text = value.value
        elif isinstance(value, ast.Call) and last(value.func) == "auto" and kind == "StrEnum":
            text = target.lower()
        elif isinstance(value, ast.Name) and value.id in values:
            return
        elif _is_number(value) or kind in _NUMBERS:
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
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return None, None


def _is_number(value: ast.expr) -> bool:
    if isinstance(value, ast.Call) and last(value.func) == "auto":
        return True
    return isinstance(value, ast.Constant)


def _text(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else text[:57] + "..."
