"""Collects the values that a Python function gives to its variables."""

from __future__ import annotations

import ast

from sessiongen.vocabulary.python.conditions import Conditions, are_exclusive, conditions_of

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# The methods of Timestamp and Duration that take a number, with the units in a second.
UNITS = {
    "FromNanoseconds": 1e9,
    "FromMicroseconds": 1e6,
    "FromMilliseconds": 1e3,
    "FromSeconds": 1.0,
    "FromTimedelta": 1.0,
    "FromDatetime": 1.0,
}


class FunctionValues:
    """The values of the variables of one function. parameters: the names of its parameters."""

    def __init__(self, function: ast.AST | None) -> None:
        self._function = function
        self.parameters = set(parameters_of(function))
        # The variables of loops and comprehensions.
        self._targets: set[str] = set()
        self._values: dict[str, list[ast.expr]] = {}
        self._conversions: dict[str, list[tuple[ast.expr, float]]] = {}
        self._conditions: dict[int, Conditions] | None = None
        for node in ast.walk(function) if function is not None else ():
            if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
                self._assignment(node)
            elif isinstance(node, ast.comprehension):
                self._targets |= {it.id for it in ast.walk(node.target) if isinstance(it, ast.Name)}
            elif isinstance(node, ast.Match):
                self._patterns(node)
            elif isinstance(node, ast.For):
                self._loop(node)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner, unit = node.func.value, UNITS.get(node.func.attr)
                if isinstance(owner, ast.Name) and unit is not None and node.args:
                    self._conversions.setdefault(owner.id, []).append((node.args[0], unit))
                elif isinstance(owner, ast.Name) and node.func.attr == "GetCurrentTime":
                    self._values.setdefault(owner.id, []).append(node)

    def conditions(self) -> dict[int, Conditions]:
        """Returns the conditions of each node of the function by the node's id."""
        if self._conditions is None:
            self._conditions = conditions_of(self._function) if self._function is not None else {}
        return self._conditions

    def has(self, name: str) -> bool:
        """Whether a name is a parameter or a variable."""
        return name in self.parameters or name in self._values or name in self._targets

    def of(self, node: ast.Name) -> list[ast.expr]:
        """Returns the values that a variable may have where a node reads it."""
        return self.reaching(node, self._values.get(node.id, []))

    def conversion(self, node: ast.Name) -> tuple[ast.expr, float] | None:
        """Returns the number that the Timestamp or Duration in a variable is made from, and its unit.

        None is returned if there is not exactly one.
        """
        known = self._conversions.get(node.id, [])
        reaching = self.reaching(node, [item for item, _ in known])
        if len(reaching) != 1:
            return None
        return next(item for item in known if item[0] is reaching[0])

    def _assignment(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and node.value is not None:
                self._values.setdefault(target.id, []).append(node.value)
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for part, value in zip(target.elts, node.value.elts):
                    if isinstance(part, ast.Name):
                        self._values.setdefault(part.id, []).append(value)

    def _loop(self, loop: ast.For) -> None:
        """Records the list of a loop as a value of each variable that it appends to."""
        self._targets |= {it.id for it in ast.walk(loop.target) if isinstance(it, ast.Name)}
        for node in ast.walk(loop):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                owner = node.func.value
                if node.func.attr == "append" and isinstance(owner, ast.Name):
                    self._values.setdefault(owner.id, []).append(loop.iter)

    def _patterns(self, node: ast.Match) -> None:
        """Records the names that class patterns give to attributes of the subject."""
        queue = [(node.subject, case.pattern) for case in node.cases]
        while queue:
            subject, pattern = queue.pop()
            if isinstance(pattern, ast.MatchAs):
                if pattern.name is not None:
                    self._values.setdefault(pattern.name, []).append(subject)
                queue += [(subject, pattern.pattern)] if pattern.pattern is not None else []
            elif isinstance(pattern, ast.MatchOr):
                queue += [(subject, item) for item in pattern.patterns]
            elif isinstance(pattern, ast.MatchClass):
                attributes = zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True)
                queue += [
                    (ast.Attribute(subject, name, ast.Load()), inner) for name, inner in attributes
                ]

    def reaching(self, node: ast.Name, values: list[ast.expr]) -> list[ast.expr]:
        """Returns the values of a variable that are not those of another branch than a node's."""
        if len(values) < 2 or self._function is None:
            return values
        known = self.conditions()
        here = known.get(id(node), ())
        return [
            value for value in values if not are_exclusive(known.get(id(value), ()), here)
        ] or values


def parameters_of(function: ast.AST | None) -> list[str]:
    """Returns the names of the parameters of a function, without `self`."""
    if not isinstance(function, (*_FUNCTIONS, ast.Lambda)):
        return []
    items = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return [item.arg for item in items if item.arg not in {"self", "cls"}]
