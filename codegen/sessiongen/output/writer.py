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
# What the name of a kept file ends in.
EDITED = ".edited"


@dataclass(frozen=True)
class Folder:
    """An output folder, and how a generated file in it is recognized: see Target."""

    path: Path
    mark: str
    suffixes: tuple[str, ...]


@dataclass(frozen=True)
class Manifest:
    """What an earlier run wrote: tool versions, and the digest of each file."""

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
    """A path whose text on disk is not the generated one; None stands for no file."""

    path: str
    wanted: str | None
    found: str | None

    def diff(self, folder: str) -> str:
        """Return a unified diff from what is on disk to what it should be."""
        name = f"{folder}/{self.path}"
        lines = difflib.unified_diff(
            _lines(self.found),
            _lines(self.wanted),
            "/dev/null" if self.found is None else f"a/{name}",
            "/dev/null" if self.wanted is None else f"b/{name}",
        )
        # git needs the mode to create or delete a file, and has no hunk for an empty one.
        head = f"diff --git a/{name} b/{name}\n"
        if self.found is None:
            head += "new file mode 100644\n"
        if self.wanted is None:
            head += "deleted file mode 100644\n"
        return head + "".join(
            line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
            for line in lines
        )


def _lines(text: str | None) -> list[str]:
    # str.splitlines would also split at form feeds and the like, which patch does not.
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
    return Manifest(tools, {name: digest for name, digest in files.items() if _inside(name)})


def manifest_for(files: Mapping[str, str], tools: Mapping[str, str]) -> Manifest:
    """Return the manifest of freshly generated files."""
    return Manifest(tools, {name: digest(text) for name, text in files.items()})


def compare(folder: Folder, files: Mapping[str, str]) -> list[Difference]:
    """Return the differences between a folder and generated files; line ends are none."""
    differences = []
    for name, text in sorted(files.items()):
        found = read_text(folder.path / name)
        if found != text:
            differences.append(Difference(name, text, found))
    for name in sorted(ours(folder) - set(files) - {MANIFEST}):
        differences.append(Difference(name, None, read_text(folder.path / name)))
    return differences


@dataclass(frozen=True)
class Plan:
    """What writing an output changes.

    changes: files to write or remove. edited: those of them that were edited by hand.
    kept: files that are no longer generated, but were edited, and stay.
    """

    folder: Folder
    changes: list[Difference]
    edited: list[Difference]
    kept: list[Difference]


def plan(folder: Folder, files: Mapping[str, str], manifest: Manifest) -> Plan:
    """Return what it takes for a folder to hold the generated files.

    Raises:
        InputError: a file that this tool did not write is in the way.
    """
    differences = compare(folder, {**files, MANIFEST: manifest.dump()})
    edited = [item for item in differences if _is_edited(folder.path, item)]
    kept = [item for item in edited if item.wanted is None]
    changes = [item for item in differences if item not in kept]
    existing = [item for item in changes if os.path.lexists(folder.path / item.path)]
    _refuse_foreign(folder, existing)
    return Plan(folder, changes, [item for item in edited if item not in kept], kept)


def write(plan: Plan) -> list[Diagnostic]:
    """Carry out a plan; return a warning for each file that was edited by hand.

    Every file is written to a staging folder first and then moved into place, the manifest
    last. A run that is interrupted while it writes leaves the old files; one that is killed
    while it moves leaves each file either old or new. The edited text of a file is kept
    beside it.

    Raises:
        InputError: the folder cannot be written.
    """
    folder = plan.folder.path
    try:
        backups = [(_backup(folder, item), item) for item in plan.edited]
        _move_in(folder, plan.changes)
    except OSError as error:
        fault = f"cannot write {display(Path(error.filename or folder))}: {error.strerror}"
        help_ = "nothing was lost; make the folder writable and run generate again"
        raise InputError([Diagnostic(Span(display(folder)), Rule.OUTPUT, fault, help_)]) from None
    replaced = [_replaced(folder, item, backup) for backup, item in backups]
    return replaced + [_left(folder, item) for item in plan.kept]


