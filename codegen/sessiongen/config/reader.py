"""Reads and checks codegen.toml."""

from __future__ import annotations

import os
import re
from pathlib import Path

import tomli

from sessiongen.config.model import (
    ANNOTATIONS,
    ARM_PATTERNS,
    LISTS,
    ROLES,
    Config,
    ConfigValue,
    Input,
)
from sessiongen.config.outputs import read_outputs
from sessiongen.config.sdks import read_sdks
from sessiongen.config.tables import KeyPath, Table, TableReader
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.dotted_name import DOTTED_NAME_HELP, is_dotted_name
from sessiongen.paths import display


def find(name: Path) -> Path:
    """Returns the file of a name in the working directory or in the nearest folder above it.

    Without such a file the name is returned as it is.
    """
    try:
        folders = [] if name.exists() else Path.cwd().parents
    except FileNotFoundError:
        # The working directory was removed.
        return name
    return next((path for folder in folders if (path := folder / name).is_file()), name)


def load(path: Path) -> Config:
    """Reads and checks a codegen.toml.

    Raises:
        InputError: the file cannot be read, is not TOML, or has a key or value that
            is not allowed. It has all faults of the file.
    """
    return parse(path, _read(path))


def parse(path: Path, text: str) -> Config:
    """Checks the text of a codegen.toml.

    Raises:
        InputError: as `load`.
    """
    try:
        data = tomli.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError([_syntax(path, text, error)]) from None
    return _Reader(TableReader(path, text)).config(data)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise InputError([_missing(path)]) from None
    except OSError as error:
        fault = f"cannot read the configuration: {error.strerror}"
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        fault = f"the configuration is not UTF-8: byte {error.start} is 0x{byte:02x}"
    span = Span(display(path))
    raise InputError(
        [Diagnostic(span, Rule.UNREADABLE, fault, "name a readable UTF-8 file with --config")]
    )


def _missing(path: Path) -> Diagnostic:
    return Diagnostic(
        Span(display(path)),
        Rule.NO_CONFIG,
        "the configuration does not exist",
        "create it with `sessiongen init PROTO`, or name another file with --config",
    )


# The headers of outputs.
_OUTPUT = re.compile(r"^[ \t]*(\[\[?)[ \t]*output[ \t]*\]", re.MULTILINE)
# The parser names a table by the representation of its key.
_TWICE = re.compile(r"Cannot declare \((.*)\) twice")


def _syntax(path: Path, text: str, error: Exception) -> Diagnostic:
    span = Span(display(path), getattr(error, "lineno", 1), getattr(error, "colno", 1))
    message, help_ = re.sub(r" \(at .*\)$", "", str(error)), "the file must be valid TOML 1.0"
    # TOML that exceeds a limit of Python: nested too deeply, or a number with too many digits.
    if not isinstance(error, tomli.TOMLDecodeError):
        message = f"the configuration cannot be read: {message}"
    elif message.startswith("Cannot ") and len(set(_OUTPUT.findall(text))) > 1:
        message = "there are an [output] and an [[output]] table"
        help_ = "write each output as [[output]], with a language"
    elif twice := _TWICE.fullmatch(message):
        message = f"the table {_dotted(twice[1])} is declared twice"
    elif message == "Cannot overwrite a value":
        message = "this key has a value already"
    return Diagnostic(span, Rule.CONFIG_SYNTAX, message, help_)


def _dotted(keys: str) -> str:
    """Returns the dotted form of the representation of keys."""
    return ".".join(re.findall(r"'([^']*)'", keys))


_INPUT_KEYS = ("protos", "include", "descriptor_set", "messages", "oldest")
# The help for a wrong value, by whether the key selects arms.
_ROLE_HELP = {
    False: "use the name of a message or field, or false if there is none",
    True: 'use a pattern of arm names, such as "*_request", or a list of them',
}
# Annotations that can be false.
_MAY_BE_FALSE = ("response", "role")


def _name(value: object) -> tuple[str, ...] | None:
    return (value,) if isinstance(value, str) and value else None


def _names(value: object) -> tuple[str, ...] | None:
    """Returns the names of a list, or a single name; None for anything else."""
    items = value if isinstance(value, list) and value else [value]
    names = tuple(item for item in items if isinstance(item, str) and item)
    return names if len(names) == len(items) else None


