"""Typed access to the tables of a parsed TOML file.

`TableReader` collects a diagnostic for each key or value that is not allowed, so that one run
reports every fault of the file. A key path is the tuple of keys from the root of the file to
a value, with the index for an element of an array.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import tomli

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display

KeyPath = tuple[str, ...]
Table = dict[str, Any]


class TableReader:
    """Reads values from tables and collects faults."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path.absolute()
        self.text = text
        self.faults: list[Diagnostic] = []

    @property
    def root(self) -> Path:
        """The folder of codegen.toml, to which its paths are relative."""
        return self.path.parent

    def only(self, table: Table, key_path: KeyPath, known: tuple[str, ...]) -> None:
        """Reports each unknown key of a table."""
        for key in table:
            if key in known:
                continue
            close = get_close_matches(key, known, 1)
            self.fault(
                (*key_path, key),
                f"unknown key {'.'.join((*key_path, key))!r}",
                (f"did you mean {close[0]!r}? " if close else "")
                + f"known keys: {', '.join(known)}",
            )

    def table(self, data: Table, key: str, key_path: KeyPath = ()) -> Table:
        """Returns the table under a key, or an empty one."""
        path = (*key_path, key)
        if _is_tables(data.get(key)) and data[key]:
            name = ".".join(path)
            self.fault(path, f"{name} is not one table", f"write [{name}] once, in single brackets")
            return {}
        return self._typed(data, path, _is_table, "a table") or {}

    def tables(self, data: Table, key_path: KeyPath) -> list[Table]:
        """Returns the array of tables under the last key of a path, or an empty list."""
        return self._typed(data, key_path, _is_tables, "an array of tables") or []

    def string(self, table: Table, key_path: KeyPath) -> str | None:
        """Returns the string under the last key of a path, or None."""
        value: str | None = self._typed(table, key_path, _is_string, "a string")
        return value if value is None or self._are_usable([value], key_path) else None

    def required_string(self, table: Table, key_path: KeyPath) -> str:
        """Returns the string under the last key of a path; a missing one is a fault."""
        value = self.string(table, key_path)
        key = key_path[-1]
        if value is None and key not in table:
            self.fault(key_path, f"the key {key!r} is missing", f"give {key} as a string")
        return value or ""

    def strings(self, table: Table, key_path: KeyPath) -> list[str]:
        """Returns the list of strings under the last key of a path, or an empty list."""
        values = self._typed(table, key_path, _is_strings, "a list of strings") or []
        return values if self._are_usable(values, key_path) else []

    def lines(self, table: Table, key_path: KeyPath) -> list[str]:
        """Returns the list of lines under the last key of a path; each may be empty."""
        values = self._typed(table, key_path, _is_strings, "a list of lines") or []
        return values if self._are_usable(values, key_path, empty=True) else []

    def _are_usable(self, values: list[str], key_path: KeyPath, empty: bool = False) -> bool:
        """Whether strings can be paths, names or lines; report the first that cannot."""
        name = ".".join(key_path)
        for value in values:
            if not value and not empty:
                self.fault(key_path, f"{name} has an empty string", "write a text in the quotes")
                return False
            if re.search(r"[\x00-\x1f\x7f]", value):
                fault = f"{name} has a control character: {value!r}"
                self.fault(key_path, fault, "write it without the control character")
                return False
        return True

    def integer(self, table: Table, key_path: KeyPath) -> int | None:
        """Returns the integer under the last key of a path, or None."""
        result: int | None = self._typed(table, key_path, _is_integer, "an integer")
        return result

    def fault(self, key_path: KeyPath, message: str, help_: str) -> None:
        """Reports a fault at a key."""
        span = key_span(self.path, self.text, key_path)
        self.faults.append(Diagnostic(span, Rule.CONFIG_KEY, message, help_))

    def _typed(
        self, table: Table, key_path: KeyPath, fits: Callable[[object], bool], kind: str
    ) -> Any:
        value = table.get(key_path[-1])
        if value is None or fits(value):
            return value
        self.fault(key_path, f"{'.'.join(key_path)} is not {kind}", f"write it as {kind}")
        return None


def read_companion(path: Path, kind: str) -> tuple[str, Table] | None:
    """Returns the text and the data of a TOML file beside a vocabulary; None if there is none.

    kind: what the file is, for a diagnostic.

    Raises:
        InputError: the file cannot be read, or is not TOML in UTF-8.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        return text, tomli.loads(text)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        fault = f"the {kind} cannot be read: {getattr(error, 'strerror', None) or error}"
        span = Span(display(path), getattr(error, "lineno", 1), getattr(error, "colno", 1))
        help_ = "the file must be valid TOML 1.0 in UTF-8"
        raise InputError([Diagnostic(span, Rule.CONFIG_SYNTAX, fault, help_)]) from None


def key_span(path: Path, text: str, key_path: KeyPath) -> Span:
    """Returns the position of a key in a TOML file."""
    # Only diagnostics need positions; other runs do not import the parser.
    from sessiongen.config.positions import place

    line, column = place(text, key_path)
    return Span(display(path), line, column)


def file_key_span(path: Path, key_path: KeyPath) -> Span:
    """Returns the position of a key in a TOML file, which it reads."""
    return key_span(path, path.read_text("utf-8-sig"), key_path)


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


def _is_tables(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_strings(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)
