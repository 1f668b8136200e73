"""Tests of the commands `parity` and `vocabulary watch`, with the contract or an edited copy."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from small_protocol import DRIVER, SDK, Small, difference_ids
from small_protocol import replace as changed
from small_sdks import PYTHON_SDK


from sessiongen.config import reader
from sessiongen.cli.main import main
from scopes import PYTHON
from sessiongen.vocabulary.configured import Sdk
from sessiongen.vocabulary import LiteralValue, dump, load
from sessiongen.vocabulary import commands
from sessiongen.parity.gaps import load_gaps
from sessiongen.vocabulary.package import open_package
from sessiongen.vocabulary.scope import scope_file

ROOT = Path(__file__).resolve().parents[3]
VOCABULARIES = reader.load(ROOT / "codegen.toml").sdks.vocabularies
COMPLETED = '  CR_COMPLETED = 5 [(sessiongen.sdk_value) = "task_completed"];\n'


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sessiongen", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_all_differences_of_this_repository_are_declared() -> None:
    done = run("parity")
    assert (done.returncode, done.stderr) == (0, "")
    gaps = sum(len(load_gaps(path, path.stem)) for path in VOCABULARIES)
    assert done.stdout.splitlines()[-1].endswith(f" 0 findings, {gaps} declared gaps (~)")
    assert "agents-js" in done.stdout and "CR_COMPLETED = 5" in done.stdout


class Contract:
    """A copy of this repository's contract, vocabularies and declared gaps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name in ("proto", "vocabularies"):
            shutil.copytree(ROOT / name, folder / name)
        shutil.copy(ROOT / "codegen.toml", folder)

    def edit(self, before: str, after: str) -> None:
        path = self.folder / "proto/agent_session.proto"
        text = path.read_text()
        assert text.count(before) == 1
        path.write_text(text.replace(before, after))

    def add_close_reason(self, sdk: str, value: str) -> None:
        """Adds a value to the SDK's close reasons."""
        path = self.folder / f"vocabularies/{sdk}.json"
        vocabulary = load(path)
        enums = tuple(
            (
                changed(item, literals=(*item.literals, LiteralValue(value, None, 1)))
                if item.name == "CloseReason"
                else item
            )
            for item in vocabulary.enums
        )
        path.write_bytes(dump(changed(vocabulary, enums=enums)))

    def faults(self) -> list[str]:
        done = run("--config", str(self.folder / "codegen.toml"), "--format", "github", "parity")
        lines = done.stdout.splitlines()
        assert done.returncode == (1 if lines else 0), done.stderr
        return [line.partition("::")[2].partition("::")[2].partition("%0A")[0] for line in lines]


@pytest.fixture
def contract(tmp_path: Path) -> Contract:
    return Contract(tmp_path)


def test_new_close_reason_is_a_finding_until_the_sdks_have_it(contract: Contract) -> None:
    contract.edit(COMPLETED, f"{COMPLETED}  // Given to a person.\n  CR_HANDED_OVER = 1001;\n")
    [published, python, js] = sorted(contract.faults(), reverse=True)
    assert published.startswith("livekit-agents: CloseReason.CR_HANDED_OVER: the newest")
    assert python.startswith("livekit-agents has no value for CR_HANDED_OVER")
    assert js.startswith("agents-js has no value for CR_HANDED_OVER")
    contract.add_close_reason("livekit-agents", "handed_over")
    contract.add_close_reason("agents-js", "handed_over")
    assert contract.faults() == [published]
    matrix = run("--config", str(contract.folder / "codegen.toml"), "parity", "--all").stdout
    [row] = [line.split() for line in matrix.splitlines() if line.startswith("CR_HANDED_OVER")]
    assert row == ["CR_HANDED_OVER", "=", "1001", "handed_over", "handed_over"]


def test_missing_sdk_value_annotation_is_a_finding(contract: Contract) -> None:
    contract.edit(COMPLETED, "  CR_COMPLETED = 5;\n")
    contract.edit("  CR_TASK_COMPLETED = 5;\n", "")
    contract.edit("  option allow_alias = true;\n", "")
    [missing, sdk_only, unused] = sorted(contract.faults())
    assert missing.startswith("livekit-agents has no value for CR_COMPLETED")
    assert sdk_only.startswith("livekit-agents has the value 'task_completed'")
    assert "lost on the wire" in sdk_only
    # Nothing is sent for the value, used or not.
    assert unused.startswith("livekit-agents: unused CloseReason.task_completed: ")


def test_gap_that_no_longer_exists_is_a_finding(contract: Contract) -> None:
    contract.add_close_reason("agents-js", "task_completed")
    difference = "value agent_session.CloseReason.CR_COMPLETED"
    assert contract.faults() == [f"agents-js: {difference}: this gap no longer exists"]


@pytest.fixture
def config_with_a_finding(tmp_path: Path) -> str:
    """A configuration whose parity has one finding."""
    small = Small(tmp_path)
    assert difference_ids(small.compare(changed(SDK, driver=changed(DRIVER, sends=())))) == [
        "request ask: driver"
    ]
    return str(tmp_path / "codegen.toml")


def test_json_is_one_document(config_with_a_finding: str) -> None:
    for arguments in (("parity", "--format", "json"), ("--format", "json", "parity")):
        done = run("--config", config_with_a_finding, *arguments)
        assert done.returncode == 1
        assert len(json.loads(done.stdout)["findings"]) == 1


def test_github_markdown_and_text(config_with_a_finding: str) -> None:
    github = run("--config", config_with_a_finding, "parity", "--format", "github")
    assert github.stdout.startswith("::error file=") and "title=SG052" in github.stdout
    for form, row in (
        ("markdown", "| ask | ask | - ! |"),
        ("text", "ask       ask             - !"),
    ):
        done = run("--config", config_with_a_finding, "parity", "--format", form)
        assert done.returncode == 1 and row in done.stdout and "error[SG052]" in done.stderr
    assert run("--config", config_with_a_finding, "--format", "markdown", "parity").returncode == 2


