"""The interface of the vectors target: its layers and entry points.

Every run imports this module; the code that generates is imported when it is needed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from sessiongen.config.model import Output, OutputOptions
from sessiongen.config.tables import KeyPath, Table, TableReader
from sessiongen.targets.base import FindSymbols, Generate, Layer, Run, Symbol, Target

if TYPE_CHECKING:
    from sessiongen.ir.model import Model
    from sessiongen.ir.schema import Field, Oneof

LAYERS = {
    "messages": Layer("messages of each arm, with their bytes and JSON"),
    "enums": Layer("the values of each enum: number, JSON name and spelling of each SDK"),
}


class VectorsTarget(Target):
    """Generates JSON files with which implementations in any language can be tested."""

    language = "vectors"
    # JSON has no comments: the files are recognized by the manifest alone.
    mark = ""
    suffixes = ()
    layers = LAYERS

    def options(
        self, tables: TableReader, table: Table, key_path: KeyPath, path: Path
    ) -> OutputOptions:
        """Returns the folder; there are no other options."""
        return OutputOptions(folder=path)

    def generation(self, run: Run) -> AbstractContextManager[Generate]:
        """Returns the function that generates the files."""
        return nullcontext(_generate)

    def symbols(self, model: Model, output: Output) -> FindSymbols:
        """Returns a function that returns the vectors of an arm."""
        from sessiongen.targets.vectors.message_vectors import KINDS, file_name

        def find(oneof: Oneof, arm: Field) -> Iterator[Symbol]:
            if "messages" in output.layers:
                file = file_name(oneof)
                lines = _lines_of_names(output.folder / file)
                for kind in KINDS:
                    name = f"{arm.name}.{kind}"
                    yield Symbol(file, name, lines.get(name))

        return find


def _generate(model: Model, output: Output) -> Mapping[str, str]:
    from sessiongen.targets.vectors.enum_vectors import enum_vectors
    from sessiongen.targets.vectors.message_vectors import message_vectors

    layers: dict[str, Callable[[Model], dict[str, str]]] = {
        "messages": message_vectors,
        "enums": enum_vectors,
    }
    return {name: text for layer in output.layers for name, text in layers[layer](model).items()}


def _lines_of_names(path: Path) -> dict[str, int]:
    """Returns the line of each vector of a file; none before it was generated."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError:
        return {}
    start = '"name": '
    numbered_lines = ((number, line.strip()) for number, line in enumerate(lines, 1))
    return {
        json.loads(line.removeprefix(start).rstrip(",")): number
        for number, line in numbered_lines
        if line.startswith(start)
    }
