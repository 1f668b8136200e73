"""Compares a protocol with its SDKs: the matrix, and a finding for each difference.

A difference is a finding unless the SDK's gap file declares it. A declared gap that no
longer exists is a finding too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.frontend.annotations import Annotated
from sessiongen.ir.protocol import Protocol
from sessiongen.parity import (
    coverage,
    enum_values,
    envelope,
    fields,
    request_fields,
    role_classes,
    sdk_only,
)
from sessiongen.parity.gaps import Gap, covers_pair, gap_file, load_gaps
from sessiongen.parity.matrix import Finding, Key, Section
from sessiongen.paths import display
from sessiongen.vocabulary.model import Vocabulary


@dataclass(frozen=True)
class Parity:
    """The matrix, the declared gaps by the key of what they cover, and the findings.

    gap_files: the path of the gap file of each SDK, whether it exists or not.
    """

    sdks: tuple[str, ...]
    sections: tuple[Section, ...]
    declared: dict[Key, Gap]
    gap_files: dict[str, Path]
    diagnostics: list[Diagnostic]

    def undeclared(self, sdk: str) -> list[Finding]:
        """Return an SDK's differences that no gap declares, each once."""
        findings = [item for section in self.sections for item in section.findings()]
        by_key = {item.key: item for item in findings if item.sdk == sdk}
        return [item for key, item in by_key.items() if key not in self.declared]


def compare(protocol: Protocol, annotated: Annotated, config: Config) -> Parity:
    """Return the parity of a protocol with the configured SDKs.

    Raises:
        InputError: a gap file cannot be read.
    """
    vocabularies = protocol.vocabularies
    sections = tuple(
        section for section in _sections(protocol, annotated, vocabularies) if section.rows
    )
    vocabulary_files = dict(
        zip((item.sdk for item in vocabularies), config.sdks.vocabularies, strict=True)
    )
    gaps = [gap for sdk, path in vocabulary_files.items() for gap in load_gaps(path, sdk)]
    findings = {item.key: item for section in sections for item in section.findings()}
    declared = {gap.key: gap for gap in gaps}
    gap_files = {sdk: gap_file(path) for sdk, path in vocabulary_files.items()}
    diagnostics = [
        _diagnostic(item, display(gap_files[item.sdk]))
        for key, item in findings.items()
        if key not in declared
    ]
    diagnostics += _gap_faults(gaps, findings)
    diagnostics += _repeated_sdks(config, vocabularies)
    sdks = tuple(f"{item.sdk} {item.version}" for item in vocabularies)
    return Parity(sdks, sections, declared, gap_files, diagnostics)


def _sections(
    protocol: Protocol, annotated: Annotated, vocabularies: Sequence[Vocabulary]
) -> tuple[Section, ...]:
    return (
        role_classes.section(protocol, vocabularies),
        *enum_values.sections(protocol, annotated, vocabularies),
        *coverage.sections(protocol, vocabularies),
        request_fields.section(protocol, vocabularies),
        envelope.section(protocol, vocabularies),
        *fields.sections(protocol, annotated, vocabularies),
        sdk_only.section(protocol, vocabularies),
    )


def _diagnostic(finding: Finding, file: str) -> Diagnostic:
    help_ = (
        f"change the protocol or annotate it, or declare the gap in {file}: [[gaps]] "
        f'kind = "...", reason = "...", covers = {{ {covers_pair(finding)} }}'
    )
    return Diagnostic(finding.span, finding.rule, finding.message, help_)


def _repeated_sdks(config: Config, vocabularies: Sequence[Vocabulary]) -> list[Diagnostic]:
    """Return a fault for each SDK that has two vocabularies."""
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


def _gap_faults(gaps: list[Gap], findings: Mapping[Key, Finding]) -> list[Diagnostic]:
    """Return a fault for each declared gap that does not exist, is repeated or has no reason."""
    states = {(item.sdk, item.id): item.state for item in findings.values()}
    seen: set[Key] = set()
    faults = []
    for gap in gaps:
        if gap.key in seen:
            fault: tuple[str, str] | None = "this gap is declared twice", "remove one of the two"
        elif gap.key in findings:
            fault = _no_reason(gap)
        else:
            fault = _outdated(gap, states.get((gap.sdk, gap.id)))
        seen.add(gap.key)
        if fault is not None:
            message = f"{gap.sdk}: {gap.id}: {fault[0]}"
            faults.append(Diagnostic(gap.span, Rule.PARITY_GAP, message, fault[1]))
    return faults


def _no_reason(gap: Gap) -> tuple[str, str] | None:
    if gap.reason.strip():
        return None
    return "this gap has no reason", "give the reason why it is accepted"


def _outdated(gap: Gap, state: str | None) -> tuple[str, str]:
    if state is None:
        return "this gap no longer exists", "remove it: the SDK and the protocol agree here now"
    help_ = "remove it, and declare the difference as it is now if it is accepted"
    return f"this gap covers {gap.state!r}, and now it is {state!r}", help_
