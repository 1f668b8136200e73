"""Overrides: handwritten encoders for single fields.

The module of overrides is read and never run. It holds one table, `OVERRIDES`, from the name of a
field (`ChatMessage.content`, preceded by the outer messages) to a function of the module, which
takes a source and the message to fill::

    OVERRIDES = {"ChatMessage.content": fill_content}

The override of an arm that is chosen by the `type` of its source takes that source.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display

TABLE = "OVERRIDES"
_FORM = 'write it as OVERRIDES = {"Message.field": function}'


@dataclass(frozen=True)
class Overrides:
    """A module of overrides. functions: function by field name; spans: where each stands."""

    text: str = ""
    functions: dict[str, str] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)

    def faults(self, known: Iterable[str]) -> list[Diagnostic]:
        """Return a fault for each override of a field that nothing encodes, or of several.

        known: the names of all fields that are encoded; one that several share stands in it
            as often.
        """
        fields = Counter(known)
        return [
            fault
            for name, span in self.spans.items()
            if fields[name] != 1
            for fault in [_several(span, name) if fields[name] else _nothing(span, name, fields)]
        ]


def _nothing(span: Span, name: str, fields: Iterable[str]) -> Diagnostic:
    close = get_close_matches(name, fields, 1)
    help_ = f"did you mean {close[0]!r}?" if close else "remove it from the table"
    fault = f"the override names {name!r}, which no event or response carries"
    return _fault(span, fault, help_)


def _several(span: Span, name: str) -> Diagnostic:
    fault = f"the override names {name!r}, which messages of several proto packages have"
    return _fault(span, fault, "rename one of the messages in the .proto")


def load(path: Path | None) -> Overrides:
    """Read a module of overrides; without one there are none.

    Raises:
        InputError: the module cannot be read, or its table is not one.
    """
    if path is None:
        return Overrides()
    text, tree = _parse(path)
    return _Reader(path, text, tree).read()


def _parse(path: Path) -> tuple[str, ast.Module]:
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        return text, ast.parse(text)
    except SyntaxError as error:
        span = Span(display(path), error.lineno or 1, error.offset or 1)
        fault = _fault(span, f"the overrides are not Python: {error.msg}", "mend the module")
    except (OSError, ValueError, RecursionError) as error:
        what = error.strerror if isinstance(error, OSError) else str(error)
        fault = Diagnostic(
            Span(display(path)),
            Rule.UNREADABLE,
            f"cannot read the overrides: {what}",
            "name a readable UTF-8 file in output.overrides",
        )
    raise InputError([fault])


class _Reader:
    def __init__(self, path: Path, text: str, tree: ast.Module) -> None:
        self.path = path
        self.text = text
        # As Python counts lines, for which a form feed ends none.
        self.lines = text.split("\n")
        self.tree = tree
        self.faults: list[Diagnostic] = []
        self.defined = {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef)}

    def read(self) -> Overrides:
        functions: dict[str, str] = {}
        spans: dict[str, Span] = {}
        for key, value in self._entries():
            name, function = self._name(key), self._function(value)
            if name in spans:
                self._add(key, f"a second override of {name!r}", "remove one of the two")
            functions[name] = function
            spans[name] = self._span(key)
        if self.faults:
            raise InputError(self.faults)
        return Overrides(self.text, functions, spans)

    def _entries(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        tables = [item for item in self.tree.body if TABLE in _targets(item)]
        if not tables:
            self._add(None, f"no table {TABLE}", _FORM)
        for use in self._uses()[1:]:
            # Nothing runs here, so that what is added to the table would be lost.
            self._add(use, f"{TABLE} is spoken of a second time", "write it down once, whole")
        for table in tables[:1]:
            value = getattr(table, "value", None)
            if not isinstance(value, ast.Dict):
                self._add(table, f"{TABLE} is no dict that can be read", _FORM)
                continue
            for key, item in zip(value.keys, value.values, strict=True):
                if key is None:
                    self._add(item, f"{TABLE} takes entries from elsewhere", _FORM)
                else:
                    yield key, item

    def _uses(self) -> list[ast.Name]:
        names = (item for item in ast.walk(self.tree) if isinstance(item, ast.Name))
        found = [item for item in names if item.id == TABLE]
        return sorted(found, key=lambda item: (item.lineno, item.col_offset))

    def _name(self, key: ast.expr) -> str:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value
        self._add(key, "the name of a field is not a string", _FORM)
        return ""

    def _function(self, value: ast.expr) -> str:
        name = value.id if isinstance(value, ast.Name) else ""
        found = self.defined.get(name)
        if found is None:
            self._add(value, "the override is no function of this module", _FORM)
        elif not _takes_two(found.args):
            help_ = "give it two parameters, the source and the message to fill"
            self._add(found, f"{name} does not take a source and a message", help_)
        elif any(isinstance(item, (ast.Yield, ast.YieldFrom)) for item in _own(found)):
            self._add(found, f"{name} is a generator, which a call does not run", "do not yield")
        return name

    def _span(self, node: ast.AST | None) -> Span:
        line = getattr(node, "lineno", 1)
        # ast counts bytes, people count characters.
        before = self.lines[line - 1].encode()[: getattr(node, "col_offset", 0)]
        return Span(display(self.path), line, len(before.decode()) + 1)

    def _add(self, node: ast.AST | None, message: str, help_: str) -> None:
        self.faults.append(_fault(self._span(node), message, help_))


def _takes_two(arguments: ast.arguments) -> bool:
    names = arguments.posonlyargs + arguments.args
    more = arguments.vararg or arguments.kwarg or arguments.kwonlyargs
    return len(names) == 2 and not more


def _own(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield what a function holds, without what functions inside it hold."""
    todo: list[ast.AST] = list(function.body)
    while todo:
        node = todo.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            todo += ast.iter_child_nodes(node)


def _targets(statement: ast.stmt) -> list[str]:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [item.id for item in targets if isinstance(item, ast.Name)]


def _fault(span: Span, message: str, help_: str) -> Diagnostic:
    return Diagnostic(span, Rule.OVERRIDE, message, help_)
