"""The model of needed.py: what a package uses of installed messages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import wrap

from sessiongen.ir.reachability import reachable
from sessiongen.targets.python.context import Context
from sessiongen.targets.python.enums import wanted_enums
from sessiongen.targets.python.layout import quoted

# The characters of a line beside the text of a literal: indentation, quotes, a space and a comma.
_BESIDE_TEXT = 12


@dataclass(frozen=True)
class NeededModel:
    """needed.py.

    requirement: the messages that it needs, such as "acme-messages 1.2 or newer".
    modules: each module, and the literals of the text that lists its elements.
    """

    imports: list[str]
    requirement: str
    modules: list[tuple[str, list[str]]]


def needed_model(context: Context, line_length: int) -> NeededModel:
    """Returns the model of needed.py."""
    references = context.references()
    width = line_length - _BESIDE_TEXT
    texts: dict[str, list[str]] = {}
    for file, path, count in _elements(context):
        if file in context.installed:
            texts.setdefault(file, []).append(f"{'.'.join(path)} {count}")
    modules = [
        (references.module(file), [quoted(f"{line} ") for line in wrap(" ".join(parts), width)])
        for file, parts in texts.items()
    ]
    return NeededModel(references.imports, _requirement(context), modules)


def _requirement(context: Context) -> str:
    main = context.installed[context.protocol.roles.main.file]
    distribution = main.distribution if context.oldest is None else context.oldest
    return f"{distribution} or newer" if distribution else f"newer messages in {main.name}"


# The version in the text of needed.py.
_VERSION = re.compile(r'(?<=^_REQUIREMENT = ")\S+ \S+(?= or newer"$)', re.MULTILINE)


def with_known_version(text: str, path: Path) -> str:
    """Returns the text of needed.py with the version in the existing file, if all else is equal.

    The version is the one with which the text was first generated. Without this, each new
    version of the messages would change the file.
    """
    try:
        existing = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return text
    version = _VERSION.search(existing)
    if version is not None and _VERSION.sub(version.group(), text) == existing:
        return existing
    return text


def _elements(context: Context) -> Iterator[tuple[str, tuple[str, ...], int]]:
    """Yields the file and the path of each message and enum, with the number of its parts.

    Elements that the oldest supported version lacks are not needed.
    """
    protocol, newer = context.protocol, context.newer
    used = reachable(protocol, protocol.roles.messages())
    used |= {item.full_name for item in protocol.roles.messages()}
    used |= {union.message for union in protocol.unions}
    for message in protocol.schema.own_messages():
        names = [f"{message.full_name}.{field.name}" for field in message.fields]
        count = sum(name not in newer for name in names)
        # The field of its type shows that a message exists.
        if message.full_name in used - newer and count:
            yield message.file, message.path, count
    for enum in (bound.enum for bound in wanted_enums(context)):
        names = [f"{enum.full_name}.{value.name}" for value in enum.values]
        if enum.full_name not in newer:
            yield enum.file, enum.path, sum(name not in newer for name in names)