def test_declared_findings_need_a_reason(config_with_a_finding: str) -> None:
    gaps = Path(config_with_a_finding).parent / "sdk0.gaps.toml"
    gaps.write_text("# Ours.\n")
    done = run("--config", config_with_a_finding, "parity", "--declare")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith("declared 1 differences in ")
    assert "request ask: driver: this gap has no reason" in done.stderr
    assert done.stderr.count("error[") == 1
    entry = '[[gaps]]\nkind = "not-yet"\nreason = ""\n\n[gaps.covers]\n'
    entry += '"request ask: driver" = "request ask: its driver cannot send it"\n'
    assert gaps.read_text() == f"# Ours.\n\n{entry}"
    again = run("--config", config_with_a_finding, "parity", "--declare")
    assert again.returncode == 1 and gaps.read_text() == f"# Ours.\n\n{entry}"
    gaps.write_text(gaps.read_text().replace('reason = ""', 'reason = "No method."'))
    assert run("--config", config_with_a_finding, "parity").returncode == 0


def test_declare_creates_the_gap_file(config_with_a_finding: str) -> None:
    gaps = Path(config_with_a_finding).parent / "sdk0.gaps.toml"
    gaps.unlink(missing_ok=True)
    run("--config", config_with_a_finding, "parity", "--declare")
    assert gaps.read_text().startswith("# Known differences from small-sdk")


def test_declare_does_not_change_a_file_that_cannot_be_extended(config_with_a_finding: str) -> None:
    gaps = Path(config_with_a_finding).parent / "sdk0.gaps.toml"
    gaps.write_text("gaps = []\n")
    done = run("--config", config_with_a_finding, "parity", "--declare")
    assert done.returncode == 2 and "cannot be appended" in done.stderr
    assert gaps.read_text() == "gaps = []\n"


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_quiet_shows_findings_without_the_matrix(config_with_a_finding: str, form: str) -> None:
    done = run("--config", config_with_a_finding, "parity", "--quiet", "--format", form)
    assert done.returncode == 1
    shown, other = (done.stdout, done.stderr) if form == "github" else (done.stderr, done.stdout)
    assert shown.count("SG052") == 1 and "requests" not in shown and other == ""
    json_report = run("--config", config_with_a_finding, "parity", "--quiet", "--format", "json")
    assert len(json.loads(json_report.stdout)["findings"]) == 1


def test_colour_only_in_terminals(config_with_a_finding: str) -> None:
    assert "\x1b[" not in run("--config", config_with_a_finding, "parity").stdout
    assert (
        "- \x1b[31m!\x1b[0m" in run("--color", "--config", config_with_a_finding, "parity").stdout
    )


def test_parity_starts_only_protoc_and_imports_no_parser() -> None:
    code = (
        "import subprocess, sys\nstarted = []\n"
        "sys.addaudithook(lambda name, _: name == 'subprocess.Popen' and started.append(name))\n"
        "from sessiongen.cli.main import main\n"
        "try:\n    main(['-q', 'parity'])\nexcept SystemExit as done:\n    status = done.code\n"
        "heavy = {'jinja2', 'black', 'tree_sitter', 'livekit', 'mypy_protobuf'} & set(sys.modules)\n"
        "print(status, len(started), sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0 1 []", done.stdout + done.stderr


def sdk(folder: Path, version: str, more: str = "", above: str = "") -> Path:
    """Writes the small Python SDK into a folder, which stands in for the registry."""
    files = {**PYTHON_SDK, "version.py": f'__version__ = "{version}"\n'}
    files = {name: above + text for name, text in files.items()}
    files["voice/events.py"] += more
    for name, text in files.items():
        path = folder / "livekit/agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_watch_reports_a_new_version(
    contract: Contract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned = contract.folder / "vocabularies/livekit-agents.json"
    scope = scope_file(pinned)
    scope.write_text(re.sub(r"required = \[.*?\]", "required = []", scope.read_text(), flags=re.S))
    settings = contract.folder / "codegen.toml"
    settings.write_text(settings.read_text().replace(', "vocabularies/agents-js.json"', ""))
    without = replace(PYTHON, required=())
    old = sdk(tmp_path / "old", "1.0")
    assert commands.update([(Sdk(pinned, without), old)]).written == [pinned]
    newest = ["1.0"]
    mood = 'Mood = Literal["fine"]\n'
    later = open_package(sdk(tmp_path / "new", "1.1", mood, above="# A licence.\n"), PYTHON)
    monkeypatch.setattr(commands, "newest", lambda scope: newest[0])
    monkeypatch.setattr(commands, "fetch", lambda scope, version: later)
    watch = ["--config", str(settings), "vocabulary", "watch"]
    same = CliRunner().invoke(main, watch)
    assert (same.exit_code, same.output) == (0, "no SDK has a new version\n")
    newest[0] = "1.1"
    changed_sdk = CliRunner().invoke(main, watch)
    assert changed_sdk.exit_code == 1
    assert changed_sdk.output.startswith("new version: livekit-agents 1.0 -> 1.1\n")
    assert (
        '-  "version": "1.0"' in changed_sdk.output
        and '+      "name": "Mood",' in changed_sdk.output
    )
    # All lines of the SDK have moved by one, which the diff does not show.
    removed = [line for line in changed_sdk.output.splitlines() if line.startswith("-")]
    assert removed == ["--- " + removed[0][4:], '-  "version": "1.0"']
    assert "note[SG049]" in changed_sdk.output
    assert load(pinned).version == "1.0"
