"""The verbs `generate` and `check`: what they do, without how they are typed.

In: a Config. Out: a Result: diagnostics, lines for people, and the exit status.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sessiongen.output import writer

from sessiongen.output import tool_versions
from sessiongen.output.cache import Cache
from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.output.writer import Difference
from sessiongen.paths import display

if TYPE_CHECKING:
    from sessiongen.pipeline import Build

FINE, FINDING, INPUT_ERROR, SKEW = 0, 1, 2, 3


@dataclass
class Result:
    """What a verb found. `detail` is a diff: shown as text, left out of other formats."""

    status: int = FINE
    lines: list[str] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    detail: str = ""


def generate(config: Config, use_cache: bool) -> Result:
    """Make the output folder hold the generated files.

    Raises:
        InputError: the input is not a protocol, or the folder cannot be written.
    """
    versions = tool_versions.versions()
    cache = Cache(config, versions)
    folder = display(config.package_dir)
    fresh = cache.fresh() if use_cache else None
    if fresh is not None:
        return Result(lines=[f"{folder}: {len(fresh)} files, all up to date"])
    from sessiongen import pipeline
    from sessiongen.ir import roles

    before = writer.load_manifest(config.package_dir)
    build = pipeline.build(config, versions, cache.texts if use_cache else None)
    manifest = writer.manifest_for(build.files, versions)
    changes, left = writer.write(config.package_dir, build.files, manifest)
    cache.keep(_kept(config, build.inputs), {**build.files, writer.MANIFEST: manifest.dump()})
    lines = [*_found(build), *_tool_changes(before, versions), *_changes(folder, changes)]
    lines.append(_summary(folder, len(build.files) + 1, changes))
    unsaid = roles.notes(build.model.protocol.roles, config)
    return Result(lines=lines, diagnostics=[*build.model.warnings, *unsaid, *left])


def check(config: Config, use_cache: bool) -> Result:
    """Compare the output folder with what would be generated; write nothing into it.

    Raises:
        InputError: the input is not a protocol.
    """
    versions = tool_versions.versions()
    cache = Cache(config, versions)
    folder = display(config.package_dir)
    fresh = cache.fresh() if use_cache else None
    if fresh is not None:
        return Result(lines=[f"{folder}: {len(fresh)} files, no drift"])
    before = writer.load_manifest(config.package_dir)
    skew = _skew(config, before, versions)
    if skew:
        return Result(SKEW, diagnostics=skew)
    from sessiongen import pipeline

    build = pipeline.build(config, versions, cache.texts if use_cache else None)
    manifest = writer.manifest_for(build.files, versions)
    complete = {**build.files, writer.MANIFEST: manifest.dump()}
    differences = writer.compare(config.package_dir, complete)
    if not differences:
        if use_cache:
            cache.keep(_kept(config, build.inputs), complete)
        line = f"{folder}: {len(complete)} files, no drift"
        return Result(lines=[line], diagnostics=[*build.model.warnings])
    shown = [item for item in differences if item.path != writer.MANIFEST] or differences
    return Result(
        FINDING,
        diagnostics=[*build.model.warnings, *(_drift(config, item, before) for item in shown)],
        # The manifest belongs to the diff, so that applying it leaves no drift.
        detail="".join(item.diff(folder) for item in differences),
    )


def _kept(config: Config, inputs: list[str]) -> list[str]:
    found = config.input.descriptor_set
    return [found.name] if found is not None else inputs


def _found(build: Build) -> list[str]:
    protocol = build.model.protocol
    named = ", ".join(f"{role} {name}" for role, name in protocol.roles.named())
    counts = (
        f"{len(protocol.calls)} requests, {len(protocol.events)} events, "
        f"{len(protocol.unions)} oneofs"
    )
    return [f"roles: {named}", f"protocol: {counts}"]


def _changes(folder: str, changes: Iterable[Difference]) -> list[str]:
    return [f"{_verb(item)} {folder}/{item.path}" for item in changes]


def _verb(change: Difference) -> str:
    if change.wanted is None:
        return "removed"
    return "wrote" if change.found is None else "updated"


def _summary(folder: str, files: int, changes: list[Difference]) -> str:
    if not changes:
        return f"{folder}: {files} files, all up to date"
    return f"{folder}: {files} files, {len(changes)} changed"


def _tool_changes(before: writer.Manifest | None, versions: dict[str, str]) -> list[str]:
    if before is None:
        return []
    return [
        f"{name}: {before.tools.get(name, 'nothing')} -> {version}"
        for name, version in versions.items()
        if before.tools.get(name) != version
    ]


def _skew(
    config: Config, before: writer.Manifest | None, versions: dict[str, str]
) -> list[Diagnostic]:
    """Return a fault for each tool that is not the one the output was made with."""
    if before is None:
        return []
    span = Span(display(config.package_dir / writer.MANIFEST))
    return [
        Diagnostic(
            span,
            Rule.TOOL_SKEW,
            f"the output was generated with {name} {made}, this is {versions[name]}",
            f"install {name}=={made} to judge drift, or run `sessiongen generate` and "
            "commit the result to move to this version",
        )
        for name, made in before.tools.items()
        if name in versions and versions[name] != made
    ]


def _drift(config: Config, item: Difference, before: writer.Manifest | None) -> Diagnostic:
    path: Path = config.package_dir / item.path
    help_ = f"run `sessiongen{config_option(config)} generate` and commit the result"
    span = Span(display(path))
    if item.found is None:
        return Diagnostic(span, Rule.MISSING_OUTPUT, "this generated file is missing", help_)
    if item.wanted is None:
        fault = "this file is no longer generated"
        written = before.files.get(item.path) if before else None
        if written != writer.digest(item.found):
            # generate leaves it alone: it may hold somebody's work.
            help_ = "it was edited since it was generated: remove it by hand"
        return Diagnostic(span, Rule.EXTRA_OUTPUT, fault, help_)
    line = _first_difference(item.found, item.wanted)
    written = before.files.get(item.path) if before else None
    by_hand = written is not None and written != writer.digest(item.found)
    fault = (
        "this generated file was edited by hand"
        if by_hand
        else "this generated file is not what the protocol gives"
    )
    return Diagnostic(Span(span.file, line), Rule.DRIFT, fault, help_)


def config_option(config: Config) -> str:
    """Return the option that a command needs to read this configuration, if any."""
    shown = display(config.path)
    return "" if shown == "codegen.toml" else f" --config {shown}"


def _first_difference(found: str, wanted: str) -> int:
    lines = zip(found.split("\n"), wanted.split("\n"), strict=False)
    for number, (left, right) in enumerate(lines, 1):
        if left != right:
            return number
    return min(found.count("\n"), wanted.count("\n")) + 1
