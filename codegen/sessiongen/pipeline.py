"""The pipeline: from a Config to a protocol, and on to the files of every output.

It writes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass

from sessiongen import internal_errors
from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Span
from sessiongen.frontend import compiler
from sessiongen.frontend.annotations import Annotated, read
from sessiongen.frontend.compiler import Compiled
from sessiongen.frontend.oldest import read_oldest
from sessiongen.ir import protocol, schema
from sessiongen.ir.model import Model
from sessiongen.ir.role_inference import search
from sessiongen.ir.roles import Roles
from sessiongen.targets import registry
from sessiongen.targets.base import Generate, Run
from sessiongen.vocabulary.model import Vocabulary


@dataclass(frozen=True)
class GeneratedProtocol:
    """A protocol, and the generated files of each output by path in the output's folder."""

    model: Model
    files: tuple[Mapping[str, str], ...]


def model(config: Config, vocabularies: tuple[Vocabulary, ...] | None = None) -> Model:
    """Returns the protocol of a configuration.

    vocabularies: used in place of the files that the configuration names.

    Raises:
        InputError: the input is not a valid protocol.
    """
    with compiler.compilation(config) as finish:
        return _model(finish(), config, vocabularies)


def _model(
    compiled: Compiled, config: Config, vocabularies: tuple[Vocabulary, ...] | None = None
) -> Model:
    _, annotated, read_schema = _read(compiled, config)
    assembled = protocol.assemble(read_schema, annotated, config, vocabularies)
    if assembled.protocol is None:
        # Faults of names need no roles: report them in the same run.
        targets = {output.language: registry.get(output.language) for output in config.outputs}
        faults = [item for target in targets.values() for item in target.name_faults(read_schema)]
        raise InputError([*assembled.diagnostics, *faults])
    try:
        oldest = read_oldest(compiled, config)
    except InputError as error:
        raise InputError([*assembled.diagnostics, *error.diagnostics]) from None
    model = Model(assembled.protocol, compiled, annotated, oldest)
    if assembled.diagnostics:
        raise InputError([*assembled.diagnostics, *_output_faults(config, model)])
    return model


def _output_faults(config: Config, model: Model) -> list[Diagnostic]:
    """Returns the faults of every output, for a protocol that has other faults."""
    faults: list[Diagnostic] = []
    for output in config.outputs:
        # An exception may be caused by the other faults, which are reported anyway.
        with suppress(Exception):
            faults += registry.get(output.language).faults(model, output)
    return faults


def roles(config: Config) -> Roles:
    """Returns the roles of a configuration's protocol, without reading its vocabularies.

    Raises:
        InputError: the input is not valid, or a role is missing or ambiguous.
    """
    _, annotated, read_schema = read_input(config)
    search_result = search(read_schema, config, annotated)
    result = search_result.roles()
    if result is None:
        raise InputError([*annotated.diagnostics, *search_result.diagnostics])
    return result


def read_input(config: Config) -> tuple[Compiled, Annotated, schema.Schema]:
    """Returns the compiled input, its annotations and its schema.

    Raises:
        InputError: the input cannot be read or is not valid.
    """
    with compiler.compilation(config) as finish:
        return _read(finish(), config)


def _read(compiled: Compiled, config: Config) -> tuple[Compiled, Annotated, schema.Schema]:
    locations = {item.name: schema.Locations(item, compiled.source_map) for item in compiled.files}

    def span_of(file: str, path: tuple[int, ...]) -> Span:
        return locations[file].span(path)

    annotated = read(compiled, config, span_of)
    return compiled, annotated, schema.build(annotated.files, compiled.own, compiled.source_map)


def build(config: Config, runs: tuple[Run, ...]) -> GeneratedProtocol:
    """Returns the generated files of a configuration.

    runs: the tool versions and the cache file of each output.

    Raises:
        InputError: the input is not a protocol that code can be generated from.
    """
    with compiler.compilation(config) as finish, ExitStack() as stack:
        # Targets are imported and start their subprocesses while the protocol is compiled.
        generators = [
            stack.enter_context(registry.get(output.language).generation(run))
            for output, run in zip(config.outputs, runs, strict=True)
        ]
        protocol_model = _model(finish(), config)
        return GeneratedProtocol(protocol_model, _files(config, protocol_model, generators))


def _files(
    config: Config, model: Model, generators: list[Generate]
) -> tuple[Mapping[str, str], ...]:
    """Returns the files of every output; the faults of all outputs are raised together."""
    files, faults = [], list[Diagnostic]()
    for output, generate in zip(config.outputs, generators, strict=True):
        try:
            files.append(generate(model, output))
        except InputError as error:
            faults += error.diagnostics
        except (OSError, RecursionError):
            raise
        except Exception as error:
            faults += internal_errors.in_generation(error, model, output)
    if faults:
        raise InputError(faults)
    return tuple(files)
