"""The text of a vector file: JSON with a line for each value of an entry.

A change of the protocol is then a diff of single lines, and each message's JSON stays on one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

Entry = Mapping[str, object]


def json_file(header: Mapping[str, object], name: str, entries: Sequence[Entry]) -> str:
    """Returns the text of a file: the values of a header, then a list of entries."""
    values = "".join(f"  {_pair(key, value)},\n" for key, value in header.items())
    listed = ",\n".join(_entry(entry) for entry in entries)
    inside = f"\n{listed}\n  " if listed else ""
    return f"{{\n{values}  {json.dumps(name)}: [{inside}]\n}}\n"


def _entry(entry: Entry) -> str:
    lines = ",\n".join(f"      {_pair(key, value)}" for key, value in entry.items())
    return f"    {{\n{lines}\n    }}"


def _pair(key: str, value: object) -> str:
    return f"{json.dumps(key)}: {json.dumps(value)}"
