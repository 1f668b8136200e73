"""The SDKs that a configuration names.

In: a Config. Out: the paths of its vocabulary files, or a InputError where it has none.
"""

from __future__ import annotations

import os
from pathlib import Path

from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Rule
from sessiongen.paths import display
from sessiongen.vocabulary.scope import PYTHON, SCOPES


def folder(config: Config) -> Path:
    """Return where a configuration keeps its vocabulary files."""
    kept = config.sdks.vocabularies
    return kept[0].parent if kept else config.root / "vocabularies"


def languages(config: Config) -> list[str]:
    """Return the languages of the published SDKs that a configuration names; of all, if none."""
    names = {path.name for path in config.sdks.vocabularies}
    named = [scope.language for scope in SCOPES if scope.file in names]
    return named or [scope.language for scope in SCOPES]


def vocabularies(config: Config) -> tuple[Path, ...]:
    """Return the vocabulary files of a configuration.

    Raises:
        InputError: it names none, so that there is nothing to compare.
    """
    if config.sdks.vocabularies:
        return config.sdks.vocabularies
    fault = "nothing to compare: the configuration names no SDK"
    help_ = (
        "read one with `sessiongen vocabulary update`, and name its file: [sdks] "
        f'vocabularies = ["{_relative(folder(config) / PYTHON.file, config)}"]'
    )
    raise InputError([Diagnostic(config.span(("sdks",)), Rule.NO_SDK, fault, help_)])


def unnamed(config: Config) -> list[str]:
    """Return a line for vocabularies that lie where they belong, and that nothing reads."""
    known = [os.path.normpath(path) for path in config.sdks.vocabularies]
    files = [folder(config) / scope.file for scope in SCOPES]
    left = [path for path in files if path.is_file() and os.path.normpath(path) not in known]
    if not left:
        return []
    names = ", ".join(f'"{_relative(path, config)}"' for path in (*config.sdks.vocabularies, *left))
    return [f"{display(config.path)} has yet to name it: [sdks] vocabularies = [{names}]"]


def _relative(path: Path, config: Config) -> str:
    return Path(os.path.relpath(path, config.root)).as_posix()
