"""Tests of the cache, and that the output depends only on the input.

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
    generated_copy,
    replaced,
    run,
    start,
    tree,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sessiongen.config import reader

from sessiongen.output.cache import Cache, SavedRun

NO_DRIFT = f"out/small_protocol: {len(FILES)} files, no drift\n"


@pytest.fixture
def small_project(tmp_path: Path) -> Project:
    return generated_copy(tmp_path / "in")


MUTATIONS: dict[str, Callable[[Project], object]] = {
    "the proto": lambda small_project: small_project.edit(
        "tick = 1;", "tick = 1; common.Empty tock = 2;"
    ),
    "an imported proto": lambda small_project: replaced(
        small_project.root / "proto" / "common.proto", "{}", "{ string text = 1; }"
    ),
    "a comment": lambda small_project: small_project.edit("Is anybody there?", "Is nobody there?"),
    "the configuration": lambda small_project: replaced(
        small_project.config, '"out"', '"elsewhere"'
    ),
    "a role": lambda small_project: small_project.config.write_text(
        small_project.config.read_text(encoding="utf-8") + "\n[roles]\ncorrelation = false\n",
        encoding="utf-8",
    ),
    "a generated file": lambda small_project: replaced(
        small_project.package / "events.py", "Do not edit", "Do edit"
    ),
    "a missing file": lambda small_project: (small_project.package / "py.typed").unlink(),
    "an extra file": lambda small_project: shutil.copy(
        small_project.package / "events.py", small_project.package / "extra.py"
    ),
    "the manifest": lambda small_project: replaced(
        small_project.package / "sessiongen.json", '"files"', '"fils"'
    ),
    "a file on an earlier path": lambda small_project: (
        small_project.root / "early" / "common.proto"
    ).write_text(
        'syntax = "proto3"; package common; message Empty { int32 number = 1; }', encoding="utf-8"
    ),
    "a missing import": lambda small_project: (
        small_project.root / "proto" / "common.proto"
    ).unlink(),
    "a missing proto": lambda small_project: small_project.proto.unlink(),
}


def importing(root: Path) -> Project:
    """Returns a generated project with an import and an earlier, empty, include path."""
    proto = PROTO.replace("message Empty {}", 'import "common.proto";').replace(
        "Empty ", "common.Empty "
    )
    config = CONFIG.replace("[output]", 'include = ["early", "proto"]\n\n[output]')
    small_project = project(root, proto, config)
    (root / "early").mkdir()
    (root / "proto" / "common.proto").write_text(
        'syntax = "proto3"; package common; message Empty {}', encoding="utf-8"
    )
    return small_project


@pytest.fixture(scope="module")
def with_import(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("with_import") / "in"
    importing(root).generated()
    return root


def fresh(with_import: Path) -> Project:
    """Returns the project as it was generated, at the same path and with its cache."""
    copy = with_import.with_name("copy")
    if not copy.exists():
        # Twice, because the first run saves no state: its input is newer than its start.
        Project(with_import).generated()
        shutil.copytree(with_import, copy)
    shutil.rmtree(with_import)
    shutil.copytree(copy, with_import)
    small_project = Project(with_import)
    assert small_project.invoke("check") == Outcome(
        0, NO_DRIFT.replace(str(len(FILES)), str(len(FILES) + 2)), ""
    )
    return small_project


@pytest.mark.parametrize("name", MUTATIONS)
def test_every_change_is_noticed(name: str, with_import: Path) -> None:
    small_project = fresh(with_import)
    MUTATIONS[name](small_project)
    cached = small_project.invoke("check")
    assert cached.status in (1, 2)
    assert cached == small_project.invoke("check", "--no-cache")


STEPS = sorted(set(MUTATIONS) - {"the configuration", "a missing proto"})


@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(st.sampled_from(STEPS), min_size=2, max_size=3, unique=True))
def test_every_change_is_noticed_in_any_order(steps: list[str], with_import: Path) -> None:
    small_project = fresh(with_import)
    for name in steps:
        try:
            MUTATIONS[name](small_project)
        except (AssertionError, FileNotFoundError):
            continue  # an earlier step took away what this one edits
        assert small_project.invoke("check") == small_project.invoke("check", "--no-cache")
    # After the changes are undone, the state is unchanged again.
    fresh(with_import)


def test_edit_during_a_run_is_noticed_by_the_next_run(small_project: Project) -> None:
    small_project.add_arm()
    process = start(small_project.root, "generate")
    # The input has been read when the staging folder exists.
    while process.poll() is None and not list(small_project.package.glob(".sessiongen-staging-*")):
        pass
    small_project.edit("Empty tock = 2;", "Empty tock = 2; Empty late = 3;")
    process.communicate()
    assert small_project.invoke("check").status == 1


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
def test_damaged_cache_is_ignored(junk: bytes, small_project: Project) -> None:
    small_project.invoke("check")
    folder = small_project.root / ".sessiongen-cache"
    for path in [item for item in folder.rglob("*") if item.is_file()]:
        path.write_bytes(junk)
    assert small_project.invoke("check") == Outcome(0, NO_DRIFT, "")


def test_edited_formatted_text_is_not_used(small_project: Project) -> None:
    for path in (small_project.root / ".sessiongen-cache").rglob("formatted-*/*"):
        path.write_text(path.read_text(encoding="utf-8") + "evil = 1\n", encoding="utf-8")
    small_project.edit("Is anybody there?", "Is nobody there?")
    small_project.generated()
    assert not any(b"evil" in path.read_bytes() for path in small_project.package.iterdir())


def test_cache_that_cannot_be_written_is_ignored(tmp_path: Path) -> None:
    small_project = project(tmp_path)
    (tmp_path / ".sessiongen-cache").write_text("a file\n", encoding="utf-8")
    small_project.generated()
    assert small_project.invoke("check") == Outcome(0, NO_DRIFT, "")


def test_the_cache_is_ignored_by_git(small_project: Project) -> None:
    subprocess.run(["git", "init", "-q"], cwd=small_project.root, check=True)
    command = ["git", "status", "--short", "-uall", "--", ".sessiongen-cache"]
    assert (
        subprocess.run(command, cwd=small_project.root, capture_output=True, check=True).stdout
        == b""
    )


@pytest.mark.parametrize(
    ("path", "old", "new"),
    [
        ("templates/python/events.py.j2", "from __future__", "# Another.\nfrom __future__"),
        ("codegen/sessiongen/targets/python/naming.py", '"""', '"""Again: '),
    ],
)
def test_change_of_the_generator_is_noticed(path: str, old: str, new: str, tmp_path: Path) -> None:
    checkout = tmp_path / "checkout"
    for folder in ("codegen/sessiongen", "templates", "proto"):
        shutil.copytree(
            ROOT / folder, checkout / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    env = {"PYTHONPATH": str(checkout / "codegen"), "PYTHONDONTWRITEBYTECODE": "1"}
    small_project = generated_copy(tmp_path / "in")
    assert run(small_project.root, "check", env=env).status == 0
    file = checkout / path
    text = file.read_text(encoding="utf-8")
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert file.read_text(encoding="utf-8") != text
    cached = run(small_project.root, "check", env=env)
    assert cached == run(small_project.root, "check", "--no-cache", env=env)
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
    """The package of a protocol with non-ASCII text, generated in this process."""
    return tree(wide(tmp_path_factory.mktemp("contract")).generated().package)


def wide(root: Path, config: str = CONFIG) -> Project:
    return project(root, PROTO.replace("Is anybody there?", "Größe, 日本, İstanbul?"), config)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_same_bytes_in_any_environment(
    name: str, tmp_path: Path, contract: dict[str, str]
) -> None:
    if not sys.prefix.isascii() and not ENVIRONMENTS[name]["LC_ALL"].startswith("C.UTF"):
        pytest.skip("Python itself does not start from a non-ASCII folder in this locale")
    small_project = wide(tmp_path / "some where" / "else")
    outcome = run(small_project.root, "generate", env=ENVIRONMENTS[name])
    assert outcome.status == 0, outcome.all
    assert tree(small_project.package) == contract


def test_the_same_bytes_from_any_directory(tmp_path: Path, contract: dict[str, str]) -> None:
    small_project = wide(tmp_path / "deep" / "in")
    for folder in (tmp_path, small_project.root / "proto", Path("/")):
        shutil.rmtree(small_project.package, ignore_errors=True)
        outcome = run(folder, "--config", str(small_project.config), "generate", "--no-cache")
        assert outcome.status == 0, outcome.all
        assert tree(small_project.package) == contract


@pytest.mark.parametrize(
    "include",
    ['"proto"', '"./proto/../proto"', '"proto/"', '"{root}/proto"', '"proto", "proto"'],
)
def test_the_same_bytes_for_any_form_of_a_path(
    include: str, tmp_path: Path, contract: dict[str, str]
) -> None:
    line = f"include = [{include.format(root=tmp_path.as_posix())}]"
    small_project = wide(tmp_path, CONFIG.replace("[output]", f"{line}\n[output]"))
    assert tree(small_project.generated().package) == contract


def test_line_ends_are_lf(tmp_path: Path) -> None:
    small_project = wide(tmp_path)
    crlf(small_project.proto)
    crlf(small_project.config)
    small_project.generated()
    assert not any(b"\r" in path.read_bytes() for path in small_project.package.iterdir())


def saved_state(small_project: Project, meanwhile: Callable[[Project], object]) -> SavedRun | None:
    """Returns the state after a run during which something happens before the state is saved."""
    loaded = reader.load(small_project.config)
    # The cache ignores files that are younger than the resolution of its clock.
    while time.time_ns() - small_project.proto.stat().st_ctime_ns < 20_000_000:
        pass
    cache = Cache(loaded)
    files = {
        path.name: path.read_text(encoding="utf-8") for path in small_project.package.iterdir()
    }
    meanwhile(small_project)
    shutil.rmtree(small_project.root / ".sessiongen-cache")
    cache.save(["small.proto"], [files])
    return Cache(loaded).unchanged()


def test_state_of_an_undisturbed_run_is_saved(small_project: Project) -> None:
    assert saved_state(small_project, lambda small_project: None) == SavedRun([sorted(FILES)], [])


def test_state_is_not_saved_if_an_input_is_replaced(small_project: Project) -> None:
    def moved(small_project: Project) -> None:
        newer = small_project.root / "newer.proto"
        newer.write_text(
            small_project.proto.read_text(encoding="utf-8") + "// newer\n", encoding="utf-8"
        )
        os.utime(newer, (1, 1))
        newer.rename(small_project.proto)

    assert saved_state(small_project, moved) is None


def test_state_is_not_saved_if_an_input_is_edited_meanwhile(
    small_project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_folder = Cache._make_folder

    def edited(cache: Cache) -> None:
        make_folder(cache)
        small_project.edit("Is anybody there?", "Is nobody there?")
        monkeypatch.setattr(Cache, "_make_folder", make_folder)

    def meanwhile(small_project: Project) -> None:
        monkeypatch.setattr(Cache, "_make_folder", edited)

    assert saved_state(small_project, meanwhile) is None


def test_state_is_not_saved_if_an_output_is_edited(small_project: Project) -> None:
    assert (
        saved_state(
            small_project,
            lambda small_project: replaced(small_project.package / "events.py", "not edit", "edit"),
        )
        is None
    )


@pytest.mark.parametrize(
    ("options", "heavy"),
    [
        ([], {"jinja2", "black", "tree_sitter", "traceback", "sessiongen.pipeline"}),
        (["--no-cache"], {"black", "tree_sitter"}),
    ],
)
def test_what_is_unchanged_is_not_parsed(
    options: list[str], heavy: set[str], tmp_path: Path
) -> None:
    """Modules are parsed when they are written; an unchanged run does not import the parser."""
    typescript = '[[output]]\nlanguage = "typescript"\npath = "ts"\nmodule = "m"\n'
    config = CONFIG.replace("[output]", '[[output]]\nlanguage = "python"') + typescript
    small_project = project(tmp_path, config=config)
    for path in (small_project.proto, small_project.config):
        os.utime(path, (1_000_000_000, 1_000_000_000))
    small_project.generated()
    small_project.generated()
    code = (
        "import sys\nfrom sessiongen.cli.main import main\n"
        f"try:\n    main(['generate', *{options!r}])\nexcept SystemExit as done:\n    status = done.code\n"
        f"print(status, sorted({heavy!r} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    lines = done.stdout.splitlines()
    assert lines[-2:] == ["ts: 10 files, all up to date", "0 []"], done.stdout + done.stderr
