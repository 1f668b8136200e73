"""Renders a comparison as documents for programs: JSON, and SARIF 2.1.0 for code scanning."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sessiongen import __version__
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.parity.compare import Parity
from sessiongen.parity.gaps import Gap
from sessiongen.parity.matrix import Cell, Finding
from sessiongen.vocabulary.scope import source_template

_RULES = {
    Rule.PARITY_VALUE: "An enum of the protocol and of an SDK differ",
    Rule.PARITY_EVENT: "An SDK does not send or receive an event of the protocol",
    Rule.PARITY_REQUEST: "An SDK does not answer or send a request of the protocol",
    Rule.PARITY_FIELD: "A message of the protocol and its source in an SDK differ",
    Rule.PARITY_GAP: "A declared gap does not fit",
    Rule.SDK_SOURCE: "A source file of an SDK cannot be read",
    Rule.SDK_MISSING: "A definition of an SDK does not exist",
    Rule.SDK_ENUM: "A set of values of an SDK cannot be read",
    Rule.SDK_EVENT: "Code of an SDK that emits or forwards events cannot be read",
    Rule.SDK_REQUEST: "Code of an SDK that sends or answers requests cannot be read",
    Rule.SDK_CODE: "Code of an SDK changed",
}


class Sources:
    """The addresses of lines of the SDKs' sources."""

    def __init__(self, parity: Parity) -> None:
        self._origins = parity.origins
        versions = dict(item.split(" ", 1) for item in parity.sdks)
        self._templates = {
            sdk: source_template(path).replace("{version}", versions[sdk])
            for sdk, path in parity.vocabulary_files.items()
        }

    def url(self, finding: Finding) -> str:
        """Returns the address of a finding's line at the tag of the SDK's version, or ""."""
        # A working copy has no tag.
        if finding.place is None or finding.sdk in self._origins:
            return ""
        file, line = finding.place
        template = self._templates[finding.sdk]
        return template.replace("{file}", quote(file)).replace("{line}", str(line))

    def data(self, finding: Finding) -> dict[str, str]:
        """Returns where a finding is in the SDK's source, with the keys of the JSON form."""
        place = finding.place
        if place is None:
            return {}
        url = self.url(finding)
        return {"place": str(place), **({"url": url} if url else {})}


def as_json(parity: Parity) -> str:
    """Returns the matrix, the findings and the declared gaps as one JSON document."""
    sources = Sources(parity)
    data: dict[str, Any] = {
        "sdks": parity.sdks,
        "sections": [
            {
                "title": section.title,
                "columns": section.columns,
                "rows": [
                    {
                        "label": row.label,
                        "cells": [_cell_data(parity, cell, sources) for cell in row.cells],
                    }
                    for row in section.rows
                ],
            }
            for section in parity.sections
        ],
        "findings": [_diagnostic_data(parity, item, sources) for item in parity.diagnostics],
    }
    if parity.since:
        data["since"] = parity.since
        data["resolved"] = [_identity(item) for item in parity.resolved]
    if parity.reading:
        data["reading"] = [item.record() for item in parity.reading]
    return json.dumps(data, indent=2) + "\n"


def _cell_data(parity: Parity, cell: Cell, sources: Sources) -> dict[str, object]:
    if not cell.findings:
        return {"text": cell.text}
    differences = [_difference_data(parity, item, sources) for item in cell.findings]
    return {"text": cell.text, "differs": differences}


def _gap_data(gap: Gap) -> dict[str, str]:
    issue = {"issue": gap.issue} if gap.issue else {}
    return {"kind": gap.kind, "reason": gap.reason, **issue}


def _difference_data(parity: Parity, finding: Finding, sources: Sources) -> dict[str, object]:
    gap = parity.declared.get(finding.key)
    declared = {"gap": _gap_data(gap)} if gap is not None else {}
    return {
        **_identity(finding),
        "message": finding.message,
        **sources.data(finding),
        **declared,
    }


def _identity(finding: Finding) -> dict[str, str]:
    return {"sdk": finding.sdk, "id": finding.id, "kind": finding.kind, "state": finding.state}


def _diagnostic_data(parity: Parity, diagnostic: Diagnostic, sources: Sources) -> dict[str, Any]:
    finding = parity.findings.get(diagnostic)
    if finding is None:
        return {**diagnostic.record(), **_gap_identity(parity, diagnostic), "kind": "gap"}
    return {**diagnostic.record(), **_identity(finding), **sources.data(finding)}


def _gap_identity(parity: Parity, diagnostic: Diagnostic) -> dict[str, str]:
    """Returns the SDK, the id and the state of the declared gap that a diagnostic is about."""
    for gap in parity.declared.values():
        if gap.span == diagnostic.span:
            return {"sdk": gap.sdk, "id": gap.id, "state": gap.state}
    return {}


def as_sarif(parity: Parity) -> str:
    """Returns findings and diagnostics of reading as a SARIF log. Declared gaps are not in it."""
    sources = Sources(parity)
    rules = [
        {"id": rule.value, "shortDescription": {"text": text}} for rule, text in _RULES.items()
    ]
    run = {
        "tool": {"driver": {"name": "sessiongen", "version": __version__, "rules": rules}},
        "columnKind": "unicodeCodePoints",
        "results": [
            *(_base_result(item, None) for item in parity.reading),
            *(_result(parity, item, sources) for item in parity.diagnostics),
        ],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _result(parity: Parity, diagnostic: Diagnostic, sources: Sources) -> dict[str, Any]:
    finding = parity.findings.get(diagnostic)
    result = _base_result(diagnostic, finding)
    if finding is None:
        result["properties"] = {**_gap_identity(parity, diagnostic), "kind": "gap"}
    else:
        result["properties"] = {**_identity(finding), **sources.data(finding)}
        url = sources.url(finding).partition("#")[0]
        if url and finding.place is not None:
            region = {"startLine": finding.place.line}
            place = {"artifactLocation": {"uri": url}, "region": region}
            result["relatedLocations"] = [{"physicalLocation": place}]
        elif finding.span != diagnostic.span:
            result["relatedLocations"] = [_location(finding.span)]
    return result


def _base_result(diagnostic: Diagnostic, finding: Finding | None) -> dict[str, Any]:
    return {
        "ruleId": diagnostic.rule.value,
        "level": diagnostic.severity.value,
        "message": {"text": f"{diagnostic.message}\n{diagnostic.help}".rstrip()},
        "locations": [_location(diagnostic.span)],
        "partialFingerprints": {"difference/v1": _fingerprint(diagnostic, finding)},
    }


def _location(span: Span) -> dict[str, Any]:
    path = Path(span.file)
    uri = path.as_uri() if path.is_absolute() else quote(path.as_posix())
    region = {"startLine": span.line, "startColumn": span.column}
    return {"physicalLocation": {"artifactLocation": {"uri": uri}, "region": region}}


def _fingerprint(diagnostic: Diagnostic, finding: Finding | None) -> str:
    """Returns what stays equal while lines move."""
    parts = finding.key if finding else (diagnostic.rule.value, diagnostic.message)
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()
