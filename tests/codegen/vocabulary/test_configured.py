"""Which SDKs the commands take: those that the configuration names, by their scopes.

The configurations name no SDK, one, or several of a language. No test reaches a network.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, Project, project
from small_sdks import PYTHON_SDK

from sessiongen.diagnostics import Rule
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
    """Return a project whose configuration names SDKs with these languages by name."""
    names = ", ".join(f'"sdks/{sdk}.json"' for sdk in languages)
    made = project(root, config=f"{CONFIG}\n[sdks]\nvocabularies = [{names}]\n")
    (root / "sdks").mkdir()
    for sdk, language in languages.items():
        (root / "sdks" / f"{sdk}.json").write_bytes(dump(Vocabulary(sdk, language, "1.0")))
        scope = SCOPE.format(language=language, **CLASSES)
        (root / "sdks" / f"{sdk}.scope.toml").write_text(scope, encoding="utf-8")
    return made


def write_sdk(folder: Path, names: dict[str, str]) -> Path:
    """Write the small Python SDK with other names for its role classes."""
    for file, text in PYTHON_SDK.items():
        path = folder / "livekit/agents" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        for role, name in names.items():
            text = text.replace(f"{CLASSES[role]}(", f"{name}(")
            text = text.replace(f"class {CLASSES[role]}:", f"class {name}:")
        path.write_text(text, encoding="utf-8")
    return folder


def without_order(value: object) -> object:
    """Return JSON data with its lists sorted: facts are ordered by the SDK's own names."""
    if isinstance(value, list):
        return sorted((without_order(item) for item in value), key=repr)
    if isinstance(value, dict):
        return {key: without_order(item) for key, item in value.items()}
    return value


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Replace the registries; return the SDKs whose newest version is asked for."""
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
def test_without_an_sdk_there_is_nothing_to_compare(
    verb: tuple[str, ...], sdks: str, place: str, asked: list[str], tmp_path: Path
) -> None:
    outcome = project(tmp_path, config=f"{CONFIG}{sdks}").invoke(*verb)
    assert (outcome.status, outcome.output, asked) == (2, "", [])
    assert outcome.errors.splitlines() == [
        f"codegen.toml:{place}: error[SG055]: nothing to compare: the configuration names no SDK",
        "  help: name the vocabulary file of an SDK: [sdks] vocabularies = "
        '["vocabularies/NAME.json"]; write its scope beside it as NAME.scope.toml, then run '
        "`sessiongen vocabulary update`",
    ]


def test_a_missing_sdk_is_reported_before_the_protocol_is_read(tmp_path: Path) -> None:
    made = project(tmp_path, "garbage")
    [record] = made.invoke("--format", "json", "parity").records()
    assert record["rule"] == Rule.NO_SDK.value


def test_watch_asks_for_each_configured_sdk(asked: list[str], tmp_path: Path) -> None:
    made = configured(tmp_path, {"one": "python", "two": "typescript"})
    outcome = made.invoke(*WATCH)
    assert (outcome.status, outcome.all, asked) == (0, "no SDK moved\n", ["one", "two"])


def test_an_sdk_without_a_scope_is_named(asked: list[str], tmp_path: Path) -> None:
    made = configured(tmp_path, {"one": "python"})
    (tmp_path / "sdks" / "one.scope.toml").unlink()
    outcome = made.invoke(*WATCH)
    assert (outcome.status, asked) == (2, [])
    assert outcome.errors.startswith(
        "sdks/one.scope.toml:1:1: error[SG056]: this SDK has no scope, so its package cannot "
    )
    # Only reading a package needs the scope.
    assert made.invoke("parity").status == 1


def test_a_scope_with_a_wrong_key_is_refused_at_the_key(tmp_path: Path) -> None:
    made = configured(tmp_path, {"one": "python"})
    path = tmp_path / "sdks" / "one.scope.toml"
    text = path.read_text().replace('host = "', 'hosts = "').replace('"python"', '"cobol"')
    path.write_text(text)
    errors = [line for line in made.invoke(*WATCH).errors.splitlines() if "error[" in line]
    assert errors == [
        "sdks/one.scope.toml:1:1: error[SG006]: no reader reads 'cobol'",
        "sdks/one.scope.toml:4:2: error[SG006]: the key 'host' is missing",
        "sdks/one.scope.toml:6:1: error[SG006]: unknown key 'classes.hosts'",
    ]


@pytest.mark.parametrize("verb, file", [(WATCH, "scope"), (("parity",), "gaps")])
def test_a_file_beside_the_vocabulary_that_is_not_toml_is_refused_at_its_place(
    verb: tuple[str, ...], file: str, tmp_path: Path
) -> None:
    made = configured(tmp_path, {"one": "python"})
    (tmp_path / "sdks" / f"one.{file}.toml").write_bytes(b"fine = 1\nbroken = \n")
    outcome = made.invoke(*verb)
    kind = file.removesuffix("s")
    assert outcome.status == 2
    assert outcome.errors.startswith(f"sdks/one.{file}.toml:2:10: error[SG005]: the {kind} file ")


def test_watch_names_a_vocabulary_that_is_missing(asked: list[str], tmp_path: Path) -> None:
    made = configured(tmp_path, {"one": "python"})
    (tmp_path / "sdks" / "one.json").unlink()
    outcome = made.invoke(*WATCH)
    assert (outcome.status, asked) == (2, [])
    assert outcome.errors.startswith("sdks/one.json:1:1: error[SG048]: ")


def test_update_takes_sdks_by_name_and_by_language(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken: list[dict[str, str | Path]] = []

    def update(sources: list[tuple[commands.Sdk, str | Path]]) -> commands.Updated:
        taken.append({sdk.scope.sdk: source for sdk, source in sources})
        return commands.Updated([], [])

    monkeypatch.setattr(commands, "update", update)
    made = configured(tmp_path, {"one": "python", "two": "typescript"})
    made.invoke(*UPDATE)
    made.invoke(*UPDATE, "--js", "1.9.0", "--python-path", "sdk")
    made.invoke(*UPDATE, "--sdk", "one=2.0", "--sdk", "two=../two")
    assert taken == [
        {"one": "newest", "two": "newest"},
        {"one": Path("sdk"), "two": "1.9.0"},
        {"one": "2.0", "two": Path("../two")},
    ]


def test_a_language_of_two_sdks_names_neither(tmp_path: Path) -> None:
    made = configured(tmp_path, {"one": "python", "two": "python"})
    outcome = made.invoke(*UPDATE, "--python", "1.0")
    assert outcome.status == 2
    assert outcome.errors.splitlines() == [
        "codegen.toml:1:1: error[SG009]: 'python' stands for one, two",
        "  help: name one SDK with --sdk; configured: one, two",
    ]
    outcome = made.invoke(*UPDATE, "--sdk", "three=1.0")
    assert "no configured SDK is 'three'" in outcome.errors


def test_an_sdk_with_other_class_names_is_read_by_configuration_alone(tmp_path: Path) -> None:
    made = configured(tmp_path, {"first": "python", "second": "python"})
    scope = tmp_path / "sdks" / "second.scope.toml"
    scope.write_text(SCOPE.format(language="python", **RENAMED), encoding="utf-8")
    first = write_sdk(tmp_path / "a", CLASSES)
    second = write_sdk(tmp_path / "b", RENAMED)
    outcome = made.invoke(*UPDATE, "--sdk", f"first={first}", "--sdk", f"second={second}")
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
