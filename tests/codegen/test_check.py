"""What `check` says: drift and its diff, missing and extra files, skewed tools; or nothing.

In: generated projects, changed in one place each. Out: status and diagnostics, and a
cache that never hides a change.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from cli_support import (
    CONFIG,
    FILES,
    PROTO,
    ROOT,
    Outcome,
    Project,
    project,
    ready,
    run,
    stamps,
    start,
    tree,
    tree_with_arm,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

NO_DRIFT = "out/small_protocol: 11 files, no drift\n"
FIX = "run `sessiongen generate` and commit the result"


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return ready(tmp_path / "in")


def replaced(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1, (path, old)
    path.write_text(text.replace(old, new), encoding="utf-8")


def names(outcome: Outcome) -> list[str]:
    return [Path(item["file"]).name for item in outcome.records()]


@pytest.mark.parametrize("options", [(), ("--no-cache",)])
def test_no_drift(made: Project, options: tuple[str, ...]) -> None:
    before = tree(made.root)
    outcome = made.invoke("check", *options)
    assert outcome == Outcome(0, NO_DRIFT, "")
    assert tree(made.root) == before
    assert made.invoke("-q", "check").all == ""


def test_a_forgotten_generate(made: Project) -> None:
    made.add_arm()
    before = tree(made.root), stamps(made.package)
    outcome = made.invoke("check")
    assert outcome.status == 1
    [first, help_, *_] = outcome.errors.splitlines()
    assert first.startswith("out/small_protocol/dispatch.py:")
    assert first.endswith(": error[SG020]: this generated file is not what the protocol gives")
    assert help_ == f"  help: {FIX}"
    assert (
        "--- a/out/small_protocol/dispatch.py\n+++ b/out/small_protocol/dispatch.py\n"
        in outcome.output
    )
    assert any(line[:1] == "+" and '"tock"' in line for line in outcome.output.splitlines())
    assert (tree(made.root), stamps(made.package)) == before
    # What generate changes is what check names; the manifest alone is no news.
    records = made.invoke("--format", "json", "check")
    assert names(records) == ["dispatch.py", "events.py", "small_pb2.py", "small_pb2.pyi"]


def test_the_line_is_that_of_the_first_difference(made: Project) -> None:
    path = made.package / "dispatch.py"
    lines = path.read_text(encoding="utf-8").split("\n")
    lines[6] += "  # edited"
    path.write_text("\n".join(lines), encoding="utf-8")
    [record] = made.invoke("--format", "json", "check").records()
    assert (record["line"], record["column"], record["rule"]) == (7, 1, "SG020")


def test_the_help_names_the_configuration(tmp_path: Path) -> None:
    made = ready(tmp_path / "in")
    made.config.rename(made.root / "other.toml")
    made.add_arm()
    outcome = made.invoke("--config", "other.toml", "check")
    assert "help: run `sessiongen --config other.toml generate` and commit" in outcome.errors


@pytest.mark.parametrize("command", [["git", "apply"], ["patch", "-p1", "--quiet"]])
def test_the_diff_can_be_applied(command: list[str], made: Project) -> None:
    made.add_arm()
    # Of every kind of difference one: changed, missing, empty and missing, extra, and
    # files whose last line does not end.
    (made.package / "requests.py").unlink()
    (made.package / "py.typed").unlink()
    shutil.copy(made.package / "errors.py", made.package / "extra.py")
    values = made.package / "values.py"
    values.write_text(
        values.read_text(encoding="utf-8").rstrip("\n") + "\f # odd", encoding="utf-8"
    )
    outcome = made.invoke("check")
    assert outcome.status == 1
    subprocess.run(command, cwd=made.root, input=outcome.output, text=True, check=True)
    new = tree_with_arm()
    assert {
        name: text for name, text in tree(made.package).items() if name != "sessiongen.json"
    } == {name: text for name, text in new.items() if name != "sessiongen.json"}


def test_an_edited_file_is_named_as_such(made: Project) -> None:
    replaced(made.package / "events.py", "Do not edit", "Do edit")
    outcome = made.invoke("check")
    assert outcome.status == 1
    assert outcome.errors == (
        "out/small_protocol/events.py:1:1: error[SG020]: this generated file was edited by hand\n"
        f"  help: {FIX}\n"
    )
    assert "Do edit" in outcome.output and "Do not edit" in outcome.output


def test_a_missing_file(made: Project) -> None:
    (made.package / "events.py").unlink()
    outcome = made.invoke("check")
    assert outcome.status == 1
    assert outcome.errors == (
        "out/small_protocol/events.py:1:1: error[SG021]: this generated file is missing\n"
        f"  help: {FIX}\n"
    )
    assert "--- /dev/null\n+++ b/out/small_protocol/events.py\n" in outcome.output


def test_nothing_was_generated(tmp_path: Path) -> None:
    made = project(tmp_path)
    records = made.invoke("--format", "json", "check")
    assert records.status == 1
    assert [name for name in FILES if name != "sessiongen.json"] == names(records)
    assert not made.package.exists()


def test_an_extra_file(made: Project) -> None:
    shutil.copy(made.package / "events.py", made.package / "extra.py")
    outcome = made.invoke("check")
    assert outcome.status == 1
    assert "extra.py:1:1: error[SG022]: this file is no longer generated\n" in outcome.errors
    assert "+++ /dev/null\n" in outcome.output


def test_a_manifest_alone_is_drift_too(made: Project) -> None:
    path = made.package / "sessiongen.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    data["files"]["events.py"] = "0" * 64
    path.write_text(json.dumps(data, indent=2) + "\n", encoding="utf-8")
    outcome = made.invoke("--format", "json", "check")
    assert (outcome.status, names(outcome)) == (1, ["sessiongen.json"])


def test_every_form(made: Project) -> None:
    made.add_arm()
    github = made.invoke("--format", "github", "check")
    assert github.status == 1
    assert [line.split(",")[0] for line in github.output.splitlines()] == [
        f"::error file=out/small_protocol/{name}"
        for name in ("dispatch.py", "events.py", "small_pb2.py", "small_pb2.pyi")
    ]
    quiet = made.invoke("-q", "check")
    assert (quiet.status, quiet.output) == (1, "")
    assert quiet.errors.count(FIX) == 4
    coloured = made.invoke("--color", "check")
    assert "\x1b[32m+" in coloured.output and "\x1b[31m-" in coloured.output
    assert "\x1b[" not in made.invoke("check").all


@pytest.mark.parametrize("tool", ["black", "grpcio-tools", "jinja2", "mypy-protobuf", "sessiongen"])
def test_other_tools_are_told_from_drift(tool: str, made: Project) -> None:
    path = made.package / "sessiongen.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    here = data["tools"][tool]
    data["tools"][tool] = "0.0.7"
    path.write_text(json.dumps(data), encoding="utf-8")
    made.add_arm()
    outcome = made.invoke("check")
    assert outcome.status == 3
    assert outcome.output == ""
    assert outcome.errors.startswith(
        "out/small_protocol/sessiongen.json:1:1: error[SG023]: "
        f"the output was generated with {tool} 0.0.7, this is {here}\n"
        f"  help: install {tool}==0.0.7 to judge drift, or run `sessiongen generate`"
    )
    said = made.invoke("generate")
    assert f"{tool}: 0.0.7 -> {here}\n" in said.output
    assert made.invoke("check").status == 0


def crlf(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))


@pytest.mark.parametrize("options", [(), ("--no-cache",)])
def test_other_line_ends_are_no_drift(made: Project, options: tuple[str, ...]) -> None:
    for path in (made.proto, made.config, *made.package.iterdir()):
        crlf(path)
    before = tree(made.root)
    assert made.invoke("check", *options) == Outcome(0, NO_DRIFT, "")
    made.generated()
    assert tree(made.root) == before


def test_line_ends_within_comments_are_no_drift(tmp_path: Path) -> None:
    proto = PROTO.replace(
        "// Is anybody",
        "// First.\n    //\n    //  Second.\n    /* Third.\n     * Fourth. */\n    // Is anybody",
    )
    made = project(tmp_path, proto).generated()
    crlf(made.proto)
    assert made.invoke("check").status == 0


# The cache.

MUTATIONS: dict[str, Callable[[Project], object]] = {
    "the proto": lambda made: made.edit("tick = 1;", "tick = 1; common.Empty tock = 2;"),
    "an imported proto": lambda made: replaced(
        made.root / "proto" / "common.proto", "{}", "{ string text = 1; }"
    ),
    "a comment": lambda made: made.edit("Is anybody there?", "Is nobody there?"),
    "the configuration": lambda made: replaced(made.config, '"out"', '"elsewhere"'),
    "a role": lambda made: made.config.write_text(
        made.config.read_text(encoding="utf-8") + "\n[roles]\ncorrelation = false\n",
        encoding="utf-8",
    ),
    "a generated file": lambda made: replaced(made.package / "events.py", "Do not edit", "Do edit"),
    "a missing file": lambda made: (made.package / "py.typed").unlink(),
    "an extra file": lambda made: shutil.copy(
        made.package / "events.py", made.package / "extra.py"
    ),
    "the manifest": lambda made: replaced(made.package / "sessiongen.json", '"files"', '"fils"'),
    "a file on an earlier path": lambda made: (made.root / "early" / "common.proto").write_text(
        'syntax = "proto3"; package common; message Empty { int32 number = 1; }', encoding="utf-8"
    ),
    "a missing import": lambda made: (made.root / "proto" / "common.proto").unlink(),
    "a missing proto": lambda made: made.proto.unlink(),
}


def importing(root: Path) -> Project:
    """Return a generated project with an import and an earlier, empty, include path."""
    proto = PROTO.replace("message Empty {}", 'import "common.proto";').replace(
        "Empty ", "common.Empty "
    )
    config = CONFIG.replace("[output]", 'include = ["early", "proto"]\n\n[output]')
    made = project(root, proto, config)
    (root / "early").mkdir()
    (root / "proto" / "common.proto").write_text(
        'syntax = "proto3"; package common; message Empty {}', encoding="utf-8"
    )
    return made


@pytest.fixture(scope="module")
def with_import(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("with_import") / "in"
    importing(root).generated()
    return root


def fresh(with_import: Path) -> Project:
    """Return the module's project as it was generated: in its place, as its cache knows it."""
    kept = with_import.with_name("kept")
    if not kept.exists():
        shutil.copytree(with_import, kept)
    shutil.rmtree(with_import)
    shutil.copytree(kept, with_import)
    made = Project(with_import)
    assert made.invoke("check") == Outcome(0, "out/small_protocol: 13 files, no drift\n", "")
    return made


