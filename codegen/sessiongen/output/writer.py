"""Compares generated files with an output folder, and plans the changes that write them.

Files that an earlier run wrote and that are no longer generated are removed; files that this
tool did not write are never touched.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display

MANIFEST = "sessiongen.json"


@dataclass(frozen=True)
class Folder:
    """An output folder. mark, suffixes: how its generated files are recognized; see Target."""

    path: Path
    mark: str
    suffixes: tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    """The tool versions of a run, and the digest of each file that it wrote."""

    tools: Mapping[str, str]
    files: Mapping[str, str]

    def dump(self) -> str:
        """Returns the manifest's text."""
        data = {
            "tools": dict(sorted(self.tools.items())),
            "files": dict(sorted(self.files.items())),
        }
        return json.dumps(data, indent=2) + "\n"


@dataclass(frozen=True)
class Difference:
    """A file whose text on disk differs from the generated text. None: there is no file."""

    path: str
    expected: str | None
    actual: str | None

    def diff(self, folder: str) -> str:
        """Returns a unified diff from the text on disk to the generated text."""
        name = f"{folder}/{self.path}"
        lines = difflib.unified_diff(
            _lines(self.actual),
            _lines(self.expected),
            "/dev/null" if self.actual is None else f"a/{name}",
            "/dev/null" if self.expected is None else f"b/{name}",
        )
        # git requires the mode to create or delete a file; an empty file has no hunk.
        head = f"diff --git a/{name} b/{name}\n"
        if self.actual is None:
            head += "new file mode 100644\n"
        if self.expected is None:
            head += "deleted file mode 100644\n"
        return head + "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in lines
        )


def _lines(text: str | None) -> list[str]:
    # Unlike str.splitlines, patch splits at line feeds only.
    return re.findall(r"[^\n]*\n|[^\n]+", text or "")


def load_manifest(folder: Path) -> Manifest | None:
    """Returns the manifest of a folder; None if there is none that can be read."""
    try:
        data = json.loads(_read(folder / MANIFEST))
        tools, files = data["tools"], data["files"]
        pairs = [*tools.items(), *files.items()]
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not all(isinstance(key, str) and isinstance(value, str) for key, value in pairs):
        return None
    return Manifest(tools, {name: digest for name, digest in files.items() if _is_relative(name)})


def manifest_for(files: Mapping[str, str], tools: Mapping[str, str]) -> Manifest:
    """Returns the manifest of generated files."""
    return Manifest(tools, {name: digest(text) for name, text in files.items()})


def compare(folder: Folder, files: Mapping[str, str]) -> list[Difference]:
    """Returns the differences between a folder and generated files, except in line endings."""
    differences = []
    for name, text in sorted(files.items()):
        actual = read_text(folder.path / name)
        if actual != text:
            differences.append(Difference(name, text, actual))
    for name in sorted(generated_files(folder) - set(files) - {MANIFEST}):
        differences.append(Difference(name, None, read_text(folder.path / name)))
    return differences


@dataclass(frozen=True)
class Plan:
    """The changes that write an output.

    changes: files to write or remove. edited: those of them that were edited by hand.
    preserved: edited files that are no longer generated, which are not removed.
    """

    folder: Folder
    changes: list[Difference]
    edited: list[Difference]
    preserved: list[Difference]


def plan(folder: Folder, files: Mapping[str, str], manifest: Manifest) -> Plan:
    """Returns the changes that make a folder contain the generated files.

    Raises:
        InputError: a file that this tool did not write would be overwritten.
    """
    differences = compare(folder, {**files, MANIFEST: manifest.dump()})
    edited = [item for item in differences if _is_edited(folder.path, item)]
    preserved = [item for item in edited if item.expected is None]
    changes = [item for item in differences if item not in preserved]
    faults = foreign_files(folder, files, differences)
    if faults:
        raise InputError(faults)
    return Plan(folder, changes, [item for item in edited if item not in preserved], preserved)


def foreign_files(
    folder: Folder, files: Mapping[str, str], differences: Iterable[Difference]
) -> list[Diagnostic]:
    """Returns a fault for each file that would be overwritten although this tool did not write it.

    files: the generated files. differences: those between the folder and the generated files.
    """
    changed = {item.path for item in differences if item.expected is not None}
    known = generated_files(folder)
    damaged = load_manifest(folder.path) is None and (folder.path / MANIFEST).is_file()
    # A damaged manifest is still recognized if generated files are beside it.
    if known or not damaged or any(files[name] for name in set(files) - changed):
        known.add(MANIFEST)
    return [
        _foreign_file(folder.path / name, damaged)
        for name in sorted(changed)
        if os.path.lexists(folder.path / name)
        if name not in known or not (folder.path / name).is_file()
    ]


def _foreign_file(path: Path, damaged: bool) -> Diagnostic:
    fault = "this file would be overwritten, and sessiongen did not write it"
    help_ = "move it, or set another output.path or output.package in codegen.toml"
    if damaged:
        fault = f"this file would be overwritten, and {MANIFEST} does not say who wrote it"
        help_ = (
            f"restore {MANIFEST}, remove the folder if all its files were generated, or set another "
            "output.path in codegen.toml"
        )
    return Diagnostic(Span(display(path)), Rule.OUTPUT, fault, help_)


def generated_files(folder: Folder) -> set[str]:
    """Returns the files in a folder that are in its manifest or have the mark.

    Subfolders are searched for marked files if the manifest has a file in them.
    """
    manifest = load_manifest(folder.path)
    listed = {
        name for name in (manifest.files if manifest else {}) if (folder.path / name).is_file()
    }
    parents = {PurePosixPath(name).parent for name in listed} | {PurePosixPath()}
    marked = {
        (parent / path.name).as_posix()
        for parent in parents
        if (folder.path / parent).is_dir()
        for path in (folder.path / parent).iterdir()
        if path.suffix in folder.suffixes and path.is_file() and _is_marked(path, folder.mark)
    }
    return listed | marked


def _is_marked(path: Path, mark: str) -> bool:
    start = mark.encode()
    try:
        with path.open("rb") as file:
            return file.read(len(start)) == start
    except OSError:
        return False


def _is_edited(folder: Path, difference: Difference) -> bool:
    """Whether a generated file may differ from the text that was written.

    Without an entry in the manifest this cannot be told, and the file counts as edited.
    """
    if difference.actual is None or difference.path == MANIFEST:
        return False
    manifest = load_manifest(folder)
    written = manifest.files.get(difference.path) if manifest else None
    return written != digest(difference.actual)


def _is_relative(name: str) -> bool:
    """Whether a path of a manifest is relative; a manifest may have been edited."""
    parts = name.split("/")
    return "\\" not in name and "\0" not in name and not {"", ".", ".."} & set(parts)


def digest(text: str) -> str:
    """Returns the digest of a text for the manifest."""
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8").replace("\r\n", "\n")


def read_text(path: Path) -> str | None:
    """Returns a file's text with LF line ends; None if there is no such file.

    Raises:
        InputError: the file may not be read.
    """
    try:
        return path.read_bytes().decode("utf-8", errors="replace").replace("\r\n", "\n")
    except PermissionError as error:
        fault, help_ = f"cannot read this file: {error.strerror}", "make it readable"
        raise InputError([Diagnostic(Span(display(path)), Rule.OUTPUT, fault, help_)]) from None
    except OSError:
        return None
