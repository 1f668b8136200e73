"""Reads overrides: handwritten encoders for single fields.

The module of overrides is parsed and not run. It has one table, `OVERRIDES`, from the path of a
field (`Report.content`, preceded by the outer messages) to a function of the module, which
takes a source and the message to fill::

    OVERRIDES = {"Report.content": fill_content}

The override of an arm of a TaggedOneof takes the source of the arm.
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
    """A module of overrides. functions, spans: the function and the position of each field."""

    text: str = ""
    functions: dict[str, str] = field(default_factory=dict)
    spans: dict[str, Span] = field(default_factory=dict)

    def faults(self, known: Iterable[str]) -> list[Diagnostic]:
        """Returns a fault for each override of an unknown or ambiguous field.

        known: the paths of all encoded fields; equal paths of several fields are repeated.
        """
        fields = Counter(known)
        return [
            fault
            for name, span in self.spans.items()
            if fields[name] != 1
            for fault in [
                _ambiguous_field(span, name) if fields[name] else _unknown_field(span, name, fields)
            ]
        ]


def _unknown_field(span: Span, name: str, fields: Iterable[str]) -> Diagnostic:
    close = get_close_matches(name, fields, 1)
    help_ = f"did you mean {close[0]!r}?" if close else "remove it from the table"
    fault = f"the override names {name!r}, which is in no event or response"
    return _fault(span, fault, help_)


def _ambiguous_field(span: Span, name: str) -> Diagnostic:
    fault = f"the override names {name!r}, which is ambiguous: several proto packages have it"
    return _fault(span, fault, "rename one of the messages in the .proto")


def load(path: Path | None) -> Overrides:
    """Returns the overrides in a module; none without a module.

    Raises:
        InputError: the module cannot be read, or its table is not valid.
    """
    if path is None:
        return Overrides()
    text, tree = _parse(path)
    return _OverridesReader(path, text, tree).read()


def _parse(path: Path) -> tuple[str, ast.Module]:
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        tree = ast.parse(text)
        # Finds further errors, such as a repeated parameter.
        compile(text, path.name, "exec", dont_inherit=True)
        return text, tree
    except SyntaxError as error:
        span = Span(display(path), error.lineno or 1, error.offset or 1)
        fault = _fault(span, f"the overrides are not Python: {error.msg}", "fix the module")
    except (OSError, ValueError, RecursionError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        fault = Diagnostic(
            Span(display(path)),
            Rule.UNREADABLE,
            f"cannot read the overrides: {reason}",
            "name a readable UTF-8 file in output.overrides",
        )
    raise InputError([fault])


class _OverridesReader:
    def __init__(self, path: Path, text: str, tree: ast.Module) -> None:
        self.path = path
        self.text = text
        # Unlike str.splitlines, Python ends a line only at a line feed.
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
                self._report(key, f"a second override of {name!r}", "remove one of the two")
            functions[name] = function
            spans[name] = self._span(key)
        if self.faults:
            raise InputError(self.faults)
        return Overrides(self.text, functions, spans)

    def _entries(self) -> Iterator[tuple[ast.expr, ast.expr]]:
        tables = [item for item in self.tree.body if TABLE in _targets(item)]
        if not tables:
            self._report(None, f"no table {TABLE}", _FORM)
        for use in self._uses()[1:]:
            # The module is not run, so later changes of the table would be ignored.
            self._report(use, f"{TABLE} is used a second time", "assign the complete table once")
        for table in tables[:1]:
            value = getattr(table, "value", None)
            if not isinstance(value, ast.Dict):
                self._report(table, f"{TABLE} is not a dict display", _FORM)
                continue
            for key, item in zip(value.keys, value.values, strict=True):
                if key is None:
                    self._report(item, f"{TABLE} has entries from another dict", _FORM)
                else:
                    yield key, item

    def _uses(self) -> list[ast.Name]:
        names = (item for item in ast.walk(self.tree) if isinstance(item, ast.Name))
        uses = [item for item in names if item.id == TABLE]
        return sorted(uses, key=lambda item: (item.lineno, item.col_offset))

    def _name(self, key: ast.expr) -> str:
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            return key.value
        self._report(key, "the name of a field is not a string", _FORM)
        return ""

    def _function(self, value: ast.expr) -> str:
        name = value.id if isinstance(value, ast.Name) else ""
        definition = self.defined.get(name)
        if definition is None:
            self._report(value, "the override is not a function of this module", _FORM)
        elif not _takes_two(definition.args):
            help_ = "give it two parameters, the source and the message to fill"
            self._report(definition, f"{name} does not take a source and a message", help_)
        elif any(isinstance(item, (ast.Yield, ast.YieldFrom)) for item in _own_nodes(definition)):
            self._report(
                definition, f"{name} is a generator, which a call does not run", "do not yield"
            )
        return name

    def _span(self, node: ast.AST | None) -> Span:
        line = getattr(node, "lineno", 1)
        # ast counts bytes, positions count characters.
        before = self.lines[line - 1].encode()[: getattr(node, "col_offset", 0)]
        return Span(display(self.path), line, len(before.decode()) + 1)

    def _report(self, node: ast.AST | None, message: str, help_: str) -> None:
        self.faults.append(_fault(self._span(node), message, help_))


def _takes_two(arguments: ast.arguments) -> bool:
    names = arguments.posonlyargs + arguments.args
    more = arguments.vararg or arguments.kwarg or arguments.kwonlyargs
    return len(names) == 2 and not more


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yields the nodes of a function, without those of functions inside it."""
    pending: list[ast.AST] = list(function.body)
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            pending += ast.iter_child_nodes(node)


def _targets(statement: ast.stmt) -> list[str]:
    targets: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    return [item.id for item in targets if isinstance(item, ast.Name)]


def _fault(span: Span, message: str, help_: str) -> Diagnostic:
    return Diagnostic(span, Rule.OVERRIDE, message, help_)
