"""Links descriptors, and finds the element that protobuf for Python rejects."""

from __future__ import annotations

import re
from collections.abc import Iterable

from google.protobuf import descriptor_pb2, descriptor_pool

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.frontend.elements import elements, oneofs
from sessiongen.frontend.source_map import SourceMap

_File = descriptor_pb2.FileDescriptorProto


def link(files: Iterable[_File], source_map: SourceMap) -> None:
    """Checks that descriptors link.

    Raises:
        InputError: protobuf for Python rejects a file.
    """
    pool = descriptor_pool.DescriptorPool()
    for item in files:
        try:
            pool.Add(item)
            pool.FindFileByName(item.name)
        except (TypeError, KeyError) as error:
            reason = str(error).replace("\n", " ").strip()
            fault = f"the descriptors do not link: {reason}"
            help_ = "protobuf for Python rejects the element that the message names: rename or remove it"
            span = _span(item, reason, source_map)
            raise InputError([Diagnostic(span, Rule.DESCRIPTOR_SET, fault, help_)]) from None


def _span(file: _File, reason: str, source_map: SourceMap) -> Span:
    """Returns the position of the element that a reason names, or that of the file.

    Most rejected names are those of two fields of a message that have one name in JSON.
    """
    words = set(re.findall(r"\w+", reason))
    alike: dict[tuple[str, str], list[tuple[int, ...]]] = {}
    for name, path in [*((name, path) for name, path, _ in elements(file)), *oneofs(file)]:
        parent, _, own = name.rpartition(".")
        if own in words:
            alike.setdefault((parent, _json_name(own)), []).append(path)
    repeated = [paths for paths in alike.values() if len(paths) > 1]
    [path, *more] = repeated[0][-1:] if repeated else [paths[0] for paths in alike.values()] or [()]
    locations = {tuple(item.path): item.span for item in file.source_code_info.location}
    if more or path not in locations or not path:
        return source_map.span(file.name)
    return source_map.span(file.name, *locations[path][:2])


def _json_name(name: str) -> str:
    return re.sub("_+(.?)", lambda match: match[1].upper(), name)
