"""What an expression takes from the SDK: the path of a value, and what happens to it.

Both languages describe the expressions that fill the fields of messages with these values.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class SourceText(NamedTuple):
    """The source of a value.

    path: the names after the parameter or object that it begins with; empty for that itself.
    constant: the text of a constant; "" for any other value.
    factor: what the value is multiplied by. condition: the condition under which it is sent.
    """

    path: tuple[str, ...] = ()
    constant: str = ""
    factor: float = 1.0
    condition: str = ""

    def member(self, name: str) -> SourceText:
        """Returns the source of a member of this value."""
        return self._replace(path=(*self.path, name))

    def times(self, factor: float) -> SourceText:
        """Returns the source of the value multiplied by a number."""
        return self._replace(factor=self.factor * factor)

    def through(self, function: str) -> SourceText:
        """Returns the source of the result of a function, by whose name units are converted.

        `msToDuration` and `ms_to_seconds` take milliseconds.
        """
        is_milliseconds = bool(self.path) and self.path[-1].lower().endswith("ms")
        takes_milliseconds = re.match(r"ms(_|[A-Z])", function) is not None
        converts = is_milliseconds or self.factor == 1000
        return self.times(1e-3) if takes_milliseconds and converts else self


def chosen(
    condition: str, first: SourceText | None, second: SourceText | None
) -> SourceText | None:
    """Returns the source of a value that is one of two, by a condition.

    A condition on the value itself only says that there may be none.
    """
    kept = [item for item in (first, second) if item is not None and item.path]
    if len(kept) != 1:
        return first if first == second else None
    plain = condition.replace("?.", ".").replace("!.", ".")
    return kept[0] if _tests(plain, kept[0].path) else kept[0]._replace(condition=condition)


def _tests(condition: str, path: tuple[str, ...]) -> bool:
    """Whether a condition concerns the value at a path, or what contains it."""
    prefixes = (re.escape(".".join(path[:end])) for end in range(1, len(path) + 1))
    return re.search(rf"(?<!\w)({'|'.join(prefixes)})(?![\w.])", condition) is not None


def only(items: list[SourceText | None]) -> SourceText | None:
    """Returns the source of a call: that of the one argument which has a path."""
    kept = [item for item in items if item is not None and item.path]
    return kept[0] if len(kept) == 1 else None
