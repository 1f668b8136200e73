"""The limit on the nesting of values that a session puts into a Struct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from google.protobuf.struct_pb2 import ListValue, Struct

MAX_NESTING: Final = 30
"""The deepest nesting of a debug message, and of the statistics of a room connection.

protobuf parses 100 levels of messages, and each level of a Struct consists of three.
"""


def exceeds_nesting(value: Any, max_levels: int = MAX_NESTING) -> bool:
    """Reports whether a Struct, or a mapping for one, has more than `max_levels` nested levels.

    None has no level.
    """
    level: Sequence[Any] = [] if value is None else [value]
    while level and max_levels:
        level = [child for parent in level for child in _children(parent)]
        max_levels -= 1
    return bool(level)


def _children(parent: Any) -> Iterator[Any]:
    """Yields the values inside of a value that have values themselves."""
    if isinstance(parent, (Struct, ListValue)):
        values = parent.fields.values() if isinstance(parent, Struct) else parent.values
        for value in values:
            if value.HasField("struct_value"):
                yield value.struct_value
            elif value.HasField("list_value"):
                yield value.list_value
    else:
        for value in parent.values() if isinstance(parent, Mapping) else parent:
            if isinstance(value, (Mapping, list, tuple)):
                yield value
