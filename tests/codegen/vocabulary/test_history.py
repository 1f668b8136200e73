"""Tests of the history of an SDK: the facts of its versions, and what each brought or dropped."""

from __future__ import annotations

import json
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from scopes import PYTHON
from small_sdks import PYTHON_SDK, python_sdk, typescript_sdk

from sessiongen.cli.main import main
from sessiongen.diagnostics import InputError
from sessiongen.vocabulary import history as histories, load
from sessiongen.vocabulary.facts import facts
from sessiongen.vocabulary.fetch import published_versions
from sessiongen.vocabulary.scope import Scope

ROOT = Path(__file__).resolve().parents[3]
SCOPE: Scope = replace(PYTHON, required=())
STATES = 'State = Literal["idle", "busy"]'


def test_facts_of_both_languages() -> None:
    python, typescript = (facts(sdk.vocabulary) for sdk in (python_sdk(), typescript_sdk()))
    assert python["value CloseReason.by-user"] == typescript["value CloseReason.by-user"] == ""
    assert python["host"] == typescript["host"] == "SessionHost"
    assert python["host sends state"] == "on state_changed"
    assert python["host answers ping"] == typescript["host answers ping"] == "pong"
    assert python["driver sends ping"] == "ping"
    assert typescript["driver receives state_of"] == "state"
    assert python["field StateChangedEvent.new"] == "State | None or nothing"
    assert python["fills AgentSessionEvent.state"] == ""
    assert "session event close" in python and "session emits close" not in python


def test_every_kind_of_fact_of_a_published_sdk_is_stated() -> None:
    """A kind that is left out here is left out of the history."""
    stated = facts(load(ROOT / "vocabularies/agents-js.json"))
    assert stated["converts SessionResponse.GetSessionStateResponse.user_state away"] == "US_AWAY"
    assert stated["converts ChatMessage.role otherwise"] == "ASSISTANT"
    assert stated["maps ROLE_MAP otherwise"] == "ASSISTANT"
    assert stated["source of AgentSessionEvent.AmdPrediction.delay"] == "delayMs times 0.001"
    assert stated["source of SessionResponse.GetFrameworkInfoResponse.sdk"] == "'js'"
    assert stated["ignores agent_config_update in chatItemsToProto"] == ""
    assert stated["unused CloseReason.job_shutdown"] == ""
    assert stated["constant topic"] == "lk.agent.session"
    assert stated["order SessionResponse.GetAgentInfoResponse.tools"] == "sorted"
    assert stated["timeout run_input"] == "60 s"


def archive(folder: Path, version: str, *changes: tuple[str, str]) -> None:
    """Writes a wheel of a version of the small Python SDK."""
    name = f"livekit_agents-{version}-py3-none-any.whl"
    with zipfile.ZipFile(folder / name, "w") as wheel:
        for path, text in {**PYTHON_SDK, "version.py": f'__version__ = "{version}"\n'}.items():
            for before, after in changes:
                text = text.replace(before, after)
            wheel.writestr(f"livekit/agents/{path}", text)


@pytest.fixture
def archives(tmp_path: Path) -> Path:
    """A folder with wheels of four versions, of which one cannot be read."""
    gone = (STATES, STATES.replace("busy", "gone"))
    optional = ("old: State", "old: State | None")
    archive(tmp_path, "1.9.0")
    archive(tmp_path, "1.10.0", gone, optional)
    archive(tmp_path, "1.10.1", gone, optional, ("from enum", "\nfrom enum"))
    archive(tmp_path, "1.11.0", gone)
    archive(tmp_path, "2.0.0", ("class SessionHost:", "class SessionHost("))
    (tmp_path / "notes.txt").write_text("no archive")
    return tmp_path