class _Reader:
    """Checks the parsed tables; raises all faults together."""

    def __init__(self, tables: TableReader) -> None:
        self.tables = tables

    def config(self, data: Table) -> Config:
        self.tables.only(data, (), ("input", "output", "roles", "annotations", "sdks"))
        config = Config(
            path=self.tables.path,
            text=self.tables.text,
            input=self._input(data),
            outputs=read_outputs(self.tables, data),
            roles=self._roles(self.tables.table(data, "roles")),
            annotations=self._annotations(self.tables.table(data, "annotations")),
            sdks=read_sdks(self.tables, self.tables.table(data, "sdks")),
        )
        if self.tables.faults:
            raise InputError(self.tables.faults)
        return config

    def _input(self, data: Table) -> Input:
        faults = len(self.tables.faults)
        table = self.tables.table(data, "input")
        self.tables.only(table, ("input",), _INPUT_KEYS)
        invalid = len(self.tables.faults) > faults
        kinds = [key for key in ("protos", "descriptor_set", "messages") if key in table]
        if set(kinds) == {"protos", "messages"}:
            # The files have the comments of the messages.
            kinds = ["messages"]
        if len(kinds) > 1 or not (kinds or invalid):
            self.tables.fault(
                ("input", kinds[1]) if kinds else ("input",),
                f"exactly one input is needed, but {'these are' if kinds else 'none is'} given"
                + (f": {', '.join(kinds)}" if kinds else ""),
                "give one of input.protos, input.descriptor_set, input.messages",
            )
        root = self.tables.root
        protos = tuple(root / name for name in self.tables.strings(table, ("input", "protos")))
        include = tuple(root / name for name in self.tables.strings(table, ("input", "include")))
        if table.get("protos") == []:
            self.tables.fault(
                ("input", "protos"), "no .proto file is named", "name at least one file"
            )
        descriptor_set = self.tables.string(table, ("input", "descriptor_set"))
        oldest = self.tables.string(table, ("input", "oldest"))
        if oldest and "messages" not in table:
            fault = "input.oldest is a version of input.messages, which is not given"
            self.tables.fault(("input", "oldest"), fault, "remove it, or give input.messages")
        include = include or tuple(dict.fromkeys(path.parent for path in protos))
        self._check_separators(("input", "include" if "include" in table else "protos"), include)
        return Input(
            protos=protos,
            include=include,
            descriptor_set=root / descriptor_set if descriptor_set else None,
            messages=self._messages(table),
            oldest=root / oldest if oldest else None,
        )

    def _messages(self, table: Table) -> str | None:
        name = self.tables.string(table, ("input", "messages"))
        if name is not None and not is_dotted_name(name):
            fault = f"{name!r} is not the name of a Python module"
            self.tables.fault(("input", "messages"), fault, DOTTED_NAME_HELP)
        return name

    def _check_separators(self, key_path: KeyPath, include: tuple[Path, ...]) -> None:
        # protoc splits its include path at this character, which cannot be escaped.
        for path in include:
            if os.pathsep in str(path):
                fault = f"an include path cannot hold {os.pathsep!r}: {display(path)}"
                self.tables.fault(key_path, fault, "rename the folder")

    def _roles(self, table: Table) -> dict[str, ConfigValue]:
        known = (*ROLES, *ARM_PATTERNS)
        self.tables.only(table, ("roles",), known)
        roles: dict[str, ConfigValue] = {}
        for role, value in table.items():
            if role not in known:
                continue
            names = _names(value) if role in LISTS else _name(value)
            if value is False and role not in ARM_PATTERNS:
                names = ()
            if names is None:
                fault = f"roles.{role} is not a name{' or a list of names' * (role in LISTS)}"
                self.tables.fault(("roles", role), fault, _ROLE_HELP[role in ARM_PATTERNS])
            else:
                roles[role] = ConfigValue(names, ("roles", role))
        return roles

    def _annotations(self, table: Table) -> dict[tuple[str, str], ConfigValue]:
        annotations: dict[tuple[str, str], ConfigValue] = {}
        for name in table:
            entries = self.tables.table(table, name, ("annotations",))
            if self._is_unquoted_name(name, entries):
                continue
            self.tables.only(entries, ("annotations", name), ANNOTATIONS)
            for key in entries:
                if key not in ANNOTATIONS:
                    continue
                key_path = ("annotations", name, key)
                if entries[key] is False and key in _MAY_BE_FALSE:
                    annotations[name, key] = ConfigValue((), key_path)
                    continue
                value = self.tables.string(entries, key_path)
                if value is not None:
                    annotations[name, key] = ConfigValue((value,), key_path)
        return annotations

    def _is_unquoted_name(self, name: str, entries: Table) -> bool:
        """Whether a full name has no quotes, so that TOML reads its parts as nested tables."""
        keys = [name]
        while len(entries) == 1 and isinstance(value := next(iter(entries.values())), dict):
            keys += entries
            entries = value
        if len(keys) == 1:
            return False
        fault = f"{'.'.join(keys)} is read as {len(keys)} keys"
        help_ = f'quote the name: [annotations."{".".join(keys)}"]'
        self.tables.fault(("annotations", *keys), fault, help_)
        return True
