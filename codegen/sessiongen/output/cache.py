"""The cache: lets a run end at once if neither inputs nor outputs have changed.

It is a folder beside codegen.toml that git ignores and that may be deleted at any time. An
unchanged state is recognized before protoc or templates are loaded.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from sessiongen import resources
from sessiongen.config.model import Config, Output
from sessiongen.config.sdks import gap_file
from sessiongen.diagnostics import Diagnostic
from sessiongen.output import tool_versions
from sessiongen.output.folders import folder_of, versions_of
from sessiongen.output.writer import MANIFEST, compare, load_manifest, generated_files

FOLDER = ".sessiongen-cache"


class SavedRun(NamedTuple):
    """A run whose inputs and outputs have not changed since.

    files: the files of each output. warnings: what the run warned of.
    """

    files: list[list[str]]
    warnings: list[Diagnostic]


class Cache:
    """The state of the last run that succeeded, and a store of formatted texts."""

    def __init__(self, config: Config) -> None:
        self._config = config
        # Timestamps of files may be a few milliseconds behind the clock.
        self._started = time.time_ns() - 10_000_000
        self._folder = config.root / FOLDER
        # A folder may contain several configurations.
        self._state = self._folder / f"state-{key_of(config.path.name)}.json"
        self._fixed = {
            "versions": [versions_of(output) for output in config.outputs],
            "generator": tool_versions.generator_digest(),
            "input": repr(config.input),
            "vocabularies": [_digest(path) for path in config.sdks.vocabularies],
            # Warnings leave out what the gap files declare.
            "gaps": [_digest(gap_file(path)) for path in config.sdks.vocabularies],
            "output": [
                [repr(output), *(_digest(path) for path in output.options.inputs)]
                for output in config.outputs
            ],
            "config": hashlib.sha256(config.text.encode()).hexdigest(),
        }

    def target_file(self, output: Output) -> Path:
        """Returns the file in which the target of an output may store results."""
        self._make_folder()
        name = f"{self._config.path.name}\0{output.key_path[1:]}"
        return self._folder / f"{output.language}-{key_of(name)}.json"

    def _make_folder(self) -> None:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / ".gitignore").write_text("*\n", encoding="utf-8")
        except OSError:
            pass

    def unchanged(self) -> SavedRun | None:
        """Returns the last run if neither inputs nor outputs have changed since, else None."""
        # The files of an installed module are unknown before it is imported.
        installed = self._config.input.messages is not None
        if installed or not all(output.options.cacheable for output in self._config.outputs):
            return None
        try:
            saved = json.loads(self._state.read_bytes())
            names = [str(name) for name in saved["inputs"]]
            records, folder = saved.pop("warnings"), saved.pop("working_folder")
            warnings = [Diagnostic.from_record(item) for item in records]
            current = self._current(names)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return None
        # Warnings name files relative to the working directory.
        if current != saved or (warnings and folder != _working_folder()):
            return None
        return SavedRun([sorted(files) for files in current["outputs"]], warnings)

    def save(
        self,
        inputs: list[str],
        files: Sequence[Mapping[str, str]],
        warnings: Iterable[Diagnostic] = (),
    ) -> None:
        """Saves the current state; errors are ignored, as the cache only saves time.

        inputs: import names, or the descriptor set.
        files: the generated files of each output.
        warnings: what each run over the same inputs has to warn of.

        Nothing is saved if an input changed during the run, because another version may have
        been read, or if an output folder differs from the generated files.
        """
        self._make_folder()
        try:
            described = {
                "warnings": [item.record() for item in warnings],
                "working_folder": _working_folder(),
            }
            state = json.dumps({**self._current(inputs), **described}, indent=1)
            # Checked after the digests, so that an edit between the two is noticed.
            if any(self._changed_since_start(name) for name in inputs):
                return
            pairs = zip(self._config.outputs, files, strict=True)
            if not any(compare(folder_of(output), texts) for output, texts in pairs):
                self._state.write_text(state, encoding="utf-8")
        except OSError:
            pass

    def _current(self, names: list[str]) -> dict[str, Any]:
        return {
            **self._fixed,
            "inputs": {name: self._input(name) for name in sorted(names)},
            "outputs": [_output_digests(output) for output in self._config.outputs],
        }

    def _input(self, name: str) -> list[str]:
        """Returns the path and the digest of the file with an import name.

        The path matters because a new file on an earlier include path hides the old one.
        """
        path = self._path(name)
        return [str(path or ""), _digest(path) if path else ""]

    def _path(self, name: str) -> Path | None:
        if self._config.input.descriptor_set is not None:
            return self._config.input.descriptor_set
        folders = (*self._config.input.include, resources.include_dir())
        return next((folder / name for folder in folders if (folder / name).is_file()), None)

    def _changed_since_start(self, name: str) -> bool:
        path = self._path(name)
        try:
            if path is None:
                return False
            # Moving a file keeps its modification time but updates its status change time.
            status = path.stat()
            return max(status.st_mtime_ns, status.st_ctime_ns) > self._started
        except OSError:
            return True


def _working_folder() -> str:
    try:
        return os.getcwd()
    except FileNotFoundError:  # it was removed
        return ""


def key_of(text: str) -> str:
    """Returns a part of a file name for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _output_digests(output: Output) -> dict[str, str]:
    manifest = load_manifest(output.folder)
    # Generated files that are not in the manifest are drift.
    names = {MANIFEST, *(manifest.files if manifest else {}), *generated_files(folder_of(output))}
    return {name: _digest(output.folder / name) for name in sorted(names)}


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
