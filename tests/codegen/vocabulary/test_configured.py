"""Tests of the SDKs that a configuration names, and of those that a command selects.

No test uses a network.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, Project, project
from small_sdks import PYTHON_SDK

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary.configured import Sdk
from sessiongen.vocabulary import Vocabulary, commands, dump, load
from sessiongen.vocabulary.scope import Scope

WATCH = ("vocabulary", "watch")
UPDATE = ("vocabulary", "update")
SCOPE = """\
language = "{language}"
distribution = "example-sdk"
package = "livekit.agents"
[classes]
session = "{session}"
host = "{host}"
driver = "{driver}"
[messages]
module = "livekit.protocol.agent_pb"
name = "agent_session"
event = "AgentSessionEvent"
event_arm = "event"
request = "SessionRequest"
request_arm = "request"
response = "SessionResponse"
response_error = "error"
envelope = "AgentSessionMessage"
envelope_arm = "message"
"""
CLASSES = {"session": "AgentSession", "host": "SessionHost", "driver": "RemoteSession"}
RENAMED = {"session": "Conversation", "host": "TalkServer", "driver": "TalkControl"}


def configured(root: Path, languages: dict[str, str]) -> Project:
    """Returns a project whose configuration names SDKs with these languages by name."""
    names = ", ".join(f'"sdks/{sdk}.json"' for sdk in languages)
    small_project = project(root, config=f"{CONFIG}\n[sdks]\nvocabularies = [{names}]\n")
    (root / "sdks").mkdir()
    for sdk, language in languages.items():
        (root / "sdks" / f"{sdk}.json").write_bytes(dump(Vocabulary(sdk, language, "1.0")))
        scope = SCOPE.format(language=language, **CLASSES)
        (root / "sdks" / f"{sdk}.scope.toml").write_text(scope, encoding="utf-8")
    return small_project


def write_sdk(folder: Path, names: dict[str, str]) -> Path:
    """Writes the small Python SDK with other names for its role classes."""
    for file, text in PYTHON_SDK.items():
        path = folder / "livekit/agents" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        for role, name in names.items():
            text = text.replace(f"{CLASSES[role]}(", f"{name}(")
            text = text.replace(f"class {CLASSES[role]}:", f"class {name}:")
        path.write_text(text, encoding="utf-8")
    return folder


def without_order(value: object) -> object:
    """Returns JSON data with its lists sorted: facts are ordered by the SDK's own names."""
    if isinstance(value, list):
        return sorted((without_order(item) for item in value), key=repr)
    if isinstance(value, dict):
        return {key: without_order(item) for key, item in value.items()}
    return value


