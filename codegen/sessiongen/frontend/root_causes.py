"""Leaves out the errors of protoc that follow from other errors of the same run.

protoc reports a failed import at the import, in the imported file, and at each use of a name that
the file defines; and a wrong encoding at each character.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span
from sessiongen.frontend.source_map import SourceMap

_IMPORT = re.compile(r'Import "(?P<name>.*)" was not found or had errors\.')
_MISSING = "File not found."
_UNDEFINED = " is not defined."
_NOT_ASCII = "Interpreting non ascii codepoint"

Errors = Mapping[str, Sequence[Diagnostic]]


def root_causes(diagnostics: Sequence[Diagnostic], source_map: SourceMap) -> list[Diagnostic]:
    """Returns the warnings, and the errors that do not follow from another one."""
    errors = defaultdict(list)
    for item in diagnostics:
        if item.severity is Severity.ERROR:
            errors[item.span.file].append(item)
    causes = [item for item in diagnostics if item.severity is not Severity.ERROR]
    for file, items in errors.items():
        causes += _encoding(file, items) or _imports(items, errors, source_map)
    return causes


def _encoding(file: str, items: Sequence[Diagnostic]) -> list[Diagnostic]:
    """Returns one error for a file that is not UTF-8 or has a name that is not ASCII."""
    first = next((item for item in items if item.message.startswith(_NOT_ASCII)), None)
    if first is None:
        return []
    return [_not_utf8(file) or replace(first, message=_NAME_FAULT, help=_NAME_HELP)]


_NAME_FAULT = "a character outside of ASCII is outside of comments and strings"
_NAME_HELP = "use ASCII letters, digits and underscores in names"


def _not_utf8(file: str) -> Diagnostic | None:
    try:
        with open(file, "rb") as stream:
            data = stream.read()
    except OSError:
        return None
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = data[: error.start].decode("utf-8").split("\n")
        span = Span(file, len(before), len(before[-1]) + 1)
        return Diagnostic(span, Rule.PROTO, "the file is not UTF-8", "save the file as UTF-8")
    return None


def _imports(
    items: Sequence[Diagnostic], errors: Errors, source_map: SourceMap
) -> list[Diagnostic]:
    """Returns the errors of a file without those that a failed import causes."""
    broken = {match["name"] for item in items if (match := _IMPORT.match(item.message))}
    importers = {
        match["name"]
        for others in errors.values()
        for item in others
        if (match := _IMPORT.match(item.message))
    }
    causes = []
    for item in items:
        match = _IMPORT.match(item.message)
        if match is not None:
            if source_map.locate(match["name"]) is None:
                fault = f'Import "{match["name"]}" was not found.'
                causes.append(replace(item, message=fault, help=_IMPORT_HELP))
            elif source_map.span(match["name"]).file not in errors:
                causes.append(item)
        elif item.message == _MISSING and item.span.file in importers:
            continue
        elif not (broken and item.message.endswith(_UNDEFINED)):
            causes.append(item)
    return causes


_IMPORT_HELP = "add the folder of this file to input.include"