def _backup(folder: Path, item: Difference) -> Path:
    """Keep the text of an edited file beside it, under a name that is free."""
    path = folder / f"{item.path}{EDITED}"
    number = 1
    while path.exists():
        number += 1
        path = folder / f"{item.path}{EDITED}.{number}"
    shutil.copyfile(folder / item.path, path)
    return path


def _replaced(folder: Path, item: Difference, backup: Path) -> Diagnostic:
    return Diagnostic(
        Span(display(folder / item.path)),
        Rule.EDITED,
        f"this generated file was edited by hand; the edited text is now in {display(backup)}",
        "change the protocol, the templates or the overrides instead, and remove that file",
        Severity.WARNING,
    )


def _move_in(folder: Path, changes: Iterable[Difference]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    _sweep(folder)
    staging = folder / f"{STAGING}{os.getpid()}"
    wanted = {item.path: item.wanted for item in changes if item.wanted is not None}
    if MANIFEST in wanted:
        wanted[MANIFEST] = wanted.pop(MANIFEST)
    if wanted:
        staging.mkdir()
    try:
        for name, text in wanted.items():
            (staging / name).parent.mkdir(parents=True, exist_ok=True)
            (staging / name).write_text(text, encoding="utf-8", newline="\n")
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
        with _undisturbed():
            for item in changes:
                if item.wanted is None:
                    (folder / item.path).unlink(missing_ok=True)
            for name in wanted:
                os.replace(staging / name, folder / name)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold back signals that ask this process to end, until the block is over."""
    # Windows cannot hold signals back; the block is short.
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


def _sweep(folder: Path) -> None:
    """Remove what a run that was killed left in its staging folder."""
    for path in folder.glob(f"{STAGING}*"):
        pid = path.name.removeprefix(STAGING)
        # In a container each run may well have the process id of the one before.
        gone = not (pid.isdecimal() and _alive(int(pid))) or int(pid) == os.getpid()
        if gone and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _refuse_foreign(folder: Folder, overwritten: Iterable[Difference]) -> None:
    known = ours(folder)
    # A manifest that is torn, or in conflict after a merge, is still known by its files.
    if known or load_manifest(folder.path) is not None:
        known.add(MANIFEST)
    faults = [
        Diagnostic(
            Span(display(folder.path / item.path)),
            Rule.OUTPUT,
            "this file is in the way, and sessiongen did not write it",
            "move it, or set another output.path or output.package in codegen.toml",
        )
        for item in overwritten
        if item.path not in known or not (folder.path / item.path).is_file()
    ]
    if faults:
        raise InputError(faults)


def ours(folder: Folder) -> set[str]:
    """Return the files of a folder that this tool wrote: by its manifest or by their mark.

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
    """Whether a generated file is not what the manifest says was written.

    A file that the manifest does not have, but that has the mark, counts as edited only if it
    is to be removed.
    """
    if difference.found is None or difference.path == MANIFEST:
        return False
    manifest = load_manifest(folder)
    written = manifest.files.get(difference.path) if manifest else None
    if written is None:
        return difference.wanted is None
    return written != digest(difference.found)


def _left(folder: Path, difference: Difference) -> Diagnostic:
    return Diagnostic(
        Span(display(folder / difference.path)),
        Rule.EXTRA_OUTPUT,
        "this generated file is no longer made, but was edited since; it is left alone",
        "remove it by hand if nothing in it is needed",
        Severity.WARNING,
    )


def _inside(name: str) -> bool:
    """Whether a path of a manifest is a plain relative path: one may have been edited."""
    parts = name.split("/")
    return "\\" not in name and "\0" not in name and not {"", ".", ".."} & set(parts)


def digest(text: str) -> str:
    """Return the digest under which the manifest knows a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8").replace("\r\n", "\n")


def read_text(path: Path) -> str | None:
    """Return a file's text with LF line ends; None if there is no such file."""
    try:
        return path.read_bytes().decode("utf-8", errors="replace").replace("\r\n", "\n")
    except OSError:
        return None
