"""The small SDKs in tests/cases/sdks, edits of them, and their comparison with their protocol."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import tomli

from sessiongen import parity, pipeline
from sessiongen.config import reader
from sessiongen.diagnostics import Severity
from sessiongen.vocabulary.commands import read_package
from sessiongen.vocabulary.model import Reading, Vocabulary
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.scope import load_scope

FOLDER = Path(__file__).resolve().parents[2] / "cases" / "sdks"
_CONFIG = reader.load(FOLDER / "codegen.toml")
# The SDK in each folder.
SDKS = {"python": "python-sdk", "typescript": "js-sdk"}

Files = Mapping[str, str]


@dataclass(frozen=True)
class Edit:
    """An edit of an SDK: files with their text before and after, and what it must raise.

    raises: the id of a finding, or the rule and the file of a diagnostic; "" for nothing.
    """

    language: str
    name: str
    changes: tuple[tuple[str, str, str], ...]
    raises: str

    def files(self) -> dict[str, str]:
        """Returns the files of the SDK after this edit."""
        result = dict(sources(self.language))
        for path, before, after in self.changes:
            if before:
                assert result[path].count(before) == 1, f"{path} has {before!r} not once"
                result[path] = result[path].replace(before, after)
            else:
                result[path] = result.get(path, "") + after
        return result


def edits(language: str) -> list[Edit]:
    """Returns the edits of the SDK in a language that must be noticed."""
    return _read_edits(language, "edits")


def rewrites(language: str) -> list[Edit]:
    """Returns the edits of the SDK in a language that change nothing of what it does."""
    return _read_edits(language, "rewrites")


def _read_edits(language: str, key: str) -> list[Edit]:
    text = (FOLDER / f"{language}.edits.toml").read_text(encoding="utf-8")
    return [
        Edit(
            language,
            item["name"],
            tuple((each["file"], each["before"], each["after"]) for each in item["changes"]),
            item.get("raises", ""),
        )
        for item in tomli.loads(text).get(key, ())
    ]


@cache
def sources(language: str) -> Files:
    """Returns the files of the SDK in a language, by their paths."""
    folder = FOLDER / language
    files = (path for path in folder.rglob("*") if path.suffix in (".py", ".ts", ".json"))
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def differences(language: str, files: Files) -> list[str]:
    """Returns the ids of an SDK's differences, and the rule and file of each error in reading it.

    The other SDK is compared with it, unedited.
    """
    return sorted({name for name, _ in _states(language, files)})


def raised(edit: Edit) -> list[str]:
    """Returns the differences that an edit brings or changes, as `differences` does."""
    unedited = _unedited_states(edit.language)
    return sorted({name for name, _ in _states(edit.language, edit.files()) - unedited})


@cache
def _unedited_states(language: str) -> set[tuple[str, str]]:
    return _states(language, sources(language))


def _states(language: str, files: Files) -> set[tuple[str, str]]:
    """Returns the id and state of each difference, and the rule and message of each error."""
    reading = _read(language, files)
    errors = [item for item in reading.diagnostics if item.severity is Severity.ERROR]
    states = {
        (f"{item.rule.value} {item.span.file.partition('/')[2]}", item.message) for item in errors
    }
    if reading.vocabulary is None:
        return states
    vocabularies = tuple(
        reading.vocabulary if name == language else _unedited(name) for name in SDKS
    )
    model = pipeline.model(_CONFIG, vocabularies)
    result = parity.compare(model.protocol, model.annotated, _CONFIG)
    findings = (item for section in result.sections for item in section.findings())
    return states | {(item.id, item.state) for item in findings if item.sdk == SDKS[language]}


def vocabulary_of(language: str, files: Files) -> Vocabulary:
    """Returns the vocabulary of an SDK with these files."""
    vocabulary = _read(language, files).vocabulary
    assert vocabulary is not None
    return vocabulary


def compared(language: str, files: Files) -> set[str]:
    """Returns the ids of the differences that were looked for in both SDKs and do not exist."""
    vocabulary = vocabulary_of(language, files)
    vocabularies = tuple(vocabulary if name == language else _unedited(name) for name in SDKS)
    model = pipeline.model(_CONFIG, vocabularies)
    result = parity.compare(model.protocol, model.annotated, _CONFIG)
    return {item.pattern for section in result.sections for item in section.compared()}


def _read(language: str, files: Files) -> Reading:
    package = Package("sdk", {name: text.encode() for name, text in files.items()})
    scope = load_scope(FOLDER / f"{SDKS[language]}.json", pipeline.roles(_CONFIG))
    return read_package(scope, package)


@cache
def _unedited(language: str) -> Vocabulary:
    return vocabulary_of(language, sources(language))