@pytest.mark.parametrize("name", MUTATIONS)
def test_the_cache_hides_no_change(name: str, with_import: Path) -> None:
    made = fresh(with_import)
    MUTATIONS[name](made)
    cached = made.invoke("check")
    assert cached.status in (1, 2)
    assert cached == made.invoke("check", "--no-cache")


STEPS = sorted(set(MUTATIONS) - {"the configuration", "a missing proto"})


@settings(
    max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(st.sampled_from(STEPS), min_size=2, max_size=3, unique=True))
def test_the_cache_hides_no_change_in_any_order(steps: list[str], with_import: Path) -> None:
    made = fresh(with_import)
    for name in steps:
        try:
            MUTATIONS[name](made)
        except (AssertionError, FileNotFoundError):
            continue  # an earlier step took away what this one edits
        assert made.invoke("check") == made.invoke("check", "--no-cache")
    # And back again: what is as it was is found to be so.
    fresh(with_import)


def test_an_edit_during_the_run_is_noticed_by_the_next(made: Project) -> None:
    made.add_arm()
    process = start(made.root, "generate")
    # The input has been read when the staging folder is there.
    while process.poll() is None and not list(made.package.glob(".sessiongen-staging-*")):
        pass
    made.edit("Empty tock = 2;", "Empty tock = 2; Empty late = 3;")
    process.communicate()
    assert made.invoke("check").status == 1


