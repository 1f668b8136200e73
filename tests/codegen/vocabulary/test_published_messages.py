"""Tests of the list of messages and enums in an npm package."""

from __future__ import annotations

import json
from pathlib import Path

from sessiongen_command import PROTO, Project, project

DECLARATIONS = """\
/**
 * @generated from message small.v1.Event
 */
declare class Event extends Message<Event> {
    /**
     * @generated from oneof small.v1.Event.event
     */
    event: {
        /**
         * @generated from field: small.v1.Empty tick = 1;
         */
        value: Empty;
        case: "tick";
    };
}
/** @generated from message small.v1.Empty */
/** @generated from message other.Response */
/**
 * @generated from enum small.v1.Color
 */
    /**
     * @generated from enum value: RED = 0;
     */
"""
ORIGIN = {"distribution": "@small/messages", "version": "0", "package": "small.v1"}


def published_project(tmp_path: Path, name: str = "@small/messages") -> Project:
    small_project = project(tmp_path, PROTO + "enum Color { RED = 0; BLUE = 1; }\n")
    package = tmp_path / "package"
    package.mkdir()
    (package / "index.d.ts").write_text(DECLARATIONS, encoding="utf-8")
    manifest = {"name": name, "version": "1.2.3"}
    (package / "package.json").write_text(json.dumps(manifest), encoding="utf-8")
    (tmp_path / "list.json").write_text(json.dumps(ORIGIN), encoding="utf-8")
    return small_project


def test_a_package_is_listed(tmp_path: Path) -> None:
    small_project = published_project(tmp_path)
    command = ["vocabulary", "messages", "list.json", "--path", "package"]
    assert small_project.invoke(*command).output == "wrote list.json\n"
    assert json.loads((tmp_path / "list.json").read_text(encoding="utf-8")) == {
        "distribution": "@small/messages",
        "version": "1.2.3",
        "package": "small.v1",
        "messages": {"Empty": [], "Event": ["tick"]},
        "enums": {"Color": ["RED"]},
    }
    assert small_project.invoke(*command).output == "unchanged list.json\n"


def test_another_package_is_refused(tmp_path: Path) -> None:
    small_project = published_project(tmp_path, "@other/messages")
    outcome = small_project.invoke("vocabulary", "messages", "list.json", "--path", "package")
    assert outcome.status == 2
    assert "the package @small/messages was not found at this path" in outcome.errors


def test_a_list_without_its_origin_is_refused(tmp_path: Path) -> None:
    small_project = published_project(tmp_path)
    (tmp_path / "list.json").write_text("{}", encoding="utf-8")
    outcome = small_project.invoke("vocabulary", "messages", "list.json", "--path", "package")
    assert (outcome.status, "list.json:1:1: error[SG002]" in outcome.errors) == (2, True)
    assert "`distribution`, `version` and `package`" in outcome.errors
