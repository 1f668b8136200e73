"""The commands `vocabulary update` and `vocabulary watch`.

A vocabulary is not written if a part of the SDK could not be read.
"""

from __future__ import annotations

import contextlib
import difflib
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sessiongen.diagnostics import (
    Diagnostic,
    InputError,
    Rule,
    Severity,
    Span,
    arrange,
    failed,
)
from sessiongen.ir.schema import Schema
from sessiongen.paths import display
from sessiongen.vocabulary.changed_code import changed_code
from sessiongen.vocabulary.configured import NEWEST, Sdk
from sessiongen.vocabulary.fetch import fetch, newest
from sessiongen.vocabulary.model import Place, Reading, Vocabulary
from sessiongen.vocabulary.package import Package, open_package
from sessiongen.vocabulary.requirement import requirement
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary.store import dump, load
from sessiongen.vocabulary.unused_values import unused_values

# Line numbers change with each version and would hide the facts that changed.
_LINE_NUMBERS = re.compile(r':\d+(?=")|"line": \d+, ')


@dataclass(frozen=True)
class Updated:
    """The files that changed, and the diagnostics."""

    written: list[Path]
    diagnostics: list[Diagnostic]


@dataclass(frozen=True)
class NewVersion:
    """An SDK whose newest version differs from the pinned vocabulary.

    diff: of the vocabulary files, without line numbers.
    """

    sdk: str
    pinned: str
    newest: str
    diff: str


def update(sources: Sequence[tuple[Sdk, str | Path]]) -> Updated:
    """Writes the vocabulary files of some SDKs.

    sources: for each SDK a version, `newest`, or the path of a folder or archive.
    """
    written, diagnostics = [], []
    for sdk, source in sources:
        try:
            package = open_source(sdk.scope, source)
            reading = read_package(sdk.scope, package)
            diagnostics += reading.diagnostics
            if reading.vocabulary is None or failed(reading.diagnostics):
                continue
            diagnostics += _differences(sdk.path, reading.vocabulary, package)
            if _write(sdk.path, dump(reading.vocabulary)):
                written.append(sdk.path)
        except InputError as error:
            diagnostics += error.diagnostics
    return Updated(written, arrange(diagnostics))


def update_packages(sdks: Sequence[Sdk], schema: Schema) -> Updated:
    """Writes the lists of messages in the protobuf packages that some SDKs require."""
    from sessiongen.vocabulary import protobuf_packages
    from sessiongen.vocabulary.protobuf_reader import read_versions

    written, diagnostics = [], []
    for sdk in sdks:
        try:
            required = load(sdk.path).requirement
            if required is None:
                continue
            package = read_versions(sdk.scope, required.minimum, schema)
            path = protobuf_packages.messages_file(sdk.path)
            if _write(path, protobuf_packages.dump(package).encode()):
                written.append(path)
        except InputError as error:
            diagnostics += error.diagnostics
    return Updated(written, arrange(diagnostics))


def read(scope: Scope, source: str | Path) -> Reading:
    """Reads an SDK: a version, `newest`, or the path of a folder or archive.

    Raises:
        InputError: there is no such package.
    """
    return read_package(scope, open_source(scope, source))


def open_source(scope: Scope, source: str | Path) -> Package:
    """Returns the package of an SDK: a version, `newest`, or the path of a folder or archive.

    Raises:
        InputError: there is no such package.
    """
    if isinstance(source, Path):
        return open_package(source, scope)
    return fetch(scope, newest(scope) if source == NEWEST else source)


def read_package(scope: Scope, package: Package) -> Reading:
    """Reads an SDK from its package."""
    reading = _reader(scope)(package, scope)
    vocabulary = reading.vocabulary
    if vocabulary is None:
        return reading
    vocabulary = vocabulary._replace(unused_values=unused_values(vocabulary, package))
    if scope.protobuf_distribution:
        required = requirement(package, scope.protobuf_distribution)
        vocabulary = vocabulary._replace(requirement=required)
    return reading._replace(vocabulary=vocabulary)


def new_versions(sdks: Sequence[Sdk]) -> tuple[list[NewVersion], list[Diagnostic]]:
    """Compares vocabulary files with the newest published versions.

    A difference is a note: a new version of an SDK is not a fault of this repository.
    """
    versions, diagnostics = [], []
    for sdk in sdks:
        try:
            pinned = load(sdk.path)
            newest_version = newest(sdk.scope)
            if newest_version == pinned.version:
                continue
            reading = read(sdk.scope, newest_version)
        except InputError as error:
            diagnostics += error.diagnostics
            continue
        diagnostics += reading.diagnostics
        if reading.vocabulary is not None:
            versions.append(_new_version(sdk.path, pinned, reading.vocabulary))
            diagnostics.append(_note(sdk.path, versions[-1]))
    return versions, arrange(diagnostics)


def _reader(scope: Scope) -> Callable[[Package, Scope], Reading]:
    # Each reader imports its own parser, and a run rarely needs both.
    if scope.language == "python":
        from sessiongen.vocabulary import python

        return python.read
    from sessiongen.vocabulary import typescript

    return typescript.read


def _new_version(path: Path, pinned: Vocabulary, latest: Vocabulary) -> NewVersion:
    before, after = (
        _LINE_NUMBERS.sub("", dump(item).decode()).splitlines(True) for item in (pinned, latest)
    )
    name = display(path)
    diff = difflib.unified_diff(
        before, after, f"{name} ({pinned.version})", f"{name} ({latest.version})"
    )
    return NewVersion(pinned.sdk, pinned.version, latest.version, "".join(diff))


def _note(path: Path, version: NewVersion) -> Diagnostic:
    message = f"{version.sdk} {version.newest} is published; the vocabulary is of {version.pinned}"
    help_ = "run `sessiongen vocabulary update`, then `sessiongen parity`"
    return Diagnostic(Span(display(path)), Rule.SDK_NEW_VERSION, message, help_, Severity.NOTE)


def _differences(path: Path, new: Vocabulary, package: Package) -> list[Diagnostic]:
    """Returns what a person has to look at before a vocabulary file is replaced."""
    try:
        old = load(path)
    except InputError:
        return []

    def span(place: Place) -> Span:
        return package.span(place.file, place.line)

    return [*_removed_definitions(path, old, new), *changed_code(old, new, span)]


def _removed_definitions(path: Path, old: Vocabulary, new: Vocabulary) -> list[Diagnostic]:
    """Returns a warning for each enum and class that the new vocabulary lacks."""
    removed = [("enum", item.name, item.place) for item in old.enums if not new.enum(item.name)]
    removed += [
        ("class", item.name, item.place) for item in old.records if not new.record(item.name)
    ]
    return [
        Diagnostic(
            Span(display(path)),
            Rule.SDK_MISSING,
            f"the {kind} {name} of {old.version} ({place}) does not exist in {new.version}",
            "check whether it was renamed before the new file is committed",
            Severity.WARNING,
        )
        for kind, name, place in removed
    ]


def _write(path: Path, data: bytes) -> bool:
    """Replaces a file atomically, unless its content is equal. Returns whether it was written."""
    staged = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if path.is_file() and path.read_bytes() == data:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        staged.write_bytes(data)
        os.replace(staged, path)
    except OSError as error:
        message = f"the vocabulary cannot be written: {error.strerror}"
        raise InputError(
            [Diagnostic(Span(display(path)), Rule.OUTPUT, message, "make it writable")]
        )
    finally:
        with contextlib.suppress(OSError):
            staged.unlink()
    return True
