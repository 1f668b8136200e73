"""Overrides: the few encoders of fields that are written by hand.

In: the path of a Python module, which is read and not run. Out: its text, and the
function that fills each field that its table names, or a Refusal.

The module holds one table, `OVERRIDES`, from a field's name (`ChatMessage.content`, the
message's outer messages in front) to a function of the module, which takes a source and
the message to fill::

    OVERRIDES = {"ChatMessage.content": fill_content}
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from sessiongen.diagnostics import Diagnostic, Refusal, Rule, Span
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
        """Return a fault for each override of a field that nothing encodes."""
        fields = list(known)
        return [
            _fault(span, f"the override names {name!r}, which no event or response carries", help_)
            for name, span in self.spans.items()
            if name not in fields
            for close in [get_close_matches(name, fields, 1)]
            for help_ in [f"did you mean {close[0]!r}?" if close else "remove it from the table"]
        ]


def load(path: Path | None) -> Overrides:
    """Read a module of overrides; without one there are none.

    Raises:
        Refusal: the module cannot be read, or its table is not one.
    """
    if path is None:
        return Overrides()
    text, tree = _parse(path)
    return _Reader(path, tree).read(text)


def _parse(path: Path) -> tuple[str, ast.Module]:
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
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
    raise Refusal([fault])


class _Reader:
    def __init__(self, path: Path, tree: ast.Module) -> None:
        self.path = path
        self.tree = tree
        self.faults: list[Diagnostic] = []
        self.defined = {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef)}

    def read(self, text: str) -> Overrides:
        functions: dict[str, str] = {}
        spans: dict[str, Span] = {}
        for key, value in self._entries():
            name, function = self._name(key), self._function(value)
            if name in spans:
                self._add(key, f"a second override of {name!r}", "remove one of the two")
            functions[name] = function
            spans[name] = self._span(key)
        if self.faults:
            raise Refusal(self.faults)
        return Overrides(text, functions, spans)

    def _entries(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        tables = [item for item in self.tree.body if TABLE in _targets(item)]
        if len(tables) != 1:
            where = tables[1] if tables else None
            self._add(where, f"{'several tables' if tables else 'no table'} {TABLE}", _FORM)
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
        elif len(found.args.posonlyargs + found.args.args) != 2:
            help_ = "give it two parameters, the source and the message to fill"
            self._add(found, f"{name} does not take a source and a message", help_)
        return name

    def _span(self, node: ast.AST | None) -> Span:
        line = getattr(node, "lineno", 1)
        return Span(display(self.path), line, getattr(node, "col_offset", 0) + 1)

    def _add(self, node: ast.AST | None, message: str, help_: str) -> None:
        self.faults.append(_fault(self._span(node), message, help_))


def _targets(statement: ast.stmt) -> list[str]:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [item.id for item in targets if isinstance(item, ast.Name)]


def _fault(span: Span, message: str, help_: str) -> Diagnostic:
    return Diagnostic(span, Rule.OVERRIDE, message, help_)
