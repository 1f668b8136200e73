"""Diagnostics: faults in the input, and their text, GitHub and JSON forms."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Severity(str, Enum):
    """The severity of a diagnostic; only errors make a command fail."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Rule(str, Enum):
    """The rules and their stable ids; ids are never reused."""

    PROTO = "SG001"
    UNREADABLE = "SG002"
    DESCRIPTOR_SET = "SG003"
    MESSAGES_MODULE = "SG004"
    CONFIG_SYNTAX = "SG005"
    CONFIG_KEY = "SG006"
    NO_CONFIG = "SG007"
    CONFIG_EXISTS = "SG008"
    USAGE = "SG009"
    ROLE_NOT_FOUND = "SG010"
    ROLE_AMBIGUOUS = "SG011"
    ROLE_SHAPE = "SG012"
    UNPAIRED_ARM = "SG014"
    ANNOTATION = "SG015"
    NAME_CLASH = "SG017"
    DRIFT = "SG020"
    MISSING_OUTPUT = "SG021"
    EXTRA_OUTPUT = "SG022"
    EDITED = "SG031"
    INTERNAL = "SG032"
    TOOL_SKEW = "SG023"
    OUTPUT = "SG024"
    UNKNOWN_ARM = "SG026"
    VALUE_CLASH = "SG027"
    OVERRIDE = "SG028"
    NO_CORRELATION = "SG029"
    NO_ERROR = "SG033"
    ARM_ROLE = "SG034"
    SDK_PACKAGE = "SG040"
    SDK_FETCH = "SG041"
    SDK_SOURCE = "SG042"
    SDK_MISSING = "SG043"
    SDK_ENUM = "SG044"
    SDK_EVENT = "SG045"
    SDK_REQUEST = "SG046"
    VOCABULARY = "SG048"
    SDK_NEW_VERSION = "SG049"
    PARITY_VALUE = "SG050"
    PARITY_EVENT = "SG051"
    PARITY_REQUEST = "SG052"
    PARITY_FIELD = "SG053"
    PARITY_GAP = "SG054"
    NO_SDK = "SG055"
    NO_SCOPE = "SG056"
    SDK_COUNTERPART = "SG057"
    SDK_CODE = "SG058"


@dataclass(frozen=True, order=True)
class Span:
    """A position in a file.

    Lines and columns count from 1. Columns count characters; a tab is one character.
    """

    file: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


@dataclass(frozen=True)
class Diagnostic:
    """A fault in the input: its position, the broken rule, a message, and how to fix it.

    cause: what is wrong at the position, if several diagnostics may report it: of those with the
        same rule, position and cause, the first is printed.
    """

    span: Span
    rule: Rule
    message: str
    help: str
    severity: Severity = Severity.ERROR
    cause: str = field(default="", compare=False)

    def text(self) -> str:
        """Returns the text form, for a terminal."""
        head = f"{self.span}: {self.severity.value}[{self.rule.value}]: {self.message}"
        lines = [head, f"  help: {self.help}"] if self.help else [head]
        return "\n".join(map(_visible, lines))

    def github(self) -> str:
        """Returns a workflow command that annotates a line of a pull request."""
        kind = "notice" if self.severity is Severity.NOTE else self.severity.value
        properties = (
            f"file={_property(self.span.file)},line={self.span.line},"
            f"col={self.span.column},title={self.rule.value}"
        )
        body = f"{self.message}\nhelp: {self.help}" if self.help else self.message
        return f"::{kind} {properties}::{_escape(body)}"

    def record(self) -> dict[str, str | int]:
        """Returns the JSON form."""
        return {
            "file": self.span.file,
            "line": self.span.line,
            "column": self.span.column,
            "severity": self.severity.value,
            "rule": self.rule.value,
            "message": self.message,
            "help": self.help,
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Diagnostic:
        """Returns the diagnostic of a JSON form.

        Raises:
            KeyError, ValueError: the record is not one.
        """
        span = Span(record["file"], record["line"], record["column"])
        rule, severity = Rule(record["rule"]), Severity(record["severity"])
        return cls(span, rule, record["message"], record["help"], severity)


class InputError(Exception):
    """The input has faults. The command prints them and exits; there is no traceback."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = arrange(diagnostics)
        super().__init__("\n".join(item.text() for item in self.diagnostics))


def arrange(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Returns the diagnostics sorted by position and rule, without duplicates."""
    distinct: dict[object, Diagnostic] = {}
    for item in diagnostics:
        key = (item.span, item.rule, item.cause) if item.cause else item
        distinct.setdefault(key, item)
    return sorted(
        distinct.values(), key=lambda item: (item.span, item.rule.value, item.message, item.help)
    )


def failed(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any diagnostic is an error."""
    return any(item.severity is Severity.ERROR for item in diagnostics)


def show(diagnostics: Iterable[Diagnostic], form: str) -> str:
    """Renders diagnostics as `text`, `github` or `json`; "" for none, except in JSON."""
    items = arrange(diagnostics)
    if form == "json":
        return json.dumps([item.record() for item in items], indent=2)
    if form == "github":
        return "\n".join(item.github() for item in items)
    return "\n".join(item.text() for item in items)


def _visible(text: str) -> str:
    """Returns a text with control characters escaped, as names can contain any character."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    )


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
