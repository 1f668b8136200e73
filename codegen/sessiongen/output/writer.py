"""Compares generated files with an output folder, and writes them all or not at all.

Files that an earlier run wrote and that are no longer generated are removed; files that this
tool did not write are never touched.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
import re
import shutil
import signal
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Severity, Span
from sessiongen.paths import display

MANIFEST = "sessiongen.json"
STAGING = ".sessiongen-staging-"
# The suffix of the copy of a file that was edited by hand.
EDITED = ".edited"


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
        """Return the manifest's text."""
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
        """Return a unified diff from the text on disk to the generated text."""
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
    """Return the manifest of a folder; None if there is none that can be read."""
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
    """Return the manifest of generated files."""
    return Manifest(tools, {name: digest(text) for name, text in files.items()})


def compare(folder: Folder, files: Mapping[str, str]) -> list[Difference]:
    """Return the differences between a folder and generated files, except in line endings."""
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
    """Return the changes that make a folder contain the generated files.

    Raises:
        InputError: a file that this tool did not write would be overwritten.
    """
    differences = compare(folder, {**files, MANIFEST: manifest.dump()})
    edited = [item for item in differences if _is_edited(folder.path, item)]
    preserved = [item for item in edited if item.expected is None]
    changes = [item for item in differences if item not in preserved]
    existing = [item for item in changes if os.path.lexists(folder.path / item.path)]
    _check_foreign_files(folder, existing)
    return Plan(folder, changes, [item for item in edited if item not in preserved], preserved)


def write(plan: Plan) -> list[Diagnostic]:
    """Apply a plan; return a warning for each file that was edited by hand.

    All files are written to a staging folder and then moved into place, the manifest last. If
    the run is interrupted while it writes, the old files remain; if it is killed while it
    moves files, each file is either old or new. The edited text of a file is copied to
    another file beside it.

    Raises:
        InputError: the folder cannot be written.
    """
    folder = plan.folder.path
    try:
        backups = [(_backup(folder, item), item) for item in plan.edited]
        _move_in(folder, plan.changes)
    except OSError as error:
        fault = f"cannot write {display(Path(error.filename or folder))}: {error.strerror}"
        help_ = "make the folder writable and run generate again; no file was lost"
        raise InputError([Diagnostic(Span(display(folder)), Rule.OUTPUT, fault, help_)]) from None
    warnings = [_edited_warning(folder, item, backup) for backup, item in backups]
    return warnings + [_preserved_warning(folder, item) for item in plan.preserved]


def _backup(folder: Path, item: Difference) -> Path:
    """Copy an edited file to an unused name beside it, and return the new path."""
    path = folder / f"{item.path}{EDITED}"
    number = 1
    while os.path.lexists(path):
        number += 1
        path = folder / f"{item.path}{EDITED}.{number}"
    shutil.copyfile(folder / item.path, path)
    return path


def _edited_warning(folder: Path, item: Difference, backup: Path) -> Diagnostic:
    return Diagnostic(
        Span(display(folder / item.path)),
        Rule.EDITED,
        f"this generated file was edited by hand; the edited text is now in {display(backup)}",
        "change the protocol, the templates or the overrides instead, and remove that file",
        Severity.WARNING,
    )


def _move_in(folder: Path, changes: Iterable[Difference]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _remove_stale_staging(folder)
    staging = folder / f"{STAGING}{os.getpid()}"
    texts = {item.path: item.expected for item in changes if item.expected is not None}
    if MANIFEST in texts:
        texts[MANIFEST] = texts.pop(MANIFEST)
    if texts:
        staging.mkdir()
    try:
        for name, text in texts.items():
            (staging / name).parent.mkdir(parents=True, exist_ok=True)
            (staging / name).write_text(text, encoding="utf-8", newline="\n")
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with _signals_blocked():
            for item in changes:
                if item.expected is None:
                    (folder / item.path).unlink(missing_ok=True)
            for name in texts:
                os.replace(staging / name, folder / name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Block signals that end the process until the end of the block."""
    # Windows cannot block signals.
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    )
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _remove_stale_staging(folder: Path) -> None:
    """Remove the staging folders of runs that were killed."""
    for path in folder.glob(f"{STAGING}*"):
        pid = path.name.removeprefix(STAGING)
        # In a container, each run may have the same process id.
        stale = not (pid.isdecimal() and _alive(int(pid))) or int(pid) == os.getpid()
        if stale and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _check_foreign_files(folder: Folder, overwritten: Iterable[Difference]) -> None:
    known = generated_files(folder)
    # A damaged manifest is still recognized if generated files are beside it.
    if known or load_manifest(folder.path) is not None:
        known.add(MANIFEST)
    faults = [
        Diagnostic(
            Span(display(folder.path / item.path)),
            Rule.OUTPUT,
            "this file would be overwritten, and sessiongen did not write it",
            "move it, or set another output.path or output.package in codegen.toml",
        )
        for item in overwritten
        if item.path not in known or not (folder.path / item.path).is_file()
    ]
    if faults:
        raise InputError(faults)


def generated_files(folder: Folder) -> set[str]:
    """Return the files in a folder that are in its manifest or have the mark.

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


def _preserved_warning(folder: Path, difference: Difference) -> Diagnostic:
    return Diagnostic(
        Span(display(folder / difference.path)),
        Rule.EXTRA_OUTPUT,
        "this file is no longer generated, but it was edited by hand; it was not removed",
        "remove it by hand if nothing in it is needed",
        Severity.WARNING,
    )


def _is_relative(name: str) -> bool:
    """Whether a path of a manifest is relative; a manifest may have been edited."""
    parts = name.split("/")
    return "\\" not in name and "\0" not in name and not {"", ".", ".."} & set(parts)


def digest(text: str) -> str:
    """Return the digest of a text for the manifest."""
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8").replace("\r\n", "\n")


def read_text(path: Path) -> str | None:
    """Return a file's text with LF line ends; None if there is no such file.

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
