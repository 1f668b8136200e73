"""The pipeline: the one way of the data, from a Config to generated files.

In: a Config. Out: a Build, which holds the protocol and the text of every file; nothing
is written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sessiongen.frontend import compiler

from sessiongen.ir import protocol

from sessiongen.ir import schema
from sessiongen.frontend.annotations import Annotated, read
from sessiongen.frontend.compiler import Compiled
from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Span
from sessiongen.ir.role_inference import search
from sessiongen.ir.roles import Roles


@dataclass(frozen=True)
class Model:
    """A protocol and the descriptors behind it."""

    protocol: protocol.Protocol
    compiled: Compiled
    annotated: Annotated

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What protoc had to say of a valid input."""
        return self.compiled.warnings


@dataclass(frozen=True)
class Build:
    """A protocol and the files generated from it, by path inside the package."""

    model: Model
    files: Mapping[str, str]

    @property
    def inputs(self) -> list[str]:
        """Import names of every file that went in."""
        return [item.name for item in self.model.compiled.files]


def model(config: Config) -> Model:
    """Return the protocol of a configuration.

    Raises:
        InputError: the input is not a valid protocol.
    """
    compiled, annotated, found = read_input(config)
    return Model(protocol.assemble(found, annotated, config), compiled, annotated)


def roles(config: Config) -> Roles:
    """Return the roles of a configuration's protocol, whatever its vocabularies hold.

    Raises:
        InputError: the input is not valid, or a role is missing or unclear.
    """
    _, annotated, found = read_input(config)
    searched = search(found, config)
    result = searched.roles()
    if result is None:
        raise InputError([*annotated.diagnostics, *searched.diagnostics])
    return result


def read_input(config: Config) -> tuple[Compiled, Annotated, schema.Schema]:
    """Return what the input holds, before anything is asked of it.

    Raises:
        InputError: the input cannot be read or is not valid.
    """
    compiled = compiler.compile_input(config)
    places = {item.name: schema.Locations(item, compiled.sources) for item in compiled.files}

    def place(file: str, path: tuple[int, ...]) -> Span:
        return places[file].span(path)

    annotated = read(compiled, config, place)
    return compiled, annotated, schema.build(annotated.files, compiled.own, compiled.sources)


def build(config: Config, versions: Mapping[str, str], texts: Path | None) -> Build:
    """Return the generated files of a configuration.

    texts: the folder of texts formatted before, or None to format them all.

    Raises:
        InputError: the input is not a protocol that code can be generated from.
    """
    # Verbs that generate nothing have no use for templates.
    from sessiongen.targets.python.formatting import Formatter
    from sessiongen.targets import python

    with Formatter(texts, versions["black"]) as formatter:
        made = model(config)
        version = versions["sessiongen"]
        files = python.generate(
            made.protocol, made.compiled, made.annotated, config, version, formatter
        )
    return Build(made, files)
