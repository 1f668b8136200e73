"""The comparison: the whole matrix, held against the declared gaps.

In: a Protocol, its annotations and the configuration. Out: a Parity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sessiongen.frontend.annotations import Annotated
from sessiongen.config.model import Config
from sessiongen.config.sdks import Gap
from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.parity import coverage, envelope, fields
from sessiongen.parity import request_fields
from sessiongen.parity import role_classes
from sessiongen.parity import sdk_only
from sessiongen.parity import enum_values
from sessiongen.parity.matrix import Finding, Section
from sessiongen.ir.protocol import Protocol
from sessiongen.vocabulary.model import Vocabulary


@dataclass(frozen=True)
class Parity:
    """The matrix, the reason of each declared gap by (sdk, thing), and the findings."""

    sdks: tuple[str, ...]
    sections: tuple[Section, ...]
    declared: dict[tuple[str, str], str]
    diagnostics: list[Diagnostic]


def compare(protocol: Protocol, annotated: Annotated, config: Config) -> Parity:
    """Return the parity of a protocol with the configured SDKs."""
    vocabularies = protocol.vocabularies
    sections: tuple[Section, ...] = (
        role_classes.section(protocol, vocabularies),
        *enum_values.sections(protocol, annotated, vocabularies),
        *coverage.sections(protocol, vocabularies),
        request_fields.section(protocol, vocabularies),
        envelope.section(protocol, vocabularies),
        *fields.sections(protocol, annotated, vocabularies),
        sdk_only.section(protocol, vocabularies),
    )
    sections = tuple(section for section in sections if section.rows)
    found = {(item.sdk, item.thing): item for section in sections for item in section.findings()}
    declared = {(gap.sdk, gap.thing): gap.reason for gap in config.sdks.gaps}
    diagnostics = [_diagnostic(item) for key, item in found.items() if key not in declared]
    diagnostics += _gap_faults(config, found, vocabularies)
    diagnostics += _twice(config, vocabularies)
    names = tuple(f"{item.sdk} {item.version}" for item in vocabularies)
    return Parity(names, sections, declared, diagnostics)


def _diagnostic(finding: Finding) -> Diagnostic:
    help_ = (
        "change the protocol or annotate it, or declare the gap in codegen.toml: [[sdks.gaps]] "
        f'sdk = "{finding.sdk}", thing = "{finding.thing}", reason = "..."'
    )
    return Diagnostic(finding.span, finding.rule, finding.message, help_)


def _twice(config: Config, vocabularies: Sequence[Vocabulary]) -> list[Diagnostic]:
    """Return a fault for each SDK that two vocabularies are of."""
    names = [item.sdk for item in vocabularies]
    return [
        Diagnostic(
            config.span(("sdks", "vocabularies")),
            Rule.PARITY_GAP,
            f"{sdk}: two vocabularies are of this SDK, and a gap names but one",
            "name each SDK once",
        )
        for sdk in dict.fromkeys(names)
        if names.count(sdk) > 1
    ]


def _gap_faults(
    config: Config,
    found: dict[tuple[str, str], Finding],
    vocabularies: Sequence[Vocabulary],
) -> list[Diagnostic]:
    """Return a fault for each declared gap that is not one, or says no reason."""
    sdks = {item.sdk for item in vocabularies}
    seen: set[tuple[str, str]] = set()
    faults = []
    for gap in config.sdks.gaps:
        fault = _gap_fault(gap, (gap.sdk, gap.thing) in found, gap.sdk in sdks)
        if (gap.sdk, gap.thing) in seen:
            fault = ("this gap is declared twice", "remove one of the two")
        seen.add((gap.sdk, gap.thing))
        if fault is not None:
            message = f"{gap.sdk}: {gap.thing}: {fault[0]}"
            faults.append(Diagnostic(config.span(gap.key_path), Rule.PARITY_GAP, message, fault[1]))
    return faults


def _gap_fault(gap: Gap, exists: bool, sdk_known: bool) -> tuple[str, str] | None:
    if not sdk_known:
        return "no vocabulary is of this SDK", "name an SDK as its vocabulary does"
    if not exists:
        return "this gap no longer exists", "remove it: what it excuses is there now"
    if not gap.reason.strip():
        return "this gap has no reason", "say in a line why it is known and accepted"
    return None