@pytest.mark.parametrize(
    "junk",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'{"inputs": 7}',
        b'{"inputs": ["\\u0000"]}',
        b"[" * 9_999,
        b"\xff",
    ],
)
def test_a_broken_cache_is_harmless(junk: bytes, made: Project) -> None:
    made.invoke("check")
    folder = made.root / ".sessiongen-cache"
    for path in [item for item in folder.rglob("*") if item.is_file()]:
        path.write_bytes(junk)
    assert made.invoke("check") == Outcome(0, NO_DRIFT, "")
    made.add_arm()
    made.generated()
    assert tree(made.package) == tree_with_arm()


def test_a_formatted_text_that_was_changed_is_not_used(made: Project) -> None:
    for path in (made.root / ".sessiongen-cache").rglob("formatted-*/*"):
        path.write_text(path.read_text(encoding="utf-8") + "evil = 1\n", encoding="utf-8")
    made.edit("Is anybody there?", "Is nobody there?")
    made.generated()
    assert not any(b"evil" in path.read_bytes() for path in made.package.iterdir())


def test_a_cache_that_cannot_be_written_is_harmless(tmp_path: Path) -> None:
    made = project(tmp_path)
    (tmp_path / ".sessiongen-cache").write_text("a file\n", encoding="utf-8")
    made.generated()
    assert made.invoke("check") == Outcome(0, NO_DRIFT, "")


