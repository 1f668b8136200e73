"""The configuration: codegen.toml, read and checked.

In: the path of a codegen.toml. Out: a frozen Config with absolute paths, or a Refusal
whose diagnostics point at the key that is wrong.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from keyword import iskeyword
from pathlib import Path
from unicodedata import normalize
from typing import Any

import tomli

from sessiongen.diagnostics import Diagnostic, Refusal, Rule, Span
from sessiongen.paths import display

OPTIONAL_ROLES = ("envelope", "correlation", "error", "timestamp")
ROLES = ("envelope", "event", "request", "response", "correlation", "error", "timestamp")
ANNOTATIONS = (
    "sdk_class",
    "sdk_field",
    "response",
    "sdk_event",
    "sdk_enum",
    "unknown",
    "sdk_value",
)


@dataclass(frozen=True)
class Input:
    """Where the protocol comes from: exactly one of the three kinds is set.

    protos: .proto files, with the include paths under which imports are found.
    descriptor_set: a serialized google.protobuf.FileDescriptorSet.
    messages: the dotted name of an installed Python module of generated messages.
    """

    protos: tuple[Path, ...] = ()
    include: tuple[Path, ...] = ()
    descriptor_set: Path | None = None
    messages: str | None = None


@dataclass(frozen=True)
class Given:
    """A value of the configuration with the keys it stands under."""

    value: str | None
    at: tuple[str, ...]


@dataclass(frozen=True)
class Gap:
    """A declared gap between the protocol and an SDK: what is missing, and why that is known.

    thing: as `parity` names it in its findings.
    """

    sdk: str
    thing: str
    reason: str
    at: tuple[str, ...]


@dataclass(frozen=True)
class Config:
    """A checked codegen.toml. Roles and annotations keep their places for diagnostics.

    roles: role name to message or field name; a None value says "this protocol has none".
    annotations: (full name of the element, annotation) to its value.
    overrides: a module of encoders written by hand, which becomes a part of the package.
    vocabularies: what each SDK calls things, in the order of the SDKs' columns.
    """

    path: Path
    text: str = field(repr=False)
    input: Input
    out: Path
    package: str
    overrides: Path | None = None
    roles: dict[str, Given] = field(default_factory=dict)
    annotations: dict[tuple[str, str], Given] = field(default_factory=dict)
    vocabularies: tuple[Path, ...] = ()
    gaps: tuple[Gap, ...] = ()

    @property
    def root(self) -> Path:
        """The folder of codegen.toml, against which its paths are read."""
        return self.path.parent

    @property
    def package_dir(self) -> Path:
        """The folder that becomes the generated package."""
        return self.out.joinpath(*self.package.split("."))

    def span(self, at: tuple[str, ...]) -> Span:
        """Return where a key stands, for a diagnostic."""
        return _span(self.path, self.text, at)

    def with_descriptor_set(self, path: Path) -> Config:
        """Return the same configuration reading a FileDescriptorSet instead."""
        return replace(self, input=Input(descriptor_set=path.absolute()))


def load(path: Path) -> Config:
    """Read and check a codegen.toml.

    Raises:
        Refusal: the file cannot be read, is not TOML, or has a key or value that
            does not belong; every fault found is in it.
    """
    text = _read(path)
    try:
        data = tomli.loads(text)
    except (ValueError, RecursionError) as error:
        raise Refusal([_syntax(path, error)]) from None
    return _Reader(path, text).config(data)


def _read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
    except FileNotFoundError:
        raise Refusal([_missing(path)]) from None
    except OSError as error:
        fault = f"cannot read the configuration: {error.strerror}"
    except UnicodeDecodeError as error:
        fault = f"the configuration is not UTF-8: byte {error.start} is 0x{error.object[error.start]:02x}"
    span = Span(display(path))
    raise Refusal(
        [Diagnostic(span, Rule.UNREADABLE, fault, "name a readable UTF-8 file with --config")]
    )


def _missing(path: Path) -> Diagnostic:
    return Diagnostic(
        Span(display(path)),
        Rule.NO_CONFIG,
        "there is no configuration here",
        "write one with `sessiongen init PROTO`, or name yours with --config",
    )


def _syntax(path: Path, error: Exception) -> Diagnostic:
    span = Span(display(path), getattr(error, "lineno", 1), getattr(error, "colno", 1))
    message = re.sub(r" \(at .*\)$", "", str(error))
    # Valid TOML that Python will not hold: nested without end, or a number without end.
    if not isinstance(error, tomli.TOMLDecodeError):
        message = f"the configuration cannot be read: {message}"
    return Diagnostic(span, Rule.CONFIG_SYNTAX, message, "the file must be valid TOML 1.0")


class _Reader:
    """Checks the parsed tables and collects every fault before it refuses."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path.absolute()
        self.text = text
        self.faults: list[Diagnostic] = []

    def config(self, data: dict[str, Any]) -> Config:
        self._only(data, (), ("input", "output", "roles", "annotations", "sdks"))
        given = self._table(data, "input")
        output = self._table(data, "output")
        config = Config(
            path=self.path,
            text=self.text,
            input=self._input(given),
            out=self.path.parent / (self._string(output, ("output", "path")) or "generated/python"),
            package=self._package(output),
            overrides=self._overrides(output),
            roles=self._roles(self._table(data, "roles")),
            annotations=self._annotations(self._table(data, "annotations")),
            vocabularies=self._vocabularies(self._table(data, "sdks")),
            gaps=self._gaps(self._table(data, "sdks")),
        )
        if self.faults:
            raise Refusal(self.faults)
        return config

    def _input(self, table: dict[str, Any]) -> Input:
        self._only(table, ("input",), ("protos", "include", "descriptor_set", "messages"))
        kinds = [key for key in ("protos", "descriptor_set", "messages") if key in table]
        if len(kinds) != 1:
            self._fault(
                ("input", kinds[1]) if kinds else ("input",),
                f"exactly one input is needed, {'these are' if kinds else 'none is'} given"
                + (f": {', '.join(kinds)}" if kinds else ""),
                "give one of input.protos, input.descriptor_set, input.messages",
            )
        root = self.path.parent
        protos = tuple(root / name for name in self._strings(table, ("input", "protos")))
        include = tuple(root / name for name in self._strings(table, ("input", "include")))
        if table.get("protos") == []:
            self._fault(("input", "protos"), "no .proto file is named", "name at least one file")
        descriptor_set = self._string(table, ("input", "descriptor_set"))
        include = include or tuple(dict.fromkeys(path.parent for path in protos))
        self._no_separator(("input", "include" if "include" in table else "protos"), include)
        return Input(
            protos=protos,
            include=include,
            descriptor_set=root / descriptor_set if descriptor_set else None,
            messages=self._messages(table),
        )

    def _messages(self, table: dict[str, Any]) -> str | None:
        name = self._string(table, ("input", "messages"))
        if name is not None and not _dotted(name):
            fault = f"{name!r} is not the name of a Python module"
            self._fault(("input", "messages"), fault, _DOTTED)
        return name

    def _no_separator(self, at: tuple[str, ...], include: tuple[Path, ...]) -> None:
        # protoc takes a list of folders, and has no way to quote what stands between them.
        for path in include:
            if os.pathsep in str(path):
                fault = f"an include path cannot hold {os.pathsep!r}: {display(path)}"
                self._fault(at, fault, "rename the folder")

    def _package(self, table: dict[str, Any]) -> str:
        self._only(table, ("output",), ("path", "package", "overrides"))
        package = self._string(table, ("output", "package"))
        if package is None:
            self._fault(
                ("output",),
                "the generated package has no name",
                'give output.package, for example "my_protocol"',
            )
            return "unnamed"
        if not _dotted(package):
            fault = f"{package!r} is not a Python package name"
            self._fault(("output", "package"), fault, _DOTTED)
        elif package == "google" or _hides(package):
            fault = f"a package {package!r} hides one that generated code imports"
            self._fault(("output", "package"), fault, "give it a name of its own")
        return package

    def _overrides(self, table: dict[str, Any]) -> Path | None:
        name = self._string(table, ("output", "overrides"))
        return self.path.parent / name if name else None

    def _roles(self, table: dict[str, Any]) -> dict[str, Given]:
        self._only(table, ("roles",), ROLES)
        roles: dict[str, Given] = {}
        for role, value in table.items():
            if role not in ROLES:
                continue
            if value is False and role in OPTIONAL_ROLES:
                roles[role] = Given(None, ("roles", role))
            elif isinstance(value, str) and value:
                roles[role] = Given(value, ("roles", role))
            else:
                help_ = (
                    "give the name of a message; where there is none, add one that is never used"
                )
                if role in OPTIONAL_ROLES:
                    help_ = "give the name of a message or field, or false if there is none"
                self._fault(("roles", role), f"roles.{role} is not a name", help_)
        return roles

    def _annotations(self, table: dict[str, Any]) -> dict[tuple[str, str], Given]:
        annotations: dict[tuple[str, str], Given] = {}
        for name in table:
            entries = self._table(table, name, ("annotations",))
            if self._unquoted(name, entries):
                continue
            self._only(entries, ("annotations", name), ANNOTATIONS)
            for key in entries:
                if key not in ANNOTATIONS:
                    continue
                where = ("annotations", name, key)
                value = self._string(entries, where)
                if value is not None:
                    annotations[name, key] = Given(value, where)
        return annotations

    def _unquoted(self, name: str, entries: dict[str, Any]) -> bool:
        """Whether a full name lacks its quotes, so that TOML took its dots for tables."""
        keys = [name]
        while len(entries) == 1 and isinstance(value := next(iter(entries.values())), dict):
            keys += entries
            entries = value
        if len(keys) == 1:
            return False
        fault = f"{'.'.join(keys)} is read as {len(keys)} keys"
        help_ = f'quote the name: [annotations."{".".join(keys)}"]'
        self._fault(("annotations", *keys), fault, help_)
        return True

    def _vocabularies(self, table: dict[str, Any]) -> tuple[Path, ...]:
        self._only(table, ("sdks",), ("vocabularies", "gaps"))
        at = ("sdks", "vocabularies")
        names = self._strings(table, at)
        paths = [os.path.normpath(self.path.parent / name) for name in names]
        for path in dict.fromkeys(path for path in paths if paths.count(path) > 1):
            fault = f"the vocabulary {display(Path(path))} is listed twice"
            self._fault(at, fault, "list each once: an SDK is compared once")
        return tuple(self.path.parent / name for name in names)

    def _gaps(self, table: dict[str, Any]) -> tuple[Gap, ...]:
        def fits(value: object) -> bool:
            return isinstance(value, list) and all(isinstance(item, dict) for item in value)

        gaps = []
        entries = self._typed(table, ("sdks", "gaps"), fits, "an array of tables") or []
        for index, entry in enumerate(entries):
            at = ("sdks", "gaps", str(index))
            self._only(entry, at, ("sdk", "thing", "reason"))
            sdk, thing = (self._needed(entry, (*at, key)) for key in ("sdk", "thing"))
            # A gap without a reason is a finding of `parity`, not a fault of the file.
            gaps.append(Gap(sdk, thing, str(entry.get("reason") or ""), at))
        return tuple(gaps)

    def _needed(self, table: dict[str, Any], at: tuple[str, ...]) -> str:
        value = self._string(table, at)
        if value is None and at[-1] not in table:
            self._fault(at, f"the key {at[-1]!r} is missing", f"give {at[-1]} as a string")
        return value or ""

    def _only(self, table: dict[str, Any], at: tuple[str, ...], known: tuple[str, ...]) -> None:
        for key in table:
            if key in known:
                continue
            close = get_close_matches(key, known, 1)
            self._fault(
                (*at, key),
                f"unknown key {'.'.join((*at, key))!r}",
                (f"did you mean {close[0]!r}? " if close else "")
                + f"known here: {', '.join(known)}",
            )

    def _table(self, data: dict[str, Any], key: str, at: tuple[str, ...] = ()) -> dict[str, Any]:
        return self._typed(data, (*at, key), lambda value: isinstance(value, dict), "a table") or {}

    def _string(self, table: dict[str, Any], at: tuple[str, ...]) -> str | None:
        result: str | None = self._typed(table, at, _text, "a string with no control character")
        return result

    def _strings(self, table: dict[str, Any], at: tuple[str, ...]) -> list[str]:
        def fits(value: object) -> bool:
            return isinstance(value, list) and all(_text(item) for item in value)

        return self._typed(table, at, fits, "a list of strings with no control character") or []

    def _typed(
        self, table: dict[str, Any], at: tuple[str, ...], fits: Callable[[object], bool], kind: str
    ) -> Any:
        value = table.get(at[-1])
        if value is None or fits(value):
            return value
        self._fault(at, f"{'.'.join(at)} is not {kind}", f"write it as {kind}")
        return None

    def _fault(self, at: tuple[str, ...], message: str, help_: str) -> None:
        span = _span(self.path, self.text, at)
        self.faults.append(Diagnostic(span, Rule.CONFIG_KEY, message, help_))


_DOTTED = "use letters, digits and underscores, parts joined by dots"


def _dotted(name: str) -> bool:
    # Python reads names in their NFKC form, and would look for another folder.
    return all(
        part.isidentifier() and not iskeyword(part) and normalize("NFKC", part) == part
        for part in name.split(".")
    )


def _hides(package: str) -> bool:
    """Whether a package would stand in the way of what its own modules import."""
    first = package.partition(".")[0]
    return first in sys.stdlib_module_names or f"{package}.".startswith("google.protobuf.")


def _text(value: object) -> bool:
    """Whether a value is a string that can be a path or a name."""
    return isinstance(value, str) and value != "" and not re.search(r"[\x00-\x1f\x7f]", value)


def _span(path: Path, text: str, at: tuple[str, ...]) -> Span:
    # Only faults need places, so the parser that knows them stays out of other runs.
    from sessiongen.config.positions import place

    line, column = place(text, at)
    return Span(display(path), line, column)
