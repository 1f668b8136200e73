"""The command `check`: compares every output with what would be generated; writes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from sessiongen.config.model import Config, Output
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.generate import complete, input_warnings, manifests_of, runs_of
from sessiongen.output import writer
from sessiongen.output.cache import Cache
from sessiongen.output.former_outputs import former_outputs
from sessiongen.output.folders import folder_of
from sessiongen.output.writer import Difference, Manifest
from sessiongen.output.staging import EDITED
from sessiongen.paths import display
from sessiongen.result import FINDING, SKEW, Result
from sessiongen.targets.base import Run


def check(config: Config, use_cache: bool, full_diff: bool = False) -> Result:
    """Compares the output folders with what would be generated.

    full_diff: show every line of the difference, as a patch that can be applied.

    Raises:
        InputError: the input is not a protocol.
    """
    cache = Cache(config)
    unchanged = cache.unchanged() if use_cache else None
    if unchanged is not None:
        pairs = zip(config.outputs, unchanged.files, strict=True)
        summaries = [_no_drift(output, len(files)) for output, files in pairs]
        return Result(lines=summaries, diagnostics=[*unchanged.warnings, *former_outputs(config)])
    runs = runs_of(config, cache if use_cache else None)
    before = [writer.load_manifest(output.folder) for output in config.outputs]
    skew = [item for each in zip(config.outputs, before, runs) for item in _skew(config, *each)]
    if skew:
        return Result(SKEW, diagnostics=skew)
    from sessiongen import pipeline

    result = pipeline.build(config, runs)
    lasting = input_warnings(result.model, config)
    warnings = [*lasting, *former_outputs(config)]
    expected = complete(result.files, manifests_of(result.files, runs))
    pairs_ = zip(config.outputs, expected, strict=True)
    differences = [writer.compare(folder_of(output), files) for output, files in pairs_]
    if not any(differences):
        if use_cache:
            cache.save(result.model.cache_inputs(config), expected, lasting)
        counted = zip(config.outputs, expected, strict=True)
        lines = [_no_drift(output, len(files)) for output, files in counted]
        return Result(lines=lines, diagnostics=warnings)
    from sessiongen.output import drift_report

    drift = list(zip(config.outputs, differences, strict=True))
    reported = [
        diagnostic
        for (output, items), files, manifest in zip(drift, expected, before, strict=True)
        for diagnostic in _faults(config, output, files, items, manifest)
    ]
    detail = (
        drift_report.full(drift) if full_diff else drift_report.short(drift, result.model, config)
    )
    return Result(FINDING, diagnostics=[*warnings, *reported], detail=detail)


def _faults(
    config: Config,
    output: Output,
    files: Mapping[str, str],
    differences: list[Difference],
    before: Manifest | None,
) -> Iterator[Diagnostic]:
    """Yields a fault for each difference; for a file that `generate` refuses to overwrite, that."""
    refused = writer.foreign_files(folder_of(output), files, differences)
    by_file = {item.span.file: item for item in refused}
    for item in _reported(differences):
        file = display(output.folder / item.path)
        yield by_file.get(file) or _drift(config, output, item, before)


def _reported(differences: list[Difference]) -> list[Difference]:
    """Returns the differences without the manifest, unless only the manifest differs."""
    return [item for item in differences if item.path != writer.MANIFEST] or differences


def _no_drift(output: Output, files: int) -> str:
    return f"{display(output.folder)}: {files} files, no drift"


def _skew(
    config: Config, output: Output, before: Manifest | None, run: Run
) -> Iterator[Diagnostic]:
    """Yields a fault for each tool whose version differs from the one that made the output."""
    if before is None:
        return
    span = Span(display(output.folder / writer.MANIFEST))
    for name, used in before.tools.items():
        if run.versions.get(name, used) != used:
            yield Diagnostic(
                span,
                Rule.TOOL_SKEW,
                f"the output was generated with {name} {used}, this is {run.versions[name]}",
                f"install {name}=={used} to judge drift, or run `sessiongen{config.option} generate` "
                "and commit the result to move to this version",
            )


def _drift(config: Config, output: Output, item: Difference, before: Manifest | None) -> Diagnostic:
    path: Path = output.folder / item.path
    help_ = f"run `sessiongen{config.option} generate` and commit the result"
    span = Span(display(path))
    if item.actual is None:
        return Diagnostic(span, Rule.MISSING_OUTPUT, "this generated file is missing", help_)
    written = before.files.get(item.path) if before else None
    edited = written != writer.digest(item.actual)
    if item.expected is None:
        fault = "this file is no longer generated"
        if edited:
            # `generate` does not remove edited files.
            help_ = "it was edited after it was generated: remove it by hand"
        return Diagnostic(span, Rule.EXTRA_OUTPUT, fault, help_)
    line = _first_difference(item.actual, item.expected)
    fault = "this generated file does not match the protocol"
    if edited and written is not None:
        fault = "this generated file was edited by hand"
        help_ += f"; your edit is then kept beside it as {path.name}{EDITED}"
    return Diagnostic(Span(span.file, line), Rule.DRIFT, fault, help_)


def _first_difference(actual: str, expected: str) -> int:
    lines = zip(actual.split("\n"), expected.split("\n"), strict=False)
    for number, (left, right) in enumerate(lines, 1):
        if left != right:
            return number
    return min(actual.count("\n"), expected.count("\n")) + 1