def test_the_cache_is_ignored_by_git(made: Project) -> None:
    subprocess.run(["git", "init", "-q"], cwd=made.root, check=True)
    command = ["git", "status", "--short", "-uall", "--", ".sessiongen-cache"]
    assert subprocess.run(command, cwd=made.root, capture_output=True, check=True).stdout == b""


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("templates/python/events.py.j2", "from __future__", "# Another.\nfrom __future__"),
        ("codegen/sessiongen/naming.py", '"""', '"""Again: '),
    ],
)
def test_a_change_of_the_generator_is_noticed(
    path: str, old: str, new: str, tmp_path: Path
) -> None:
    checkout = tmp_path / "checkout"
    for folder in ("codegen/sessiongen", "templates", "proto"):
        shutil.copytree(
            ROOT / folder, checkout / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    env = {"PYTHONPATH": str(checkout / "codegen"), "PYTHONDONTWRITEBYTECODE": "1"}
    made = ready(tmp_path / "in")
    assert run(made.root, "check", env=env).status == 0
    file = checkout / path
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert file.read_text(encoding="utf-8") != text
    cached = run(made.root, "check", env=env)
    assert cached == run(made.root, "check", "--no-cache", env=env)
    assert cached.status == (1 if path.endswith(".j2") else 0)


# Determinism.

ENVIRONMENTS = {
    "hash seed 0": {"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "Asia/Tokyo"},
    "hash seed 1": {"PYTHONHASHSEED": "1", "LC_ALL": "C.UTF-8", "TZ": "America/New_York"},
    "random hash seed": {
        "PYTHONHASHSEED": "random",
        "LC_ALL": "tr_TR.UTF-8",
        "LANG": "tr_TR.UTF-8",
    },
    "no UTF-8 mode": {"PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"},
}


@pytest.fixture(scope="module")
def contract(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The package of a protocol that is not all ASCII, generated in this process."""
    return tree(wide(tmp_path_factory.mktemp("contract")).generated().package)


def wide(root: Path, config: str = CONFIG) -> Project:
    return project(root, PROTO.replace("Is anybody there?", "Größe, 日本, İstanbul?"), config)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_same_bytes_in_any_environment(
    name: str, tmp_path: Path, contract: dict[str, str]
) -> None:
    made = wide(tmp_path / "some where" / "else")
    outcome = run(made.root, "generate", env=ENVIRONMENTS[name])
    assert outcome.status == 0, outcome.all
    assert tree(made.package) == contract


def test_the_same_bytes_from_any_directory(tmp_path: Path, contract: dict[str, str]) -> None:
    made = wide(tmp_path / "deep" / "in")
    for folder in (tmp_path, made.root / "proto", Path("/")):
        shutil.rmtree(made.package, ignore_errors=True)
        outcome = run(folder, "--config", str(made.config), "generate", "--no-cache")
        assert outcome.status == 0, outcome.all
        assert tree(made.package) == contract


@pytest.mark.parametrize(
    "include",
    ['"proto"', '"./proto/../proto"', '"proto/"', '"{root}/proto"', '"none", "proto", "proto"'],
)
def test_the_same_bytes_for_any_form_of_a_path(
    include: str, tmp_path: Path, contract: dict[str, str]
) -> None:
    line = f"include = [{include.format(root=tmp_path.as_posix())}]"
    made = wide(tmp_path, CONFIG.replace("[output]", f"{line}\n[output]"))
    assert tree(made.generated().package) == contract


def test_line_ends_are_those_of_unix(tmp_path: Path) -> None:
    made = wide(tmp_path)
    crlf(made.proto)
    crlf(made.config)
    made.generated()
    assert not any(b"\r" in path.read_bytes() for path in made.package.iterdir())
