"""Reads the source files of an SDK's package into memory.

A package is a folder, a wheel, an sdist or an npm archive. Its code is never run. An archive
is not unpacked, so that no member name can reach the file system.
"""

from __future__ import annotations

import json
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.paths import display
from sessiongen.vocabulary.scope import Scope

# How TypeScript calls its sources; the declarations of a build end so too.
SOURCES = (".ts", ".mts", ".cts")
_LIMIT = 256 * 1024 * 1024
_DEPTH = 4
_SKIPPED = {"node_modules", "__pycache__", "build", "venv"}

_FAULTS = (OSError, EOFError, zlib.error, zipfile.BadZipFile, tarfile.TarError, RuntimeError)


@dataclass(frozen=True)
class Package:
    """Source files by path. origin: the name of the package in diagnostics."""

    origin: str
    files: Mapping[str, bytes]

    def span(self, path: str, line: int = 1, column: int = 1) -> Span:
        """Return a position in a file; an empty path means the package."""
        return Span(f"{self.origin}/{path}" if path else self.origin, line, column)


def open_package(path: Path, scope: Scope) -> Package:
    """Read the package at a path: its folder, one above it, or an archive of it."""
    if path.is_dir():
        base = _base(path, scope)
        files = dict(_folder(base, scope)) if base else {}
        origin = base or path
    elif path.is_file():
        files, origin = _rooted(_archive(path), scope), path
    else:
        what = "neither a folder nor a file" if path.exists() else "there is nothing at this path"
        raise _refusal(path, what, "name a folder, a wheel or a .tgz")
    if not _is_package(files, scope):
        help_ = f"name the folder or an archive of {scope.distribution}"
        raise _refusal(path, f"the package {scope.package} is not here", help_)
    return Package(display(origin), files)


def _refusal(path: Path, message: str, help_: str) -> InputError:
    return InputError([Diagnostic(Span(display(path)), Rule.SDK_PACKAGE, message, help_)])


def _source(name: str) -> bool:
    return name.endswith((".py", *SOURCES)) or PurePosixPath(name).name == "package.json"


def _root_file(scope: Scope) -> str:
    if scope.language == "python":
        return scope.package.replace(".", "/") + "/__init__.py"
    return "package.json"


def _is_package(files: Mapping[str, bytes], scope: Scope) -> bool:
    key = _root_file(scope)
    if key not in files or scope.language == "python":
        return key in files
    try:
        manifest = json.loads(files[key])
    except (ValueError, RecursionError):
        return False
    return isinstance(manifest, dict) and manifest.get("name") == scope.package


def _rooted(files: dict[str, bytes], scope: Scope) -> dict[str, bytes]:
    """Return an archive's files without the folder that npm and sdists put in front."""
    key = _root_file(scope)
    roots = [name for name in files if name == key or name.endswith("/" + key)]
    if not roots:
        return {}
    front = min(roots, key=lambda name: (name.count("/"), name)).removesuffix(key)
    return {
        name.removeprefix(front): data for name, data in files.items() if name.startswith(front)
    }


class _Unsafe(Exception):
    pass


def _archive(path: Path) -> dict[str, bytes]:
    reader = _zip_members if zipfile.is_zipfile(path) else _tar_members
    try:
        return dict(_members(reader(path)))
    except _Unsafe as unsafe:
        raise _refusal(path, str(unsafe), "take the package from where it is published")
    except _FAULTS as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise _refusal(path, f"the archive cannot be read: {reason}", "fetch it again")


_Member = tuple[str, int, Callable[[], bytes]]


def _members(members: Iterator[_Member]) -> Iterator[tuple[str, bytes]]:
    total = 0
    for name, size, read in members:
        if name.startswith("/") or ".." in PurePosixPath(name).parts or "\\" in name:
            raise _Unsafe(f"the archive has a member outside itself: {name!r}")
        if not _source(name):
            continue
        total += size
        if total > _LIMIT:
            raise _Unsafe(f"the archive's sources are over {_LIMIT >> 20} MiB")
        yield name, read()


def _zip_members(path: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(path) as archive:
        for item in archive.infolist():
            if not item.is_dir():
                yield item.filename, item.file_size, partial(archive.read, item)


def _tar_members(path: Path) -> Iterator[_Member]:
    with tarfile.open(path) as archive:
        for item in archive:
            if item.isfile():
                yield item.name, item.size, partial(_content, archive, item)
            elif not item.isdir() and _source(item.name):
                raise _Unsafe(f"a source in the archive is no plain file: {item.name!r}")


def _content(archive: tarfile.TarFile, item: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(item)
    return stream.read() if stream else b""


def _folder(base: Path, scope: Scope) -> Iterator[tuple[str, bytes]]:
    start = (base / _root_file(scope)).parent
    for folder, folders, names in os.walk(start):
        folders[:] = sorted(name for name in folders if not _skipped(name))
        for file in (Path(folder, name) for name in sorted(names) if _source(name)):
            if not file.is_file():
                continue
            try:
                yield file.relative_to(base).as_posix(), file.read_bytes()
            except OSError as error:
                what = f"the file cannot be read: {error.strerror}"
                raise _refusal(file, what, "make it readable")


def _skipped(name: str) -> bool:
    return name in _SKIPPED or name.startswith(".")


def _base(path: Path, scope: Scope) -> Path | None:
    """Return the folder that the package's paths are relative to."""
    parts = tuple(scope.package.split("."))
    if scope.language == "python" and path.absolute().parts[-len(parts) :] == parts:
        return path.absolute().parents[len(parts) - 1]
    level = [path]
    for _ in range(_DEPTH):
        found = [folder for folder in level if _is_base(folder, scope)]
        if len(found) > 1:
            what = f"{scope.package} is here more than once, in {found[0].name} and {found[1].name}"
            raise _refusal(path, what, "name the folder of one of them")
        if found:
            return found[0]
        level = [folder for parent in level for folder in _folders(parent)]
    return None


def _folders(parent: Path) -> list[Path]:
    try:
        inside = sorted(parent.iterdir())
    except OSError:
        return []
    return [
        item
        for item in inside
        if item.is_dir() and not item.is_symlink() and not _skipped(item.name)
    ]


def _is_base(folder: Path, scope: Scope) -> bool:
    key = _root_file(scope)
    try:
        return _is_package({key: (folder / key).read_bytes()}, scope)
    except OSError:
        return False
