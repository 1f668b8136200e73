"""Gives descriptors without source positions the comments and positions of .proto files.

Elements are matched by their full names, so that the files may be those of another version.
"""

from __future__ import annotations

from collections.abc import Iterable

from google.protobuf import descriptor_pb2

from sessiongen.frontend.elements import elements, oneofs
from sessiongen.frontend.well_known import is_well_known

_File = descriptor_pb2.FileDescriptorProto
_Path = tuple[int, ...]
_Locations = dict[str, descriptor_pb2.SourceCodeInfo.Location]


def documented(
    files: Iterable[_File], sources: Iterable[_File]
) -> tuple[dict[str, _File], dict[str, str]]:
    """Returns the files that a source documents, and the import names of the sources.

    Both are by the name of the file. A file is documented by the source that has most of its
    elements.
    """
    located = {item.name: _locations(item) for item in sources if not is_well_known(item.name)}
    results: dict[str, _File] = {}
    aliases: dict[str, str] = {}
    for file in files:
        paths = _paths(file)
        counts = {name: len(paths.keys() & known.keys()) for name, known in located.items()}
        best = max(counts, key=lambda name: counts[name], default="")
        if counts.get(best):
            results[file.name] = _with_locations(file, paths, located[best])
            aliases[file.name] = best
    return results, aliases


def _paths(file: _File) -> dict[str, _Path]:
    """Returns the source paths of a file's elements by their full names."""
    return {**{name: path for name, path, _ in elements(file)}, **dict(oneofs(file))}


def _locations(file: _File) -> _Locations:
    by_path = {tuple(item.path): item for item in file.source_code_info.location}
    return {name: by_path[path] for name, path in _paths(file).items() if path in by_path}


def _with_locations(file: _File, paths: dict[str, _Path], located: _Locations) -> _File:
    result = _File()
    result.CopyFrom(file)
    for name, path in paths.items():
        if name in located:
            location = result.source_code_info.location.add()
            location.CopyFrom(located[name])
            del location.path[:]
            location.path.extend(path)
    return result
