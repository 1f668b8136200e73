"""Compares a protocol with its SDKs: the matrix, and a finding for each difference.

A difference is a finding unless the SDK's gap file declares it. A declared gap that no
longer exists is a finding too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sessiongen.config.model import Config
from sessiongen.config.sdks import gap_file
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.protocol import Protocol
from sessiongen.parity import (
    behaviour,
    coverage,
    enum_values,
    envelope,
    fields,
    published,
    request_fields,
    role_classes,
    sdk_only,
)
from sessiongen.parity.gap_faults import gap_faults
from sessiongen.parity.gaps import Gap, covers_pair, load_gaps
from sessiongen.parity.matrix import Finding, Key, Section
from sessiongen.paths import display
from sessiongen.vocabulary.model import Vocabulary


@dataclass(frozen=True)
class Parity:
    """The matrix, the declared gaps by the key of what they cover, and the findings.

    vocabulary_files: the vocabulary file of each SDK.
    diagnostics: the undeclared differences and the faults of gap files.
    findings: the undeclared difference that a diagnostic reports.
    origins: the folder of each SDK whose sources were read for this comparison.
    reading: the diagnostics of reading these sources, and of their code that changed.
    since: the commit since which the sections and diagnostics changed; "" for all of them.
    resolved: the undeclared differences of that commit that do not exist any more.
    """

    sdks: tuple[str, ...]
    sections: tuple[Section, ...]
    declared: dict[Key, Gap]
    vocabulary_files: dict[str, Path]
    diagnostics: list[Diagnostic]
    findings: Mapping[Diagnostic, Finding]
    origins: Mapping[str, str] = field(default_factory=dict)
    reading: tuple[Diagnostic, ...] = ()
    since: str = ""
    resolved: tuple[Finding, ...] = ()

    @property
    def gap_files(self) -> dict[str, Path]:
        """The path of the gap file of each SDK, whether it exists or not."""
        return {sdk: gap_file(path) for sdk, path in self.vocabulary_files.items()}

    def undeclared(self, sdk: str) -> list[Finding]:
        """Returns an SDK's differences that no gap declares, each once."""
        findings = [item for section in self.sections for item in section.findings()]
        by_key = {item.key: item for item in findings if item.sdk == sdk}
        return [item for key, item in by_key.items() if key not in self.declared]


def compare(
    protocol: Protocol,
    annotated: Annotated,
    config: Config,
    origins: Mapping[str, str] | None = None,
) -> Parity:
    """Returns the parity of a protocol with the configured SDKs.

    origins: the folder of each SDK whose sources are at hand; its findings are reported there.

    Raises:
        InputError: a gap file cannot be read.
    """
    vocabularies = protocol.vocabularies
    vocabulary_files = dict(
        zip((item.sdk for item in vocabularies), config.sdks.vocabularies, strict=True)
    )
    sections = tuple(
        section
        for section in (
            *_sections(protocol, annotated, vocabularies, vocabulary_files),
            published.section(protocol, vocabularies, vocabulary_files),
        )
        if section.rows
    )
    gaps = [gap for sdk, path in vocabulary_files.items() for gap in load_gaps(path, sdk)]
    findings = {item.key: item for section in sections for item in section.findings()}
    declared = {gap.key: gap for gap in gaps}
    reported = {
        _diagnostic(item, vocabulary_files[item.sdk], (origins or {}).get(item.sdk)): item
        for key, item in findings.items()
        if key not in declared
    }
    diagnostics = [*reported, *gap_faults(gaps, sections), *_repeated_sdks(config, vocabularies)]
    sdks = tuple(f"{item.sdk} {item.version}" for item in vocabularies)
    return Parity(sdks, sections, declared, vocabulary_files, diagnostics, reported, origins or {})


def _sections(
    protocol: Protocol,
    annotated: Annotated,
    vocabularies: Sequence[Vocabulary],
    files: Mapping[str, Path],
) -> tuple[Section, ...]:
    unknown_arms = published.unknown_event_arms(protocol, vocabularies, files)
    return (
        role_classes.section(protocol, vocabularies),
        *enum_values.sections(protocol, annotated, vocabularies),
        *coverage.sections(protocol, vocabularies, unknown_arms),
        request_fields.section(protocol, vocabularies),
        envelope.section(protocol, vocabularies),
        behaviour.section(protocol, vocabularies),
        *fields.sections(protocol, annotated, vocabularies),
        sdk_only.section(protocol, vocabularies),
    )


def _diagnostic(finding: Finding, vocabulary: Path, origin: str | None) -> Diagnostic:
    """Returns the diagnostic of a finding: in the SDK's sources if these are at hand."""
    help_ = (
        f"change the protocol or annotate it, or declare the gap in "
        f"{display(gap_file(vocabulary))}: [[gaps]] "
        f'kind = "...", reason = "...", covers = {{ {covers_pair(finding)} }}'
    )
    span, place = finding.span, finding.place
    if origin is not None and place is not None:
        help_ = f"the protocol has this at {span}; change the SDK, or {help_}"
        span = Span(display(Path(origin, place.file)), place.line)
    return Diagnostic(span, finding.rule, finding.message, help_)


def _repeated_sdks(config: Config, vocabularies: Sequence[Vocabulary]) -> list[Diagnostic]:
    """Returns a fault for each SDK that has two vocabularies."""
    names = [item.sdk for item in vocabularies]
    return [
        Diagnostic(
            config.span(("sdks", "vocabularies")),
            Rule.PARITY_GAP,
            f"{sdk}: two vocabularies describe this SDK",
            "name each SDK once",
        )
        for sdk in dict.fromkeys(names)
        if names.count(sdk) > 1
    ]
