"""Tests of the documents for programs: JSON and SARIF."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import pytest
from small_protocol import AT, DRIVER, HOST, SDK, Small, replace

from sessiongen import parity
from sessiongen.diagnostics import Rule, Span
from sessiongen.parity.matrix import Finding

# No wheel has the schema; this npm package of its editors does.
SCHEMA_PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
SCHEMA_FILE = "package/lib/schemas/sarif-2.1.0-rtm.5.json"
SCOPE = 'source = "https://example.com/v{version}/{file}#L{line}"\n'
UNANSWERED = replace(HOST, unknown_request=None)
SILENT_DRIVER = replace(DRIVER, receives=(), sends=())
FINDING = Finding("small-sdk", "x", "small-sdk: x", Rule.PARITY_VALUE, Span("a.proto"))
BROKEN = replace(SDK, host=UNANSWERED, driver=SILENT_DRIVER)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    (tmp_path / "sdk0.scope.toml").write_text(SCOPE)
    return Small(tmp_path)


def findings(result: parity.Parity) -> dict[str, dict[str, Any]]:
    data = json.loads(parity.render(result, "json"))
    return {item.get("id", item["message"]): item for item in data["findings"]}


def test_json_names_sdk_id_kind_place_and_line_at_the_tag(small: Small) -> None:
    items = findings(small.compare(BROKEN))
    assert sorted(items) == ["event ended: driver", "request *: host", "request ask: driver"]
    unknown = items["request *: host"]
    assert unknown["sdk"] == "small-sdk" and unknown["kind"] == "request"
    assert unknown["state"] == "its host does not answer an unknown request"
    assert unknown["place"] == "sdk/session.py:7"
    assert unknown["url"] == "https://example.com/v1/sdk/session.py#L7"
    assert (unknown["rule"], unknown["severity"]) == ("SG052", "error")
    # Nothing in the SDK is the place of something that it lacks.
    assert "place" not in items["request ask: driver"]


def test_json_of_a_declared_gap_has_its_kind_and_reason(small: Small) -> None:
    result = small.compare(BROKEN, [("request *: host", "Old host."), ("gone", "Why not.")])
    assert "request *: host" not in findings(result)
    [stale] = [item for item in findings(result).values() if item["kind"] == "gap"]
    assert (stale["sdk"], stale["id"]) == ("small-sdk", "gone")
    assert (
        stale["message"]
        == "small-sdk: gone: this gap is not found, and nothing that was read shows that it is gone"
    )
    data = json.loads(parity.render(result, "json"))
    cells = [cell for item in data["sections"] for row in item["rows"] for cell in row["cells"]]
    differences = [item for cell in cells for item in cell.get("differs", ())]
    [declared] = [item for item in differences if item["id"] == "request *: host"]
    assert declared["gap"] == {"kind": "design", "reason": "Old host."}


def test_no_address_without_a_template(small: Small) -> None:
    (small.folder / "sdk0.scope.toml").unlink()
    assert "url" not in findings(small.compare(BROKEN))["request *: host"]


@pytest.mark.parametrize(
    ("difference", "kind"),
    [
        ("session", "session"),
        ("event field ended.at: host", "event field"),
        ("event field: host", "event"),
        ("request error ask 'no': host", "request error"),
        ("message arm event: sends", "message arm"),
        ("sdk type A.B", "sdk type"),
        ("proto value V", "proto value"),
        ("map M.a", "map"),
    ],
)
def test_kind_of_a_difference(difference: str, kind: str) -> None:
    assert FINDING._replace(id=difference).kind == kind


def sarif(result: parity.Parity) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(parity.render(result, "sarif"))
    return data


def test_sarif_results(small: Small) -> None:
    log = sarif(small.compare(BROKEN, [("request ask: driver", "Later.")]))
    [run] = log["runs"]
    results = {item["properties"]["id"]: item for item in run["results"]}
    # Declared gaps are left out.
    assert sorted(results) == ["event ended: driver", "request *: host"]
    unknown = results["request *: host"]
    assert (unknown["ruleId"], unknown["level"]) == ("SG052", "error")
    [location] = unknown["locations"]
    physical = location["physicalLocation"]
    assert physical["artifactLocation"]["uri"].endswith("small.proto")
    assert physical["region"] == {"startLine": 21, "startColumn": 1}
    [related] = unknown["relatedLocations"]
    assert related["physicalLocation"] == {
        "artifactLocation": {"uri": "https://example.com/v1/sdk/session.py"},
        "region": {"startLine": 7},
    }
    known_rules = [item["id"] for item in run["tool"]["driver"]["rules"]]
    assert {item["ruleId"] for item in run["results"]} <= set(known_rules)


def test_sarif_fingerprint_does_not_depend_on_lines(small: Small) -> None:
    def fingerprints(result: parity.Parity) -> list[str]:
        [run] = sarif(result)["runs"]
        return [item["partialFingerprints"]["difference/v1"] for item in run["results"]]

    before = fingerprints(small.compare(BROKEN))
    moved = replace(BROKEN, host=replace(UNANSWERED, place=AT._replace(line=99)))
    assert fingerprints(small.compare(moved)) == before
    assert len(set(before)) == 3


def test_sarif_of_sources_at_hand_points_into_them(small: Small) -> None:
    result = small.compare(BROKEN, origins={"small-sdk": "checkout"})
    [unknown] = [
        item
        for item in sarif(result)["runs"][0]["results"]
        if item["properties"]["id"] == "request *: host"
    ]
    physical = unknown["locations"][0]["physicalLocation"]
    assert physical["artifactLocation"] == {"uri": "checkout/sdk/session.py"}
    assert physical["region"]["startLine"] == 7
    [related] = unknown["relatedLocations"]
    assert related["physicalLocation"]["artifactLocation"]["uri"].endswith("small.proto")


@pytest.fixture(scope="session")
def schema(pytestconfig: pytest.Config) -> dict[str, Any]:
    """Returns the schema of SARIF 2.1.0, downloaded once."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so the schema cannot be fetched")
    assert pytestconfig.cache is not None
    folder = pytestconfig.cache.mkdir("sarif_schema")
    if not list(folder.glob("*.tgz")):
        command = [npm, "pack", "--loglevel=error", "--ignore-scripts", SCHEMA_PACKAGE]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"{SCHEMA_PACKAGE} cannot be fetched: {done.stderr}")
    with tarfile.open(next(folder.glob("*.tgz"))) as archive:
        stream = archive.extractfile(SCHEMA_FILE)
        assert stream is not None
        data: dict[str, Any] = json.loads(stream.read())
    return data


def test_sarif_is_valid_against_its_schema(small: Small, schema: dict[str, Any]) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft7Validator(schema)
    logs = [
        sarif(small.compare()),
        sarif(small.compare(BROKEN, [("gone", "Why not.")])),
        sarif(small.compare(BROKEN, origins={"small-sdk": "checkout"})),
    ]
    assert [len(log["runs"][0]["results"]) for log in logs] == [0, 4, 3]
    for log in logs:
        assert [item.message for item in validator.iter_errors(log)] == []
    # The validator does find faults.
    logs[1]["runs"][0]["results"][0]["level"] = "fatal"
    del logs[1]["runs"][0]["tool"]
    assert len(list(validator.iter_errors(logs[1]))) == 2
