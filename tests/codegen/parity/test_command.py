"""The commands `parity` and `vocabulary watch` on this repository's protocol or an edited copy."""

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

from sessiongen import parity, pipeline

from sessiongen.config import reader
from sessiongen.cli.main import main
from scopes import PYTHON
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


def test_this_repository_has_declared_every_gap() -> None:
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

    def teach(self, sdk: str, value: str) -> None:
        """Add a value to the SDK's close reasons."""
        path = self.folder / f"vocabularies/{sdk}.json"
        found = load(path)
        enums = tuple(
            (
                changed(item, literals=(*item.literals, LiteralValue(value, None, 1)))
                if item.name == "CloseReason"
                else item
            )
            for item in found.enums
        )
        path.write_bytes(dump(changed(found, enums=enums)))

    def faults(self) -> list[str]:
        done = run("--config", str(self.folder / "codegen.toml"), "--format", "github", "parity")
        lines = done.stdout.splitlines()
        assert done.returncode == (1 if lines else 0), done.stderr
        return [line.partition("::")[2].partition("::")[2].partition("%0A")[0] for line in lines]


@pytest.fixture
def contract(tmp_path: Path) -> Contract:
    return Contract(tmp_path)


def test_a_new_close_reason_fails_until_the_sdks_have_it(contract: Contract) -> None:
    contract.edit(COMPLETED, f"{COMPLETED}  // Given to a person.\n  CR_HANDED_OVER = 6;\n")
    [python, js] = sorted(contract.faults(), reverse=True)
    assert python.startswith("livekit-agents has no value for CR_HANDED_OVER")
    assert js.startswith("agents-js has no value for CR_HANDED_OVER")
    contract.teach("livekit-agents", "handed_over")
    contract.teach("agents-js", "handed_over")
    assert contract.faults() == []
    matrix = run("--config", str(contract.folder / "codegen.toml"), "parity", "--all").stdout
    [row] = [line.split() for line in matrix.splitlines() if line.startswith("CR_HANDED_OVER")]
    assert row == ["CR_HANDED_OVER", "=", "6", "handed_over", "handed_over"]


def test_the_rename_of_task_completed_is_caught(contract: Contract) -> None:
    contract.edit(COMPLETED, "  CR_COMPLETED = 5;\n")
    contract.edit("  CR_TASK_COMPLETED = 5;\n", "")
    contract.edit("  option allow_alias = true;\n", "")
    [lacks, lost] = sorted(contract.faults())
    assert lacks.startswith("livekit-agents has no value for CR_COMPLETED")
    assert lost.startswith("livekit-agents has the value 'task_completed'")
    assert "lost on the wire" in lost


def test_a_gap_that_an_sdk_closes_is_a_finding(contract: Contract) -> None:
    contract.teach("agents-js", "task_completed")
    difference = "value agent_session.CloseReason.CR_COMPLETED"
    assert contract.faults() == [f"agents-js: {difference}: this gap no longer exists"]


@pytest.fixture
def lacking(tmp_path: Path) -> str:
    """A configuration whose parity has one finding."""
    small = Small(tmp_path)
    assert difference_ids(small.compare(changed(SDK, driver=changed(DRIVER, sends=())))) == [
        "request ask: driver"
    ]
    return str(tmp_path / "codegen.toml")


def test_json_is_one_document_also_with_findings(lacking: str) -> None:
    for arguments in (("parity", "--format", "json"), ("--format", "json", "parity")):
        done = run("--config", lacking, *arguments)
        assert done.returncode == 1
        assert len(json.loads(done.stdout)["findings"]) == 1


def test_github_markdown_and_text(lacking: str) -> None:
    github = run("--config", lacking, "parity", "--format", "github")
    assert github.stdout.startswith("::error file=") and "title=SG052" in github.stdout
    for form, row in (
        ("markdown", "| ask | ask | - ! |"),
        ("text", "ask       ask             - !"),
    ):
        done = run("--config", lacking, "parity", "--format", form)
        assert done.returncode == 1 and row in done.stdout and "error[SG052]" in done.stderr
    assert run("--config", lacking, "--format", "markdown", "parity").returncode == 2


