"""The messages and enums in the protobuf package that an SDK depends on.

They are kept at the lowest version that the SDK allows and at the newest, beside the vocabulary:
`NAME.messages.json` beside `NAME.json`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display

_HELP = "write the file again with `sessiongen vocabulary packages`"

Numbers = Mapping[str, int]


class PublishedMessages(NamedTuple):
    """One version of a protobuf package.

    messages, enums: by path without the proto package, the number of each field or value.
    """

    version: str
    messages: Mapping[str, Numbers]
    enums: Mapping[str, Numbers]


class ProtobufPackage(NamedTuple):
    """The protobuf package of an SDK: its lowest allowed and its newest version, in this order."""

    distribution: str
    versions: tuple[PublishedMessages, ...]


def messages_file(vocabulary: Path) -> Path:
    """Returns the path of the file that belongs to a vocabulary file."""
    return vocabulary.with_suffix(".messages.json")


def dump(package: ProtobufPackage) -> str:
    """Returns the text of a file, with a message in each line."""
    head = f'{{\n  "distribution": {json.dumps(package.distribution)},\n  "versions": [\n'
    return head + ",\n".join(map(_version_text, package.versions)) + "\n  ]\n}\n"


def _version_text(published: PublishedMessages) -> str:
    tables = [
        f'      "{name}": {{\n'
        + ",\n".join(f"        {json.dumps(key)}: {json.dumps(table[key])}" for key in table)
        + "\n      }"
        for name, table in (("enums", published.enums), ("messages", published.messages))
    ]
    version = f'      "version": {json.dumps(published.version)}'
    return "    {\n" + ",\n".join([*tables, version]) + "\n    }"


def load(path: Path) -> ProtobufPackage | None:
    """Returns the package in a file, or None if there is no file.

    Raises:
        InputError: the file is not such a list.
    """
    if not path.exists():
        return None
    try:
        data = json.loads(path.read_bytes())
        versions = tuple(_published(item) for item in data["versions"])
        return ProtobufPackage(str(data["distribution"]), versions)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        fault = f"the list of published messages cannot be read: {type(error).__name__}: {error}"
        raise InputError([Diagnostic(Span(display(path)), Rule.UNREADABLE, fault, _HELP)]) from None


def _published(item: Any) -> PublishedMessages:
    messages, enums = (
        {
            str(path): {str(name): int(number) for name, number in numbers.items()}
            for path, numbers in item[key].items()
        }
        for key in ("messages", "enums")
    )
    return PublishedMessages(str(item["version"]), messages, enums)