@pytest.fixture
def requested_sdks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replaces the registries; returns the SDKs whose newest version is requested."""
    names: list[str] = []

    def newest(scope: Scope) -> str:
        names.append(scope.sdk)
        return "1.0"

    monkeypatch.setattr(commands, "newest", newest)
    return names


@pytest.mark.parametrize("verb", [("parity",), WATCH, UPDATE], ids=" ".join)
@pytest.mark.parametrize(
    ("sdks", "place"),
    [("", "1:1"), ("[sdks]\n", "7:2"), ("[sdks]\nvocabularies = []\n", "7:2")],
    ids=["no table", "an empty table", "an empty list"],
)
def test_configuration_without_an_sdk(
    verb: tuple[str, ...], sdks: str, place: str, requested_sdks: list[str], tmp_path: Path
) -> None:
    outcome = project(tmp_path, config=f"{CONFIG}{sdks}").invoke(*verb)
    assert (outcome.status, outcome.output, requested_sdks) == (2, "", [])
    assert outcome.errors.splitlines() == [
        f"codegen.toml:{place}: error[SG055]: nothing to compare: the configuration names no SDK",
        "  help: name the vocabulary file of an SDK: [sdks] vocabularies = "
        '["vocabularies/NAME.json"]; write its scope beside it as NAME.scope.toml, then run '
        "`sessiongen vocabulary update`",
    ]


def test_a_missing_sdk_is_reported_before_the_protocol_is_read(tmp_path: Path) -> None:
    small_project = project(tmp_path, "garbage")
    [record] = small_project.invoke("--format", "json", "parity").records()
    assert record["rule"] == Rule.NO_SDK.value


def test_watch_reads_each_configured_sdk(requested_sdks: list[str], tmp_path: Path) -> None:
    small_project = configured(tmp_path, {"one": "python", "two": "typescript"})
    outcome = small_project.invoke(*WATCH)
    assert (outcome.status, outcome.all, requested_sdks) == (
        0,
        "no SDK has a new version\n",
        ["one", "two"],
    )


def test_missing_scope_file(requested_sdks: list[str], tmp_path: Path) -> None:
    small_project = configured(tmp_path, {"one": "python"})
    (tmp_path / "sdks" / "one.scope.toml").unlink()
    outcome = small_project.invoke(*WATCH)
    assert (outcome.status, requested_sdks) == (2, [])
    assert outcome.errors.startswith(
        "sdks/one.scope.toml:1:1: error[SG056]: this SDK has no scope file, so its package cannot "
    )
    # Only reading a package needs the scope.
    assert small_project.invoke("parity").status == 1


def test_scope_with_invalid_keys(tmp_path: Path) -> None:
    small_project = configured(tmp_path, {"one": "python"})
    path = tmp_path / "sdks" / "one.scope.toml"
    text = path.read_text().replace('host = "', 'hosts = "').replace('"python"', '"cobol"')
    path.write_text(text)
    errors = [line for line in small_project.invoke(*WATCH).errors.splitlines() if "error[" in line]
    assert errors == [
        "sdks/one.scope.toml:1:1: error[SG006]: there is no reader for the language 'cobol'",
        "sdks/one.scope.toml:6:1: error[SG006]: unknown key 'classes.hosts'",
    ]


@pytest.mark.parametrize("verb, file", [(WATCH, "scope"), (("parity",), "gaps")])
def test_scope_or_gap_file_that_is_not_toml(
    verb: tuple[str, ...], file: str, tmp_path: Path
) -> None:
    small_project = configured(tmp_path, {"one": "python"})
    (tmp_path / "sdks" / f"one.{file}.toml").write_bytes(b"fine = 1\nbroken = \n")
    outcome = small_project.invoke(*verb)
    kind = file.removesuffix("s")
    assert outcome.status == 2
    assert outcome.errors.startswith(f"sdks/one.{file}.toml:2:10: error[SG005]: the {kind} file ")


def test_watch_with_a_missing_vocabulary(requested_sdks: list[str], tmp_path: Path) -> None:
    small_project = configured(tmp_path, {"one": "python"})
    (tmp_path / "sdks" / "one.json").unlink()
    outcome = small_project.invoke(*WATCH)
    assert (outcome.status, requested_sdks) == (2, [])
    assert outcome.errors.startswith("sdks/one.json:1:1: error[SG048]: ")


def test_update_selects_sdks_by_name_and_by_language(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    updated_sources: list[dict[str, str | Path]] = []

    def update(sources: list[tuple[Sdk, str | Path]]) -> commands.Updated:
        updated_sources.append({sdk.scope.sdk: source for sdk, source in sources})
        return commands.Updated([], [])

    monkeypatch.setattr(commands, "update", update)
    small_project = configured(tmp_path, {"one": "python", "two": "typescript"})
    small_project.invoke(*UPDATE)
    small_project.invoke(*UPDATE, "--js", "1.9.0", "--python-path", "sdk")
    small_project.invoke(*UPDATE, "--sdk", "one=2.0", "--sdk", "two=../two")
    assert updated_sources == [
        {"one": "newest", "two": "newest"},
        {"one": Path("sdk"), "two": "1.9.0"},
        {"one": "2.0", "two": Path("../two")},
    ]


def test_language_of_two_sdks_is_ambiguous(tmp_path: Path) -> None:
    small_project = configured(tmp_path, {"one": "python", "two": "python"})
    outcome = small_project.invoke(*UPDATE, "--python", "1.0")
    assert outcome.status == 2
    assert outcome.errors.splitlines() == [
        "codegen.toml:1:1: error[SG009]: several SDKs match 'python': one, two",
        "  help: name one SDK with --sdk; configured: one, two",
    ]
    outcome = small_project.invoke(*UPDATE, "--sdk", "three=1.0")
    assert "no configured SDK matches 'three'" in outcome.errors


def test_an_sdk_with_other_class_names_is_read_by_configuration_alone(tmp_path: Path) -> None:
    small_project = configured(tmp_path, {"first": "python", "second": "python"})
    scope = tmp_path / "sdks" / "second.scope.toml"
    scope.write_text(SCOPE.format(language="python", **RENAMED), encoding="utf-8")
    first = write_sdk(tmp_path / "a", CLASSES)
    second = write_sdk(tmp_path / "b", RENAMED)
    outcome = small_project.invoke(*UPDATE, "--sdk", f"first={first}", "--sdk", f"second={second}")
    assert outcome.errors == ""
    assert outcome.output.splitlines() == ["wrote sdks/first.json", "wrote sdks/second.json"]
    read = load(tmp_path / "sdks" / "second.json")
    assert read.session is not None and read.session.name == "Conversation"
    assert read.host is not None and read.host.name == "TalkServer"
    assert read.driver is not None and read.driver.name == "TalkControl"
    # Apart from the three names, the facts are those of the SDK with the first names.
    text = (tmp_path / "sdks" / "second.json").read_text().replace('"second"', '"first"')
    for role, name in RENAMED.items():
        text = text.replace(f'"{name}', f'"{CLASSES[role]}')
    first_text = (tmp_path / "sdks" / "first.json").read_text()
    assert without_order(json.loads(text)) == without_order(json.loads(first_text))
