"""The command `init`: writes a codegen.toml for a protocol that has none.

It has the roles, pairs and errors that names and shapes show, and commented lines for choices
that are left to the user.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sessiongen import pipeline

from sessiongen.init import scaffold_text
from sessiongen.frontend.annotations import Annotated, configured
from sessiongen.frontend.compiler import Compiled
from sessiongen.config.model import Config, Input
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span, arrange, failed
from sessiongen.init.proposals import Proposal, propose
from sessiongen.config.reader import parse
from sessiongen.init.scaffold_text import quoted
from sessiongen.paths import display, write_file
from sessiongen.targets import registry
from sessiongen.ir.protocol import assemble
from sessiongen.ir.role_inference import Search, search
from sessiongen.ir.roles import notes
from sessiongen.ir.schema import Schema
from sessiongen.ir.unions import unions


@dataclass(frozen=True)
class ProtocolInput:
    """The input of `init`; exactly one field is set."""

    proto: Path | None = None
    descriptor_set: Path | None = None
    messages: str | None = None


def write(
    source: ProtocolInput, include: tuple[Path, ...], target: Path
) -> tuple[list[str], list[Diagnostic]]:
    """Writes a configuration for an input; returns a summary, and the open points as diagnostics.

    For roles and answers that are not clear the configuration has commented lines.

    Raises:
        InputError: the input cannot be read or has no oneof at all, or `target` exists.
    """
    check_new(target)
    _check_paths([source.proto] if source.proto else [], Path.is_file, "file")
    _check_paths(include, Path.is_dir, "folder")
    lines = _input_lines(source, include, target.absolute().parent)
    _check_encodable(lines, target)
    config = _config(source, include, target, "\n".join(lines))
    schema, annotated = _read(config)
    proposal = propose(schema, annotated, config)
    text = scaffold_text.text(lines, _output_lines(source), proposal)
    written = _parsed(config, text)
    annotated = configured(annotated, written)
    result = search(schema, written, annotated)
    result.open.update(proposal.roles.open)
    points = open_points(schema, annotated, written)
    save(target, text.encode())
    return [
        *scaffold_text.summary(result),
        _next_steps(written, result, proposal, points),
    ], points


def check_new(target: Path) -> None:
    """Raises InputError if the configuration to write exists."""
    if target.exists():
        fault = "the configuration already exists"
        help_ = "edit it, or name another file with --config"
        raise InputError([Diagnostic(Span(display(target)), Rule.CONFIG_EXISTS, fault, help_)])


def _parsed(config: Config, text: str) -> Config:
    """Returns the configuration of a text, with the input of another one."""
    return replace(parse(config.path, text), input=config.input)


def _read(config: Config) -> tuple[Schema, Annotated]:
    try:
        compiled, annotated, schema = pipeline.read_input(config)
    except InputError as error:
        # There is no configuration yet: the include paths are options.
        raise InputError(
            replace(item, help=item.help.replace("input.include", "the include paths, with -I"))
            for item in error.diagnostics
        ) from None
    if not unions(schema):
        # It may be the wrong file: do not write a configuration for it.
        raise InputError(search(schema, config, annotated).diagnostics)
    check_modules(compiled)
    return schema, annotated


def check_modules(compiled: Compiled) -> None:
    """Raises InputError for modules of messages that `generate` would refuse."""
    faults = registry.default().module_faults(compiled.modules.values())
    if faults:
        raise InputError(faults)


def open_points(schema: Schema, annotated: Annotated, config: Config) -> list[Diagnostic]:
    """Returns the faults of the input, or notes on roles that are not set."""
    assembled = assemble(schema, annotated, config)
    if assembled.diagnostics or assembled.protocol is None:
        return arrange(assembled.diagnostics)
    return notes(assembled.protocol.roles, config)


def _next_steps(
    config: Config, result: Search, proposal: Proposal, points: list[Diagnostic]
) -> str:
    """Returns the line that names the next steps."""
    steps = ["choose its roles"] if result.open else []
    steps += ["name the missing answers"] if proposal.unanswered else []
    steps += ["name the responses that report errors"] if proposal.unasked else []
    if failed(points) and not steps:
        steps.append("fix the faults of the protocol")
    before = f"{' and '.join(steps)}, and " if steps else ""
    command = f"sessiongen{config.option} generate"
    return f"wrote {display(config.path)}; now {before}run `{command}`"


def save(target: Path, data: bytes) -> None:
    """Writes a file of the configuration.

    Raises:
        InputError: it cannot be written.
    """
    write_file(target, data, "the configuration", "choose another place with --config")


def _check_encodable(lines: Iterable[str], target: Path) -> None:
    """Checks that the configuration can have the paths of the input, as its text is UTF-8."""
    for line in lines:
        try:
            line.encode()
        except UnicodeEncodeError:
            fault = f"a path is not UTF-8: {line!a}"
            help_ = "rename the file or folder, as codegen.toml is UTF-8"
            span = Span(display(target))
            raise InputError([Diagnostic(span, Rule.UNREADABLE, fault, help_)]) from None


def _check_paths(paths: Iterable[Path], exists: Callable[[Path], bool], kind: str) -> None:
    faults = [
        Diagnostic(
            Span(display(path)), Rule.UNREADABLE, f"there is no {kind} here", "check the path"
        )
        for path in paths
        if not exists(path)
    ]
    if faults:
        raise InputError(faults)


def _config(source: ProtocolInput, include: tuple[Path, ...], target: Path, text: str) -> Config:
    protos = (source.proto.absolute(),) if source.proto else ()
    folders = tuple(path.absolute() for path in include)
    input_ = Input(
        protos=protos,
        include=folders or tuple(path.parent for path in protos),
        descriptor_set=source.descriptor_set.absolute() if source.descriptor_set else None,
        messages=source.messages,
    )
    return Config(target.absolute(), text, input_)


# The end of a file name such as session-1.1.29.binpb.
_VERSION = re.compile(r"-v?\d+(\.\d+)*$")


def _protocol_name(source: ProtocolInput) -> str:
    if source.messages is not None:
        return source.messages.rsplit(".", 1)[-1]
    return _VERSION.sub("", (source.proto or source.descriptor_set or Path("protocol")).stem)


def _input_lines(source: ProtocolInput, include: tuple[Path, ...], root: Path) -> list[str]:
    if source.messages is not None:
        return [f"messages = {quoted(source.messages)}"]
    if source.descriptor_set is not None:
        return [f"descriptor_set = {quoted(_relative(source.descriptor_set, root))}"]
    proto = source.proto or Path()
    folders = [_relative(path, root) for path in include or (proto.parent,)]
    return [
        f"protos = [{quoted(_relative(proto, root))}]",
        f"include = [{', '.join(map(quoted, folders))}]",
    ]


def _output_lines(source: ProtocolInput) -> list[str]:
    target = registry.default()
    keys = {
        "language": target.language,
        "path": f"generated/{target.language}",
        **target.initial_keys(_protocol_name(source)),
    }
    return [f"{key} = {quoted(value)}" for key, value in keys.items()]


def _relative(path: Path, root: Path) -> str:
    try:
        return Path(os.path.relpath(path, root)).as_posix()
    except ValueError:  # on Windows, another drive
        return path.absolute().as_posix()
