"""Tests of opening packages, fetching them, and updating vocabularies."""

from __future__ import annotations

import io
import os
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from small_sdks import PYTHON_SDK, TYPESCRIPT_SDK

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Severity
from scopes import PYTHON, TYPESCRIPT
from sessiongen.vocabulary.configured import Sdk
from sessiongen.vocabulary import Vocabulary, dump, load
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary import fetch as fetching
from sessiongen.vocabulary import commands
from sessiongen.vocabulary.package import open_package

PYTHON_FILES = {f"livekit/agents/{path}": text for path, text in PYTHON_SDK.items()}
NOTHING_REQUIRED = {scope.language: replace(scope, required=()) for scope in (PYTHON, TYPESCRIPT)}


def sdk(folder: Path, language: str) -> Sdk:
    """Returns an SDK whose vocabulary is in a folder and which requires no definitions."""
    scope = NOTHING_REQUIRED[language]
    return Sdk(folder / f"{scope.sdk}.json", scope)


def update(folder: Path, sources: dict[str, Path]) -> commands.Updated:
    return commands.update([(sdk(folder, name), path) for name, path in sources.items()])


def write(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def wheel(path: Path, files: Mapping[str, str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


def tarball(path: Path, files: Mapping[str, str]) -> Path:
    with tarfile.open(path, "w:gz") as archive:
        for name, text in files.items():
            data = text.encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def package_error(path: Path, scope: Scope) -> Diagnostic:
    with pytest.raises(InputError) as caught:
        open_package(path, scope)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.rule is Rule.SDK_PACKAGE and diagnostic.help
    return diagnostic


@pytest.mark.parametrize("inside", ["", "livekit", "livekit/agents"])
def test_python_folder_may_be_the_package_or_above_it(tmp_path: Path, inside: str) -> None:
    write(tmp_path / "livekit-agents", PYTHON_FILES)
    start = tmp_path if not inside else tmp_path / "livekit-agents" / inside
    if inside == "livekit":
        start = tmp_path / "livekit-agents"
    package = open_package(start, PYTHON)
    assert set(package.files) == set(PYTHON_FILES)
    span = package.span("livekit/agents/version.py", 1)
    assert Path(span.file) == tmp_path / "livekit-agents/livekit/agents/version.py"


@pytest.mark.parametrize("inside", ["", "agents"])
def test_js_folder_may_be_the_package_or_above_it(tmp_path: Path, inside: str) -> None:
    write(
        tmp_path, {"package.json": '{"name": "monorepo", "dependencies": {"@livekit/agents": "1"}}'}
    )
    write(tmp_path / "agents", TYPESCRIPT_SDK)
    write(tmp_path / "agents/node_modules/x", {"src/other.ts": ""})
    package = open_package(tmp_path / inside, TYPESCRIPT)
    assert set(package.files) == set(TYPESCRIPT_SDK)


def test_archives(tmp_path: Path) -> None:
    members = {**PYTHON_FILES, "livekit_agents.dist-info/METADATA": ""}
    wheel_path = wheel(tmp_path / "a.whl", {**members, "livekit_agents.dist-info/RECORD": ""})
    assert set(open_package(wheel_path, PYTHON).files) == set(members)
    inside = {f"livekit_agents-1/{path}": text for path, text in PYTHON_FILES.items()}
    sdist = tarball(tmp_path / "a.tar.gz", inside)
    assert set(open_package(sdist, PYTHON).files) == set(PYTHON_FILES)
    inside = {f"package/{path}": text for path, text in TYPESCRIPT_SDK.items()}
    inside["package/examples/package.json"] = "{}"
    npm = tarball(tmp_path / "a.tgz", inside)
    package = open_package(npm, TYPESCRIPT)
    assert set(TYPESCRIPT_SDK) <= set(package.files)
    assert package.span("src/x.ts", 3, 2).file.endswith("a.tgz/src/x.ts")


@pytest.mark.parametrize("name", ["../evil.py", "/evil.py", "a/../../evil.py", "a\\..\\evil.py"])
def test_archive_with_a_member_outside_its_root(tmp_path: Path, name: str) -> None:
    for path in (
        wheel(tmp_path / "a.whl", {**PYTHON_FILES, name: ""}),
        tarball(tmp_path / "a.tgz", {**PYTHON_FILES, name: ""}),
    ):
        assert "outside its root" in package_error(path, PYTHON).message


def test_link_in_an_archive(tmp_path: Path) -> None:
    path = tarball(
        tmp_path / "a.tgz", {f"package/{name}": text for name, text in TYPESCRIPT_SDK.items()}
    )
    with tarfile.open(tmp_path / "b.tgz", "w:gz") as out, tarfile.open(path) as archive:
        for member in archive:
            out.addfile(member, archive.extractfile(member))
        link = tarfile.TarInfo("package/src/link.ts")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        out.addfile(link)
    fault = package_error(tmp_path / "b.tgz", TYPESCRIPT)
    assert fault.message == "a source in the archive is not a regular file: 'package/src/link.ts'"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_path_that_is_neither_a_folder_nor_a_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert (
        package_error(tmp_path / "pipe", PYTHON).message
        == "the path is neither a folder nor a file"
    )


def test_folder_with_two_packages(tmp_path: Path) -> None:
    for version in ("one", "two"):
        for name, text in PYTHON_FILES.items():
            path = tmp_path / version / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
    assert package_error(tmp_path, PYTHON).message == (
        "livekit.agents was found twice, in one and two"
    )
    assert "livekit/agents/__init__.py" in open_package(tmp_path / "two", PYTHON).files


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04broken", b"\x1f\x8bbroken", b"no archive"])
def test_broken_archive(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "a.whl").write_bytes(data)
    assert "cannot be read" in package_error(tmp_path / "a.whl", PYTHON).message


def test_truncated_archives(tmp_path: Path) -> None:
    for path in (
        wheel(tmp_path / "a.whl", PYTHON_FILES),
        tarball(tmp_path / "a.tgz", PYTHON_FILES),
    ):
        path.write_bytes(path.read_bytes()[:-200])
        package_error(path, PYTHON)


@pytest.mark.parametrize("manifest", [None, "{", "[]", '{"name": "other"}', '{"name": 3}'])
def test_other_packages(tmp_path: Path, manifest: str | None) -> None:
    write(tmp_path, {} if manifest is None else {"package.json": manifest})
    assert "was not found at this path" in package_error(tmp_path, TYPESCRIPT).message
    assert "was not found at this path" in package_error(tmp_path, PYTHON).message


def test_path_that_does_not_exist(tmp_path: Path) -> None:
    assert "nothing at this path" in package_error(tmp_path / "none", PYTHON).message


def fetch_error(scope: Scope, version: str) -> Diagnostic:
    with pytest.raises(InputError) as caught:
        fetching.fetch(scope, version)
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.rule is Rule.SDK_FETCH and diagnostic.help
    return diagnostic


@pytest.mark.parametrize(
    "version", ["", "git+ssh://x/y", "../x", "1.0 --index-url=x", "-r", "file:x"]
)
@pytest.mark.parametrize("scope", [PYTHON, TYPESCRIPT], ids=["python", "js"])
def test_only_version_numbers_reach_a_client(scope: Scope, version: str) -> None:
    assert "is not a version number" in fetch_error(scope, version).message


def fake(folder: Path, name: str, body: str) -> None:
    program = folder / f"{name}_program.py"
    program.write_text(f"import sys, pathlib\n{body}\n")
    file = folder / name
    # The path of the interpreter may hold a space, which a `#!` line cannot.
    file.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{program}" "$@"\n')
    file.chmod(0o755)


def test_client_that_is_not_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    error = fetch_error(TYPESCRIPT, "1.9.0")
    assert (error.message, str(error.span)) == (
        "npm could not be started",
        "@livekit/agents@1.9.0:1:1",
    )
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert fetch_error(PYTHON, "1.8.9").message == "pip could not be started"


def test_client_that_fails(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    complaint = (
        "npm error code E404\\nnpm error 404 No match found\\nnpm error A complete log of this run"
    )
    fake(tmp_path, "npm", f"sys.stderr.write('{complaint}'); sys.exit(1)")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch_error(TYPESCRIPT, "9.9.9").message == "npm failed: npm error 404 No match found"
    fake(tmp_path, "python", "sys.stderr.write('ERROR: many\\nERROR: none found\\n'); sys.exit(1)")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert fetch_error(PYTHON, "9.9.9").message == "pip failed: ERROR: none found"


def test_client_that_writes_no_archive_or_an_invalid_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fake(tmp_path, "npm", "")
    assert "npm wrote no archive" in fetch_error(TYPESCRIPT, "1.0.0").message
    fake(tmp_path, "npm", "pathlib.Path(sys.argv[-1], 'a.tgz').write_bytes(b'x')")
    with pytest.raises(InputError, match="cannot be read"):
        fetching.fetch(TYPESCRIPT, "1.0.0")


def test_client_that_hangs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fake(tmp_path, "npm", "import time; time.sleep(30)")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(fetching, "_TIMEOUT_SECONDS", 0.2)
    assert "no result" in fetch_error(TYPESCRIPT, "1.0.0").message


def test_fetched_package_and_newest_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    archive = tarball(
        tmp_path / "agents.tgz", {f"package/{path}": text for path, text in TYPESCRIPT_SDK.items()}
    )
    fake(
        tmp_path,
        "npm",
        "if sys.argv[1] == 'view': print('9.8.7'); sys.exit()\n"
        "assert sys.argv[1:3] == ['pack', '@livekit/agents@9.8.7'] and '--ignore-scripts' in sys.argv\n"
        f"pathlib.Path(sys.argv[-1], 'a.tgz').write_bytes(pathlib.Path({str(archive)!r}).read_bytes())",
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetching.newest(TYPESCRIPT) == "9.8.7"
    package = fetching.fetch(TYPESCRIPT, "9.8.7")
    assert set(package.files) == set(TYPESCRIPT_SDK)
    assert package.span("src/a.ts").file == "@livekit/agents@9.8.7/src/a.ts"
    report = '{"install": [{"metadata": {"version": "9.8.7"}}]}'
    fake(tmp_path, "python", f"assert '--dry-run' in sys.argv\nprint('''{report}''')")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    assert fetching.newest(PYTHON) == "9.8.7"


@pytest.mark.parametrize("report", ["", "[]", "{}", '{"install": []}'])
def test_client_that_reports_no_newest_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, report: str
) -> None:
    fake(tmp_path, "python", f"print({report!r})")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(InputError, match="reported no version"):
        fetching.newest(PYTHON)


def test_update_writes_changed_files_only(tmp_path: Path) -> None:
    source = write(tmp_path / "sdk", PYTHON_FILES)
    out = tmp_path / "vocabularies"
    first = update(out, {"python": source})
    assert (first.written, first.diagnostics) == ([out / "livekit-agents.json"], [])
    assert [path.name for path in out.iterdir()] == ["livekit-agents.json"]
    assert load(out / "livekit-agents.json").version == "9.8.7"
    assert update(out, {"python": source}).written == []


def test_update_writes_nothing_of_an_sdk_that_cannot_be_read(tmp_path: Path) -> None:
    source = write(tmp_path / "sdk", PYTHON_FILES)
    events = source / "livekit/agents/voice/events.py"
    events.write_text(events.read_text().replace('"error"', "make()"))
    other = write(tmp_path / "js", TYPESCRIPT_SDK)
    updated = update(tmp_path, {"python": source, "typescript": other})
    assert updated.written == [tmp_path / "agents-js.json"]
    [diagnostic] = updated.diagnostics
    assert (diagnostic.rule, diagnostic.span.line, diagnostic.span.column) == (Rule.SDK_ENUM, 8, 13)


def test_update_from_a_path_that_does_not_exist(tmp_path: Path) -> None:
    updated = update(tmp_path, {"python": tmp_path / "none"})
    assert updated.written == [] and [item.rule for item in updated.diagnostics] == [
        Rule.SDK_PACKAGE
    ]


def test_update_of_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    source = write(tmp_path / "sdk", PYTHON_FILES)
    (tmp_path / "file").write_text("")
    updated = update(tmp_path / "file", {"python": source})
    assert updated.written == [] and [item.rule for item in updated.diagnostics] == [Rule.OUTPUT]


def test_update_warns_of_a_removed_enum(tmp_path: Path) -> None:
    source = write(tmp_path / "sdk", PYTHON_FILES)
    update(tmp_path, {"python": source})
    events = source / "livekit/agents/voice/events.py"
    events.write_text(events.read_text().replace("class CloseReason", "class EndReason"))
    updated = update(tmp_path, {"python": source})
    assert updated.written == [tmp_path / "livekit-agents.json"]
    [warning] = updated.diagnostics
    assert (warning.rule, warning.severity) == (Rule.SDK_MISSING, Severity.WARNING)
    assert "CloseReason" in warning.message and "events.py:7" in warning.message


def test_update_warns_of_a_removed_class(tmp_path: Path) -> None:
    source = write(tmp_path / "sdk", PYTHON_FILES)
    update(tmp_path, {"python": source})
    events = source / "livekit/agents/voice/events.py"
    text = events.read_text().replace("    old: State\n", "").replace("    new:", "    _new:")
    events.write_text(text.replace("    type:", "    _type:"))
    removed, changed = update(tmp_path, {"python": source}).diagnostics
    assert changed.rule is Rule.SDK_CODE
    assert removed.message == (
        "the class StateChangedEvent of 9.8.7 (livekit/agents/voice/events.py:11) does not exist in 9.8.7"
    )


def test_new_versions_compares_with_the_newest_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    source = write(tmp_path / "sdk", PYTHON_FILES)
    update(tmp_path, {"python": source})
    pinned = [sdk(tmp_path, "python")]
    monkeypatch.setattr(commands, "newest", lambda scope: "9.8.7")
    assert commands.new_versions(pinned) == ([], [])
    monkeypatch.setattr(commands, "newest", lambda scope: "9.9.0")
    later = {**PYTHON_FILES, "livekit/agents/version.py": '__version__ = "9.9.0"\n'}
    later["livekit/agents/voice/events.py"] += 'Mood = Literal["fine"]\n'
    newer = open_package(write(tmp_path / "newer", later), PYTHON)
    monkeypatch.setattr(commands, "fetch", lambda scope, version: newer)
    [item], [note] = commands.new_versions(pinned)
    assert (item.sdk, item.pinned, item.newest) == ("livekit-agents", "9.8.7", "9.9.0")
    assert '+      "name": "Mood",' in item.diff and '-  "version": "9.8.7"' in item.diff
    assert (note.rule, note.severity) == (Rule.SDK_NEW_VERSION, Severity.NOTE)
    assert load(tmp_path / "livekit-agents.json").version == "9.8.7"


def test_new_versions_without_a_network_or_a_vocabulary(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pinned = tmp_path / "livekit-agents.json"
    versions, diagnostics = commands.new_versions([sdk(tmp_path, "python")])
    assert versions == [] and [item.rule for item in diagnostics] == [Rule.VOCABULARY]
    pinned.write_bytes(dump(Vocabulary("livekit-agents", "python", "1")))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    versions, diagnostics = commands.new_versions([sdk(tmp_path, "python")])
    assert versions == [] and [item.rule for item in diagnostics] == [Rule.SDK_FETCH]
