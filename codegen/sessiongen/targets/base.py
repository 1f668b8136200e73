"""The interface between the generator and an output language.

The pipeline, the commands, the cache and the manifest use only this interface. To add a
language, write a Target under `targets/<language>/`, its templates under
`templates/<language>/`, and add it to `targets/registry.py`.

Every run imports this module, even if nothing has changed, so it imports neither descriptors
nor templates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sessiongen.config.model import Output, OutputOptions
from sessiongen.config.tables import KeyPath, Table, TableReader

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    from sessiongen.diagnostics import Diagnostic
    from sessiongen.frontend.message_module import MessageModule
    from sessiongen.internal_errors import InvalidModule
    from sessiongen.ir.model import Model
    from sessiongen.ir.schema import Field, Oneof, Schema


@dataclass(frozen=True)
class Layer:
    """A part of the generated code that a configuration can choose.

    needs: the layers that its code imports.
    """

    summary: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Symbol:
    """A generated symbol: its file in the output folder, and its line if the file exists."""

    file: str
    name: str
    line: int | None = None


@dataclass(frozen=True)
class Run:
    """The arguments of a run for a target, besides the protocol.

    versions: the version of the generator and of each of the target's tools.
    cache: a file in which the target may store results for the next run, or None.
    """

    versions: Mapping[str, str]
    cache: Path | None


Generate = Callable[["Model", Output], Mapping[str, str]]
FindSymbols = Callable[["Oneof", "Field"], Iterable[Symbol]]


class Target(ABC):
    """An output language.

    language: the name of the language in `[[output]]` tables.
    mark: the text at the start of each generated file that has one of the suffixes.
    suffixes: the suffixes of files that start with the mark.
    keys: the keys of this language in an `[[output]]` table.
    layers: the layers in the order in which they are listed.
    """

    language: str
    mark: str
    suffixes: tuple[str, ...]
    keys: tuple[str, ...] = ()
    layers: Mapping[str, Layer] = {}

    @abstractmethod
    def options(
        self, tables: TableReader, table: Table, key_path: KeyPath, path: Path
    ) -> OutputOptions:
        """Returns the options of an `[[output]]` table; faults go to `tables`.

        path: the value of the key `path`, which every output has.
        """

    @abstractmethod
    def generation(self, run: Run) -> AbstractContextManager[Generate]:
        """Returns a context manager for the function that generates the files of an output.

        The pipeline enters it before it compiles the protocol, so that a target can start
        subprocesses early. The function returns texts by their path in the output folder. It
        raises InputError with a diagnostic for each name of the protocol that is not possible
        in the language.
        """

    @abstractmethod
    def symbols(self, model: Model, output: Output) -> FindSymbols:
        """Returns a function that returns the symbols generated for an arm."""

    def name_faults(self, schema: Schema) -> list[Diagnostic]:
        """Returns a fault for each name that the language cannot have, whatever its role.

        `generation` reports these as well; this is for a protocol without roles, whose other
        faults are reported at the same time.
        """
        return []

    def faults(self, model: Model, output: Output) -> list[Diagnostic]:
        """Returns the faults with which `generation` would refuse an output.

        This is for a protocol with other faults, which are reported at the same time.
        """
        return []

    def invalid_module(self, output: Output, path: str, text: str) -> InvalidModule | None:
        """Returns what is wrong with the syntax of a generated file; None if it is valid.

        path: the file in the output folder. `generate` asks before it writes the file.
        """
        return None

    def module_faults(self, modules: Iterable[MessageModule]) -> list[Diagnostic]:
        """Returns what keeps `generate` from using installed modules of messages.

        `init` reports these before it writes a configuration for such a module.
        """
        return []

    def remarks(self, model: Model, output: Output) -> list[str]:
        """Returns what `generate` says of an output besides the files that it changed."""
        return []

    def tool_versions(self) -> dict[str, str]:
        """Returns the version of each installed tool whose version changes the output."""
        return {}

    def initial_keys(self, protocol_name: str) -> dict[str, str]:
        """Returns the keys of this language in a new configuration, and their values."""
        return {}

    def descriptors(self, files: Mapping[str, str]) -> list[FileDescriptorProto]:
        """Returns the descriptors in generated files, [] if they have none.

        `check` uses them to show the changes of the protocol.
        """
        return []
