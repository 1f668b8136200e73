"""The command `generate`: writes the generated files of every output."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from sessiongen.config.model import Config, Output
from sessiongen.diagnostics import Diagnostic, InputError
from sessiongen.output import staging, writer
from sessiongen.output.cache import Cache
from sessiongen.output.former_outputs import former_outputs, remember_outputs
from sessiongen.output.folders import folder_of, versions_of
from sessiongen.output.writer import Difference, Manifest, Plan
from sessiongen.paths import display
from sessiongen.result import Result
from sessiongen.targets import registry
from sessiongen.targets.base import Run

if TYPE_CHECKING:
    from sessiongen.ir.model import Model


def generate(config: Config, use_cache: bool) -> Result:
    """Writes the generated files of every output.

    Nothing is written unless every file of every output could be generated and is valid code.

    Raises:
        InputError: the input is not a protocol, or a folder cannot be written.
    """
    cache = Cache(config)
    unchanged = cache.unchanged() if use_cache else None
    if unchanged is not None:
        pairs = zip(config.outputs, unchanged.files, strict=True)
        summaries = [_summary(output, len(files), []) for output, files in pairs]
        return Result(lines=summaries, diagnostics=[*unchanged.warnings, *former_outputs(config)])
    from sessiongen import pipeline
    from sessiongen.ir import roles

    before = [writer.load_manifest(output.folder) for output in config.outputs]
    runs = runs_of(config, cache if use_cache else None)
    result = pipeline.build(config, runs)
    manifests = manifests_of(result.files, runs)
    outputs = list(zip(config.outputs, result.files, manifests, strict=True))
    plans = [writer.plan(folder_of(output), files, manifest) for output, files, manifest in outputs]
    _check_syntax(config, result.model, plans)
    warnings = input_warnings(result.model, config)
    diagnostics = [*warnings, *roles.notes(result.model.protocol.roles, config)]
    diagnostics += staging.write(plans)
    diagnostics += former_outputs(config)
    remember_outputs(config)
    cache.save(result.model.cache_inputs(config), complete(result.files, manifests), warnings)
    lines = list(_protocol(result.model))
    for (output, files, _), earlier, run, plan in zip(outputs, before, runs, plans, strict=True):
        lines += [*_tool_changes(earlier, run.versions), *_changes(output, plan.changes)]
        lines += [*_remarks(result.model, output), *_size(output, files)]
        lines.append(_summary(output, len(files) + 1, plan.changes))
    return Result(lines=lines, diagnostics=diagnostics)


def input_warnings(model: Model, config: Config) -> list[Diagnostic]:
    """Returns what every run over the same input warns of."""
    from sessiongen.counterparts import missing_counterparts

    return [*model.warnings, *missing_counterparts(model, config)]


def _check_syntax(config: Config, model: Model, plans: Iterable[Plan]) -> None:
    """Raises InputError if a file that would be written is not valid code."""
    faults = [
        fault
        for output, plan in zip(config.outputs, plans, strict=True)
        for change in plan.changes
        if (fault := _syntax_fault(output, model, change)) is not None
    ]
    if faults:
        raise InputError(faults)


def _syntax_fault(output: Output, model: Model, change: Difference) -> Diagnostic | None:
    from sessiongen.internal_errors import invalid_module

    if change.expected is None:
        return None
    target = registry.get(output.language)
    fault = target.invalid_module(output, change.path, change.expected)
    if fault is None:
        return None
    return invalid_module(change.path, change.expected, fault, model, output)


def runs_of(config: Config, cache: Cache | None) -> tuple[Run, ...]:
    """Returns the tool versions and the cache file of each output."""
    return tuple(
        Run(versions_of(output), cache.target_file(output) if cache else None)
        for output in config.outputs
    )


def manifests_of(files: Iterable[Mapping[str, str]], runs: Iterable[Run]) -> list[Manifest]:
    """Returns the manifest of each output."""
    pairs = zip(files, runs, strict=True)
    return [writer.manifest_for(texts, run.versions) for texts, run in pairs]


def complete(
    files: Iterable[Mapping[str, str]], manifests: Iterable[Manifest]
) -> list[dict[str, str]]:
    """Returns the files of each output with its manifest."""
    pairs = zip(files, manifests, strict=True)
    return [{**texts, writer.MANIFEST: manifest.dump()} for texts, manifest in pairs]


def _protocol(model: Model) -> Iterator[str]:
    protocol = model.protocol
    yield "roles:"
    yield from (f"  {role:<12} {name}" for role, name in protocol.roles.named())
    yield (
        f"protocol: {len(protocol.calls)} requests, {len(protocol.events)} events, "
        f"{len(protocol.unions)} oneofs"
    )


def _remarks(model: Model, output: Output) -> list[str]:
    remarks = registry.get(output.language).remarks(model, output)
    return [f"{display(output.folder)}: {remark}" for remark in remarks]


def _size(output: Output, files: Mapping[str, str]) -> Iterator[str]:
    """Yields the size of an output that is code."""
    suffixes = registry.get(output.language).suffixes
    count = sum(text.count("\n") for path, text in files.items() if path.endswith(suffixes))
    if count:
        yield f"{display(output.folder)}: {count:,} lines of code"


def _changes(output: Output, changes: Iterable[Difference]) -> list[str]:
    folder = display(output.folder)
    return [f"{_verb(item)} {folder}/{item.path}" for item in changes]


def _verb(change: Difference) -> str:
    if change.expected is None:
        return "removed"
    return "wrote" if change.actual is None else "updated"


def _summary(output: Output, files: int, changes: list[Difference]) -> str:
    state = f"{len(changes)} changed" if changes else "all up to date"
    return f"{display(output.folder)}: {files} files, {state}"


def _tool_changes(before: Manifest | None, versions: Mapping[str, str]) -> list[str]:
    if before is None:
        return []
    return [
        f"{name}: {before.tools.get(name, 'nothing')} -> {version}"
        for name, version in versions.items()
        if before.tools.get(name) != version
    ]
