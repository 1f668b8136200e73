"""Finds what installed messages have and their oldest supported version lacks.

The oldest version is a wheel, or a descriptor set of the same protocol.
"""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.frontend import message_module
from sessiongen.frontend.compiler import Compiled
from sessiongen.frontend.elements import elements
from sessiongen.paths import display

_Files = Iterable[descriptor_pb2.FileDescriptorProto]
_HELP = "name a wheel of the messages, or a descriptor set of their oldest supported version"


@dataclass(frozen=True)
class OldestMessages:
    """The oldest supported version of installed messages.

    name: its name and version, or the name of the descriptor set.
    newer: the full names of the protocol's elements that it lacks.
    """

    name: str
    newer: frozenset[str]


def read_oldest(compiled: Compiled, config: Config) -> OldestMessages | None:
    """Returns the oldest supported version of the messages, None if the configuration has none.

    Raises:
        InputError: the version cannot be read, or is one of another protocol.
    """
    path = config.input.oldest
    if path is None:
        return None
    span = config.span(("input", "oldest"))
    name, files = _read(path, config, span)
    old = _names(files)
    new = _names(file for file in compiled.files if file.name in compiled.own)
    if old.isdisjoint(new):
        fault = f"{display(path)} has no message of {config.input.messages}"
        raise InputError([Diagnostic(span, Rule.MESSAGES_MODULE, fault, _HELP)])
    return OldestMessages(name, frozenset(new - old))


def _names(files: _Files) -> set[str]:
    return {name for file in files for name, _, _ in elements(file)}


def _read(path: Path, config: Config, span: Span) -> tuple[str, _Files]:
    try:
        if zipfile.is_zipfile(path):
            return _wheel(path, config.input.messages or "", span)
        return path.stem, descriptor_pb2.FileDescriptorSet.FromString(path.read_bytes()).file
    except (OSError, DecodeError, zipfile.BadZipFile) as error:
        reason = getattr(error, "strerror", None) or error
        fault = f"cannot read the oldest version of the messages: {reason}"
        raise InputError([Diagnostic(span, Rule.UNREADABLE, fault, _HELP)]) from None


def _wheel(path: Path, module: str, span: Span) -> tuple[str, _Files]:
    """Returns the name and the descriptors of a wheel, which is imported from a temporary folder."""
    with tempfile.TemporaryDirectory(prefix="sessiongen-") as folder:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        imported = message_module.load(module, span, Path(folder))
        if not imported.origin.is_relative_to(Path(folder).resolve()):
            fault = f"{display(path)} does not contain the module {module!r}"
            raise InputError([Diagnostic(span, Rule.MESSAGES_MODULE, fault, _HELP)])
        main = next(item for item in imported.modules.values() if item.name == module)
        return main.distribution, imported.files
