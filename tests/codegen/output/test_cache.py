"""The cache, and that the output depends on the input alone.

A cached `check` reports what an uncached one reports, whatever changed; the same project gives
the same bytes in every environment.
"""

from __future__ import annotations

import os
import shutil
import sys
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sessiongen_command import (
    CONFIG,
    FILES,
    PROTO,
    ROOT,
    Outcome,
    Project,
    crlf,
    project,
    ready,
    replaced,
    run,
    start,
    tree,
    tree_with_arm,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessiongen.config import reader

from sessiongen.output.cache import Cache

NO_DRIFT = f"out/small_protocol: {len(FILES)} files, no drift\n"


@pytest.fixture
def made(tmp_path: Path) -> Project:
    return ready(tmp_path / "in")


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
        # Twice: the first run found its input to be newer than itself, and kept nothing.
        Project(with_import).generated()
        shutil.copytree(with_import, kept)
    shutil.rmtree(with_import)
    shutil.copytree(kept, with_import)
    made = Project(with_import)
    assert made.invoke("check") == Outcome(
        0, NO_DRIFT.replace(str(len(FILES)), str(len(FILES) + 2)), ""
    )
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
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
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
        b"[]",
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
        ("codegen/sessiongen/targets/python/naming.py", '"""', '"""Again: '),
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
    if not sys.prefix.isascii() and not ENVIRONMENTS[name]["LC_ALL"].startswith("C.UTF"):
        pytest.skip("Python itself does not start from a non-ASCII folder in this locale")
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


def kept(made: Project, meanwhile: Callable[[Project], object]) -> list[list[str]] | None:
    """Return what a cache takes for fresh if something happens between its run and its keeping."""
    loaded = reader.load(made.config)
    # The cache takes a file for new that is younger than its clock can tell apart.
    while time.time_ns() - made.proto.stat().st_ctime_ns < 20_000_000:
        pass
    cache = Cache(loaded)
    files = {path.name: path.read_text(encoding="utf-8") for path in made.package.iterdir()}
    meanwhile(made)
    shutil.rmtree(made.root / ".sessiongen-cache")
    cache.save(["small.proto"], [files])
    return Cache(loaded).unchanged()


def test_a_run_with_nothing_beside_it_is_kept(made: Project) -> None:
    assert kept(made, lambda made: None) == [sorted(FILES)]


def test_an_input_moved_into_place_during_a_run_is_not_kept(made: Project) -> None:
    def moved(made: Project) -> None:
        newer = made.root / "newer.proto"
        newer.write_text(made.proto.read_text(encoding="utf-8") + "// newer\n", encoding="utf-8")
        os.utime(newer, (1, 1))
        newer.rename(made.proto)

    assert kept(made, moved) is None


def test_an_input_edited_while_the_state_is_kept_is_not_kept(
    made: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder = Cache._make_folder

    def edited(cache: Cache) -> None:
        make_folder(cache)
        made.edit("Is anybody there?", "Is nobody there?")
        monkeypatch.setattr(Cache, "_make_folder", make_folder)

    def meanwhile(made: Project) -> None:
        monkeypatch.setattr(Cache, "_make_folder", edited)

    assert kept(made, meanwhile) is None


def test_an_output_edited_during_a_run_is_not_kept(made: Project) -> None:
    assert kept(made, lambda made: replaced(made.package / "events.py", "not edit", "edit")) is None
