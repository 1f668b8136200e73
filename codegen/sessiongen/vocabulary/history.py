"""Reads the published versions of an SDK: which of them brought or dropped which fact.

This is the command `vocabulary history`. Its JSON form has all facts of the first version and the
changes of each later one; its markdown form has a row for each version with changes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Severity, Span
from sessiongen.paths import display
from sessiongen.vocabulary.commands import open_source, read_package
from sessiongen.vocabulary.facts import Facts, facts
from sessiongen.vocabulary.fetch import published_versions
from sessiongen.vocabulary.scope import Scope

_ARCHIVES = (".whl", ".tgz", ".tar.gz")


class Change(NamedTuple):
    """A fact whose details changed."""

    fact: str
    before: str
    after: str


class Version(NamedTuple):
    """The changes of a version since the one before it."""

    version: str
    brought: tuple[str, ...]
    dropped: tuple[str, ...]
    changed: tuple[Change, ...]


class History(NamedTuple):
    """The versions of an SDK in order. start: the facts of the first of them.

    unread: why a version could not be read, by the version or its archive.
    """

    sdk: str
    first: str
    start: Facts
    versions: tuple[Version, ...]
    unread: dict[str, str]


def history(scope: Scope, first: str, last: str, archives: Path | None) -> History:
    """Returns the history of an SDK from one version to another.

    archives: a folder of archives to read in place of a registry.

    Raises:
        InputError: there are no versions in this range.
    """
    readings: dict[str, Facts] = {}
    unread: dict[str, str] = {}
    for source in _sources(scope, first, last, archives):
        name = source.name if isinstance(source, Path) else source
        try:
            reading = read_package(scope, open_source(scope, source))
        except InputError as error:
            unread[name] = error.diagnostics[0].message
            continue
        errors = [item for item in reading.diagnostics if item.severity is Severity.ERROR]
        if errors or reading.vocabulary is None:
            unread[name] = errors[0].message if errors else "there is no vocabulary"
        elif _in_range(reading.vocabulary.version, first, last):
            readings[reading.vocabulary.version] = facts(reading.vocabulary)
    if not readings:
        fault = f"no version of {scope.sdk} from {first} to {last} was read"
        help_ = "give versions that exist, such as 1.8.0 1.8.9"
        span = Span(display(archives) if archives else f"{scope.distribution}@{first}")
        raise InputError([Diagnostic(span, Rule.SDK_FETCH, fault, help_)])
    order = sorted(readings, key=version_key)
    versions = tuple(
        _version(after, readings[before], readings[after])
        for before, after in zip(order, order[1:], strict=False)
    )
    return History(scope.sdk, order[0], readings[order[0]], versions, unread)


def _sources(scope: Scope, first: str, last: str, archives: Path | None) -> list[str | Path]:
    if archives is None:
        versions = published_versions(scope)
        return [item for item in versions if _in_range(item, first, last)]
    paths = (path for path in sorted(archives.iterdir()) if path.name.endswith(_ARCHIVES))
    return [path for path in paths if _in_range(_named_version(path) or first, first, last)]


def _named_version(archive: Path) -> str:
    """Returns the version in the name of an archive, or ""."""
    match = re.search(r"-(\d+(?:\.\d+)+)", archive.name)
    return match.group(1) if match else ""


def _in_range(version: str, first: str, last: str) -> bool:
    return version_key(first) <= version_key(version) <= version_key(last)


def version_key(version: str) -> tuple[tuple[int, str], ...]:
    """Returns a key that orders versions; a version sorts after its pre-releases."""
    parts = re.findall(r"\d+|[a-z]+", version.lower())
    numbers = [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
    return (*numbers, (0, ""))


def _version(version: str, before: Facts, after: Facts) -> Version:
    changed = (
        Change(fact, before[fact], after[fact])
        for fact in after
        if fact in before and before[fact] != after[fact]
    )
    return Version(
        version,
        tuple(fact for fact in after if fact not in before),
        tuple(fact for fact in before if fact not in after),
        tuple(changed),
    )


def as_json(item: History) -> str:
    """Returns the JSON form: the facts of the first version, and the changes of the others."""
    data: dict[str, Any] = {
        "sdk": item.sdk,
        "first": item.first,
        "facts": dict(item.start),
        "versions": [_version_data(version) for version in item.versions],
    }
    if item.unread:
        data["unread"] = item.unread
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def _version_data(version: Version) -> dict[str, Any]:
    data = {
        "brought": list(version.brought),
        "dropped": list(version.dropped),
        "changed": {item.fact: [item.before, item.after] for item in version.changed},
    }
    return {"version": version.version, **{key: value for key, value in data.items() if value}}


def as_markdown(item: History) -> str:
    """Returns a table with a row for each version that changed facts."""
    last = item.versions[-1].version if item.versions else item.first
    changed = [version for version in item.versions if version[1:] != ((), (), ())]
    count = f"{len(item.versions) + 1} versions, {len(changed)} with changes"
    lines = [f"## {item.sdk} {item.first} to {last}", "", f"{count}.", ""]
    lines += ["| version | brought | dropped | changed |", "| --- | --- | --- | --- |"]
    for version in changed:
        changes = [
            f"{fact}: {old or 'plain'} → {new or 'plain'}" for fact, old, new in version.changed
        ]
        cells = (_cell(version.brought), _cell(version.dropped), _cell(changes))
        lines.append(f"| {version.version} | {' | '.join(cells)} |")
    unread = [f"- {name}: {reason}" for name, reason in item.unread.items()]
    return "\n".join([*lines, *(["", "Not read:", "", *unread] if unread else [])]) + "\n"


def _cell(items: Sequence[str]) -> str:
    return "<br>".join(f"`{item}`".replace("|", "\\|") for item in items)
