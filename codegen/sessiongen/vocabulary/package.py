"""Reads the source files of an SDK's package into memory.

A package is a folder, a wheel, an sdist or an npm archive. Its code is never run. An archive
is not unpacked, so that no member name can reach the file system.
"""

from __future__ import annotations

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
from sessiongen.vocabulary.package_layout import LAYOUTS
from sessiongen.vocabulary.scope import PackageSource

# The suffixes of TypeScript sources; those of declaration files end in the same way.
SOURCE_SUFFIXES = (".ts", ".mts", ".cts")
# The files that say which packages a package requires.
METADATA_FILES = ("METADATA", "PKG-INFO", "package.json", "pyproject.toml")
_MAX_SOURCE_BYTES = 256 * 1024 * 1024
_SEARCH_DEPTH = 4
_SKIPPED_FOLDERS = {"node_modules", "__pycache__", "build", "venv"}

_ARCHIVE_ERRORS = (
    OSError,
    EOFError,
    zlib.error,
    zipfile.BadZipFile,
    tarfile.TarError,
    RuntimeError,
)


@dataclass(frozen=True)
class Package:
    """The source files of a package, by path. origin: its name in diagnostics."""

    origin: str
    files: Mapping[str, bytes]

    def span(self, path: str, line: int = 1, column: int = 1) -> Span:
        """Returns a position in a file; an empty path means the package."""
        return Span(display(Path(self.origin, path)) if path else self.origin, line, column)


def open_package(path: Path, source: PackageSource) -> Package:
    """Returns the package at a path: its folder, a folder that contains it, or an archive.

    Raises:
        InputError: the path has no such package, or an archive cannot be read.
    """
    if path.is_dir():
        base = _base_folder(path, source)
        files = dict(_folder_files(base, source)) if base else {}
        origin = base or path
    elif path.is_file():
        files, origin = _without_top_folder(_archive_files(path), source), path
    else:
        message = (
            "the path is neither a folder nor a file"
            if path.exists()
            else "there is nothing at this path"
        )
        raise _package_error(path, message, "name a folder, a wheel or a .tgz")
    if not _is_package(files, source):
        help_ = f"name the folder or an archive of {source.distribution}"
        raise _package_error(
            path, f"the package {source.package} was not found at this path", help_
        )
    return Package(display(origin), files)


def _package_error(path: Path, message: str, help_: str) -> InputError:
    return InputError([Diagnostic(Span(display(path)), Rule.SDK_PACKAGE, message, help_)])


def _is_source(name: str) -> bool:
    return name.endswith((".py", *SOURCE_SUFFIXES)) or PurePosixPath(name).name in METADATA_FILES


def _root_file(source: PackageSource) -> str:
    return LAYOUTS[source.language].root_file(source.package)


def _is_package(files: Mapping[str, bytes], source: PackageSource) -> bool:
    data = files.get(_root_file(source))
    layout = LAYOUTS[source.language]
    return data is not None and layout.is_root_file(data, source.package)


def _without_top_folder(files: dict[str, bytes], source: PackageSource) -> dict[str, bytes]:
    """Returns an archive's files by their paths below the top folder of npm archives and sdists."""
    key = _root_file(source)
    root_files = [name for name in files if name == key or name.endswith("/" + key)]
    if not root_files:
        return {}
    prefix = min(root_files, key=lambda name: (name.count("/"), name)).removesuffix(key)
    return {
        name.removeprefix(prefix): data for name, data in files.items() if name.startswith(prefix)
    }


class _UnsafeArchive(Exception):
    pass


def _archive_files(path: Path) -> dict[str, bytes]:
    reader = _zip_members if zipfile.is_zipfile(path) else _tar_members
    try:
        return dict(_members(reader(path)))
    except _UnsafeArchive as error:
        raise _package_error(path, str(error), "download the package from its registry")
    except _ARCHIVE_ERRORS as error:
        reason = str(error).partition("\n")[0].rstrip(":")
        raise _package_error(path, f"the archive cannot be read: {reason}", "download it again")


_Member = tuple[str, int, Callable[[], bytes]]


def _members(members: Iterator[_Member]) -> Iterator[tuple[str, bytes]]:
    total = 0
    for name, size, read in members:
        if name.startswith("/") or ".." in PurePosixPath(name).parts or "\\" in name:
            raise _UnsafeArchive(f"the archive has a member outside its root: {name!r}")
        if not _is_source(name):
            continue
        total += size
        if total > _MAX_SOURCE_BYTES:
            raise _UnsafeArchive(
                f"the sources in the archive are larger than {_MAX_SOURCE_BYTES >> 20} MiB"
            )
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
            elif not item.isdir() and _is_source(item.name):
                raise _UnsafeArchive(
                    f"a source in the archive is not a regular file: {item.name!r}"
                )


def _content(archive: tarfile.TarFile, item: tarfile.TarInfo) -> bytes:
    stream = archive.extractfile(item)
    return stream.read() if stream else b""


def _folder_files(base: Path, source: PackageSource) -> Iterator[tuple[str, bytes]]:
    for file in _folder_paths(base, source):
        if not file.is_file():
            continue
        try:
            yield file.relative_to(base).as_posix(), file.read_bytes()
        except OSError as error:
            message = f"the file cannot be read: {error.strerror}"
            raise _package_error(file, message, "make it readable")


def _folder_paths(base: Path, source: PackageSource) -> Iterator[Path]:
    start = (base / _root_file(source)).parent
    if start != base:
        # The metadata of a Python package is beside the folder of its sources.
        yield base / "pyproject.toml"
        name = source.distribution.replace("-", "_")
        yield from sorted(base.glob(f"{name}-*.dist-info/METADATA"))
    for folder, folders, names in os.walk(start):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        yield from (Path(folder, name) for name in sorted(names) if _is_source(name))


def _is_skipped(name: str) -> bool:
    return name in _SKIPPED_FOLDERS or name.startswith(".")


def _base_folder(path: Path, source: PackageSource) -> Path | None:
    """Returns the folder that the package's paths are relative to."""
    base = LAYOUTS[source.language].base_of(path, source.package)
    if base is not None:
        return base
    level = [path]
    for _ in range(_SEARCH_DEPTH):
        folders = [folder for folder in level if _is_base(folder, source)]
        if len(folders) > 1:
            message = (
                f"{source.package} was found twice, in {folders[0].name} and {folders[1].name}"
            )
            raise _package_error(path, message, "name the folder of one of them")
        if folders:
            return folders[0]
        level = [folder for parent in level for folder in _subfolders(parent)]
    return None


def _subfolders(parent: Path) -> list[Path]:
    try:
        items = sorted(parent.iterdir())
    except OSError:
        return []
    return [
        item
        for item in items
        if item.is_dir() and not item.is_symlink() and not _is_skipped(item.name)
    ]


def _is_base(folder: Path, source: PackageSource) -> bool:
    key = _root_file(source)
    try:
        return _is_package({key: (folder / key).read_bytes()}, source)
    except OSError:
        return False