def test_declare_adds_findings_that_fail_until_they_have_a_reason(lacking: str) -> None:
    gaps = Path(lacking).parent / "sdk0.gaps.toml"
    gaps.write_text("# Ours.\n")
    done = run("--config", lacking, "parity", "--declare")
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].startswith("declared 1 differences in ")
    assert "request ask: driver: this gap has no reason" in done.stderr
    assert done.stderr.count("error[") == 1
    entry = '[[gaps]]\nkind = "not-yet"\nreason = ""\ncovers = [\n    "request ask: driver",\n]\n'
    assert gaps.read_text() == f"# Ours.\n\n{entry}"
    again = run("--config", lacking, "parity", "--declare")
    assert again.returncode == 1 and gaps.read_text() == f"# Ours.\n\n{entry}"
    gaps.write_text(gaps.read_text().replace('reason = ""', 'reason = "No method."'))
    assert run("--config", lacking, "parity").returncode == 0


def test_declare_creates_the_gap_file(lacking: str) -> None:
    gaps = Path(lacking).parent / "sdk0.gaps.toml"
    gaps.unlink(missing_ok=True)
    run("--config", lacking, "parity", "--declare")
    assert gaps.read_text().startswith("# Known differences from small-sdk")


def test_declare_leaves_a_file_alone_that_it_cannot_extend(lacking: str) -> None:
    gaps = Path(lacking).parent / "sdk0.gaps.toml"
    gaps.write_text("gaps = []\n")
    done = run("--config", lacking, "parity", "--declare")
    assert done.returncode == 2 and "cannot be appended" in done.stderr
    assert gaps.read_text() == "gaps = []\n"


@pytest.mark.parametrize("form", ["text", "markdown", "github"])
def test_quiet_shows_findings_without_the_matrix(lacking: str, form: str) -> None:
    done = run("--config", lacking, "parity", "--quiet", "--format", form)
    assert done.returncode == 1
    shown, other = (done.stdout, done.stderr) if form == "github" else (done.stderr, done.stdout)
    assert shown.count("SG052") == 1 and "requests" not in shown and other == ""
    whole = run("--config", lacking, "parity", "--quiet", "--format", "json")
    assert len(json.loads(whole.stdout)["findings"]) == 1


def test_colour_is_for_terminals(lacking: str) -> None:
    assert "\x1b[" not in run("--config", lacking, "parity").stdout
    assert "- \x1b[31m!\x1b[0m" in run("--color", "--config", lacking, "parity").stdout


def test_parity_starts_protoc_alone_and_loads_neither_templates_nor_parsers() -> None:
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
    """Write the small Python SDK into a folder, which stands in for the registry."""
    files = {**PYTHON_SDK, "version.py": f'__version__ = "{version}"\n'}
    files = {name: above + text for name, text in files.items()}
    files["voice/events.py"] += more
    for name, text in files.items():
        path = folder / "livekit/agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def test_watch_says_that_an_sdk_moved(
    contract: Contract, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pinned = contract.folder / "vocabularies/livekit-agents.json"
    scope = scope_file(pinned)
    scope.write_text(re.sub(r"required = \[.*?\]", "required = []", scope.read_text(), flags=re.S))
    settings = contract.folder / "codegen.toml"
    settings.write_text(settings.read_text().replace(', "vocabularies/agents-js.json"', ""))
    without = replace(PYTHON, required=())
    old = sdk(tmp_path / "old", "1.0")
    assert commands.update([(commands.Sdk(pinned, without), old)]).written == [pinned]
    newest = ["1.0"]
    mood = 'Mood = Literal["fine"]\n'
    later = open_package(sdk(tmp_path / "new", "1.1", mood, above="# A licence.\n"), PYTHON)
    monkeypatch.setattr(commands, "newest", lambda scope: newest[0])
    monkeypatch.setattr(commands, "fetch", lambda scope, version: later)
    watch = ["--config", str(settings), "vocabulary", "watch"]
    same = CliRunner().invoke(main, watch)
    assert (same.exit_code, same.output) == (0, "no SDK moved\n")
    newest[0] = "1.1"
    moved = CliRunner().invoke(main, watch)
    assert moved.exit_code == 1
    assert moved.output.startswith("SDK moved: livekit-agents 1.0 -> 1.1\n")
    assert '-  "version": "1.0"' in moved.output and '+      "name": "Mood",' in moved.output
    # Every line of the SDK has moved by one, which is nothing to tell.
    gone = [line for line in moved.output.splitlines() if line.startswith("-")]
    assert gone == ["--- " + gone[0][4:], '-  "version": "1.0"']
    assert "note[SG049]" in moved.output
    assert load(pinned).version == "1.0"
