"""The pipeline: a Config to a protocol, and a protocol to the files of every output.

Nothing is written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass

from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Span
from sessiongen.frontend import compiler
from sessiongen.frontend.annotations import Annotated, read
from sessiongen.frontend.compiler import Compiled
from sessiongen.ir import protocol, schema
from sessiongen.ir.model import Model
from sessiongen.ir.role_inference import search
from sessiongen.ir.roles import Roles
from sessiongen.targets import registry
from sessiongen.targets.base import Generate, Run


@dataclass(frozen=True)
class Build:
    """A protocol and the generated files of each output, by path in the output's folder."""

    model: Model
    files: tuple[Mapping[str, str], ...]


def model(config: Config) -> Model:
    """Return the protocol of a configuration.

    Raises:
        InputError: the input is not a valid protocol.
    """
    compiled, annotated, read_schema = read_input(config)
    return Model(protocol.assemble(read_schema, annotated, config), compiled, annotated)


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
    """Return what the input holds, before its roles are searched.

    Raises:
        InputError: the input cannot be read or is not valid.
    """
    compiled = compiler.compile_input(config)
    places = {item.name: schema.Locations(item, compiled.sources) for item in compiled.files}

    def place(file: str, path: tuple[int, ...]) -> Span:
        return places[file].span(path)

    annotated = read(compiled, config, place)
    return compiled, annotated, schema.build(annotated.files, compiled.own, compiled.sources)


def build(config: Config, runs: tuple[Run, ...]) -> Build:
    """Return the generated files of a configuration.

    runs: for each output, what its target is given.

    Raises:
        InputError: the input is not a protocol that code can be generated from.
    """
    with ExitStack() as stack:
        # Targets start their subprocesses before the protocol is compiled.
        generators = [
            stack.enter_context(registry.get(output.language).generation(run))
            for output, run in zip(config.outputs, runs, strict=True)
        ]
        made = model(config)
        return Build(made, _files(config, made, generators))


def _files(
    config: Config, model: Model, generators: list[Generate]
) -> tuple[Mapping[str, str], ...]:
    """Generate every output; the faults of all of them are reported together."""
    files, faults = [], list[Diagnostic]()
    for output, generate in zip(config.outputs, generators, strict=True):
        try:
            files.append(generate(model, output))
        except InputError as error:
            faults += error.diagnostics
    if faults:
        raise InputError(faults)
    return tuple(files)