def test_history(archives: Path) -> None:
    item = histories.history(SCOPE, "1.9.0", "2.0.0", archives)
    assert (item.sdk, item.first) == ("livekit-agents", "1.9.0")
    assert item.start["value State.busy"] == ""
    second, same, last = item.versions
    assert second.version == "1.10.0"
    assert second.brought == ("unused State.gone", "value State.gone")
    assert second.dropped == ("unused State.busy", "value State.busy")
    change = histories.Change("field StateChangedEvent.old", "State", "State | None or nothing")
    assert second.changed == (change,)
    # Lines moved, which is no change.
    assert same == ("1.10.1", (), (), ())
    assert last.changed == (change._replace(before=change.after, after=change.before),)
    [unread] = item.unread
    assert unread == "livekit_agents-2.0.0-py3-none-any.whl"


def test_a_range(archives: Path) -> None:
    item = histories.history(SCOPE, "1.10.0", "1.10.5", archives)
    assert (item.first, [version.version for version in item.versions]) == ("1.10.0", ["1.10.1"])
    with pytest.raises(InputError, match="no version of livekit-agents from 3 to 4 was read"):
        histories.history(SCOPE, "3", "4", archives)


def test_json_has_the_start_and_the_changes(archives: Path) -> None:
    data = json.loads(histories.as_json(histories.history(SCOPE, "1.9.0", "1.10.1", archives)))
    assert data["sdk"] == "livekit-agents" and "value State.busy" in data["facts"]
    assert data["versions"] == [
        {
            "version": "1.10.0",
            "brought": ["unused State.gone", "value State.gone"],
            "dropped": ["unused State.busy", "value State.busy"],
            "changed": {"field StateChangedEvent.old": ["State", "State | None or nothing"]},
        },
        {"version": "1.10.1"},
    ]


def test_markdown_has_a_row_for_each_version_with_changes(archives: Path) -> None:
    text = histories.as_markdown(histories.history(SCOPE, "1.9.0", "2.0.0", archives))
    assert text.startswith("## livekit-agents 1.9.0 to 1.11.0\n\n4 versions, 2 with changes.\n")
    brought, dropped = (
        f"`unused State.{name}`<br>`value State.{name}`" for name in ("gone", "busy")
    )
    assert f"| 1.10.0 | {brought} | {dropped} | `field StateChanged" in text
    assert "1.10.1 |" not in text and "\n- livekit_agents-2.0.0-py3-none-any.whl: " in text
    # A bar in a cell would end it.
    assert "State \\| None or nothing" in text


@pytest.mark.parametrize(
    ("lower", "higher"),
    [("1.9.0", "1.10.0"), ("1.0.0rc1", "1.0.0"), ("1.0", "1.0.1"), ("1.0.0rc1", "1.0.0rc2")],
)
def test_order_of_versions(lower: str, higher: str) -> None:
    assert histories.version_key(lower) < histories.version_key(higher)


def test_the_command(archives: Path) -> None:
    command = ["vocabulary", "history", "python", "1.9.0", "1.9.0", "--archives", str(archives)]
    done = CliRunner().invoke(main, [*command, "--format", "json"])
    # The small SDK lacks definitions that the scope requires, which are warnings.
    assert done.exit_code == 0 and json.loads(done.stdout)["first"] == "1.9.0"
    unknown = CliRunner().invoke(main, ["vocabulary", "history", "go-sdk", "1", "2"])
    assert unknown.exit_code == 2 and "no configured SDK matches 'go-sdk'" in unknown.output


def test_published_versions() -> None:
    try:
        versions = published_versions(PYTHON)
    except InputError as error:
        pytest.skip(f"the registry cannot be asked: {error}")
    assert {"1.5.0", "1.8.9"} <= set(versions)
    assert not [version for version in versions if "rc" in version]


def test_the_histories_of_this_repository() -> None:
    folder = Path(__file__).resolve().parents[3] / "docs/history"
    for sdk, first, last in (
        ("livekit-agents", "1.5.0", "1.8.9"),
        ("agents-js", "1.0.12", "1.9.0"),
    ):
        data = json.loads((folder / f"{sdk}.json").read_text(encoding="utf-8"))
        assert (data["sdk"], data["first"]) == (sdk, first)
        assert data["versions"][-1]["version"] == last
        page = (folder / f"{sdk}.md").read_text(encoding="utf-8")
        assert f"{sdk} {first} to {last}" in page
