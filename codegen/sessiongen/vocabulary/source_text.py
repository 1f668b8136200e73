"""What an expression takes from the SDK: the path of a value, and what happens to it.

Both languages describe the expressions that fill the fields of messages with these values.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sessiongen.vocabulary.model import FieldSource, Place

# Methods and functions that change a value, or return only a part of it.
CHANGING = {
    "at",
    "bool",
    "Boolean",
    "casefold",
    "charAt",
    "concat",
    "count",
    "endsWith",
    "endswith",
    "every",
    "filter",
    "find",
    "findLast",
    "includes",
    "indexOf",
    "isNaN",
    "len",
    "lower",
    "partition",
    "pop",
    "removeprefix",
    "removesuffix",
    "replace",
    "replaceAll",
    "reverse",
    "reversed",
    "shift",
    "slice",
    "some",
    "sort",
    "sorted",
    "split",
    "splitlines",
    "startsWith",
    "startswith",
    "substr",
    "substring",
    "title",
    "toLowerCase",
    "toReversed",
    "toSorted",
    "toUpperCase",
    "truncate",
    "upper",
}


class SourceText(NamedTuple):
    """The source of a value.

    path: the names after the parameter or object that it begins with; empty for that itself.
    constant: the text of a constant; "" for any other value.
    factor: what the value is multiplied by. condition: the condition under which it is sent.
    change: what else changes the value, as it is written.
    root: the parameter that it begins with, if it does.
    """

    path: tuple[str, ...] = ()
    constant: str = ""
    factor: float = 1.0
    condition: str = ""
    change: str = ""
    root: str = ""

    @property
    def is_value(self) -> bool:
        """Whether this is a value of the SDK."""
        return bool(self.path or self.root)

    def member(self, name: str) -> SourceText:
        """Returns the source of a member of this value."""
        return self._replace(path=(*self.path, name))

    def times(self, factor: float) -> SourceText:
        """Returns the source of the value multiplied by a number."""
        return self._replace(factor=self.factor * factor)

    def changed(self, how: str) -> SourceText:
        """Returns the source of a value that is changed in a way that is not followed."""
        return self if self.change else self._replace(change=" ".join(how.split()))

    def only_if(self, conditions: Iterable[str]) -> SourceText:
        """Returns the source of a value that is used under conditions.

        A condition on the value itself only says that there may be none.
        """
        others = [item for item in conditions if not _is_about(item, self)]
        if self.condition or not others:
            return self
        return self._replace(condition=" ".join(others[-1].split()))

    def through(self, function: str) -> SourceText:
        """Returns the source of the result of a function, by whose name units are converted.

        `msToDuration` and `ms_to_seconds` take milliseconds.
        """
        is_milliseconds = bool(self.path) and self.path[-1].lower().endswith("ms")
        # A value in seconds is too small by a factor of 1000, whether or not it is converted.
        is_seconds = bool(self.path) and re.search(r"(InS|_s|[sS]econds)$", self.path[-1])
        converts = is_milliseconds or is_seconds or self.factor == 1000
        return self.times(1e-3) if takes_milliseconds(function) and converts else self

    def of_field(self, message: str, field: str, within: str, place: Place) -> FieldSource:
        """Returns this source as that of a field which a function fills."""
        path = ".".join(self.path)
        parameter = "" if path or self.constant else self.root
        value = (path, self.constant, self.factor, self.condition, self.change, parameter)
        return FieldSource(message, field, within, place, *value)

    def inside(self, argument: SourceText) -> SourceText:
        """Returns the source of the result of a function whose parameter is given an argument.

        This value is what the function returns.
        """
        result = argument._replace(path=argument.path + self.path).times(self.factor)
        result = result.changed(self.change) if self.change else result
        return result.only_if([self.condition]) if self.condition else result


def takes_milliseconds(function: str) -> bool:
    """Whether the name of a function, such as `msToDuration`, says that it takes milliseconds."""
    return re.match(r"ms(_|[A-Z])", function) is not None


def chosen(
    condition: str, first: SourceText | None, second: SourceText | None
) -> SourceText | None:
    """Returns the source of a value that is one of two, by a condition."""
    kept = [item for item in (first, second) if item is not None and item.is_value]
    if len(kept) != 1:
        return first if first == second else None
    return kept[0].only_if([condition])


def only(items: Sequence[SourceText | None]) -> SourceText | None:
    """Returns the one source which has a path, or else the one which is a parameter."""
    kept = [item for item in items if item is not None]
    for values in ([item for item in kept if item.path], [item for item in kept if item.is_value]):
        if values:
            return values[0] if len(values) == 1 else None
    return None


def one_of(values: Sequence[tuple[SourceText | None, Iterable[str]]]) -> SourceText | None:
    """Returns the source of a variable that is assigned these values, each under conditions.

    An empty value is a default, which is sent if the other one is missing; its source has no path.
    """
    kept = []
    for source, conditions in values:
        if source is None:
            return None
        if source.is_value:
            kept.append(source.only_if(conditions) if len(values) > 1 else source)
    if len(values) == 1:
        return values[0][0]
    if len({item._replace(condition="") for item in kept}) != 1:
        return None
    return kept[0] if len(kept) == 1 else kept[0]._replace(condition="")


def mentions(condition: str, names: Iterable[str]) -> bool:
    """Whether a condition contains one of these dotted names itself, not only a member of it."""
    plain = condition.replace("?.", ".").replace("!.", ".")
    prefixes = "|".join(map(re.escape, names))
    return bool(prefixes) and re.search(rf"(?<!\w)({prefixes})(?![\w.])", plain) is not None


def _is_about(condition: str, source: SourceText) -> bool:
    """Whether a condition concerns a value, or what contains it."""
    names = [".".join(source.path[:end]) for end in range(1, len(source.path) + 1)]
    names += [source.root] if source.root and not source.path else []
    return mentions(condition, names)
