"""Which SDKs the commands take: those that the configuration names, and no others.

In: configurations that name none, one, or one of somebody's own. Out: what `parity` and
`vocabulary` say and do, without a network.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, Project, project
from small_sdks import PYTHON_SDK

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary import Scope, Vocabulary, dump
from sessiongen.vocabulary import commands

WATCH = ("vocabulary", "watch")


def kept(root: Path, *sdks: str) -> Project:
    """Return a project whose configuration names vocabularies of these SDKs."""
    names = ", ".join(f'"sdks/{sdk}.json"' for sdk in sdks)
    made = project(root, config=f"{CONFIG}\n[sdks]\nvocabularies = [{names}]\n")
    (root / "sdks").mkdir()
    for sdk in sdks:
        (root / "sdks" / f"{sdk}.json").write_bytes(dump(Vocabulary(sdk, "python", "1.0")))
    return made


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Stand in for the registries, and note of which SDK the newest version is asked."""
    names: list[str] = []

    def newest(scope: Scope) -> str:
        names.append(scope.sdk)
        return "1.0"

    monkeypatch.setattr(commands, "newest", newest)
    return names


@pytest.mark.parametrize("verb", [("parity",), WATCH], ids=" ".join)
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
        "  help: read one with `sessiongen vocabulary update`, and name its file: "
        '[sdks] vocabularies = ["vocabularies/livekit-agents.json"]',
    ]


def test_a_protocol_at_fault_is_not_even_read(tmp_path: Path) -> None:
    made = project(tmp_path, "garbage")
    [record] = made.invoke("--format", "json", "parity").records()
    assert record["rule"] == Rule.NO_SDK.value


def test_watch_asks_for_the_named_sdks_alone(asked: list[str], tmp_path: Path) -> None:
    made = kept(tmp_path, "agents-js")
    outcome = made.invoke(*WATCH)
    assert (outcome.status, outcome.all, asked) == (0, "no SDK moved\n", ["agents-js"])


def test_watch_reads_files_wherever_they_are_called(asked: list[str], tmp_path: Path) -> None:
    made = kept(tmp_path, "livekit-agents")
    (tmp_path / "sdks" / "livekit-agents.json").rename(tmp_path / "python.json")
    made.config.write_text(CONFIG + '[sdks]\nvocabularies = ["python.json"]\n', encoding="utf-8")
    outcome = made.invoke(*WATCH)
    assert (outcome.status, outcome.all, asked) == (0, "no SDK moved\n", ["livekit-agents"])


def test_watch_cannot_tell_where_an_sdk_of_ones_own_is_published(
    asked: list[str], tmp_path: Path
) -> None:
    outcome = kept(tmp_path, "mine", "livekit-agents").invoke(*WATCH)
    assert (outcome.status, asked) == (0, ["livekit-agents"])
    assert outcome.errors.startswith(
        "sdks/mine.json:1:1: note[SG041]: it is not known where mine is published, "
    )


def test_watch_names_a_file_that_is_missing(asked: list[str], tmp_path: Path) -> None:
    made = kept(tmp_path, "livekit-agents")
    (tmp_path / "sdks" / "livekit-agents.json").unlink()
    outcome = made.invoke(*WATCH)
    assert (outcome.status, asked) == (2, [])
    assert outcome.errors.startswith("sdks/livekit-agents.json:1:1: error[SG048]: ")


def test_update_without_options_takes_the_named_sdks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    taken: list[dict[str, str | Path]] = []

    def update(root: Path, sources: dict[str, str | Path]) -> commands.Updated:
        taken.append(sources)
        return commands.Updated([], [])

    monkeypatch.setattr(commands, "update", update)
    made = kept(tmp_path, "agents-js")
    made.invoke("vocabulary", "update")
    made.config.write_text(CONFIG, encoding="utf-8")
    made.invoke("vocabulary", "update")
    made.invoke("vocabulary", "update", "--js", "1.9.0", "--python-path", "sdk")
    assert taken == [
        {"typescript": "newest"},
        {"python": "newest", "typescript": "newest"},
        {"python": Path("sdk"), "typescript": "1.9.0"},
    ]


def test_update_says_how_to_name_what_it_wrote(tmp_path: Path) -> None:
    made = project(tmp_path)
    for name, text in PYTHON_SDK.items():
        path = tmp_path / "sdk/livekit/agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    update = ("vocabulary", "update", "--python-path", "sdk")
    wrote, hint = made.invoke(*update).output.splitlines()
    assert wrote == "wrote vocabularies/livekit-agents.json"
    assert hint == (
        "codegen.toml has yet to name it: "
        '[sdks] vocabularies = ["vocabularies/livekit-agents.json"]'
    )
    assert made.invoke(*update).output.splitlines() == ["nothing changed", hint]
    named = hint.partition(": ")[2].replace("[sdks] ", "[sdks]\n")
    made.config.write_text(f"{CONFIG}\n{named}\n", encoding="utf-8")
    assert made.invoke(*update).output == "nothing changed\n"
    assert json.loads(made.invoke("parity", "--format", "json").output)["sdks"] == [
        "livekit-agents 9.8.7"
    ]
