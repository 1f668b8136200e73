"""Published SDKs, against values written down by hand from their packages.

A package is fetched once and kept in pytest's cache folder. Without network, or without
npm for the JS package, a test is skipped and says so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from published_facts import CASES, IDS, Facts
from published_behaviour import HABIT_IDS, HABITS, Habits

from sessiongen.diagnostics import InputError, Severity
from scopes import PYTHON, TYPESCRIPT
from sessiongen.vocabulary import UnionFact, Reading, ValueMap, Vocabulary
from sessiongen.vocabulary.scope import Scope
from sessiongen.vocabulary.fetch import fetch
from sessiongen.vocabulary.store import dump, load
from sessiongen.vocabulary.commands import read

ROOT = Path(__file__).resolve().parents[3]

Folder = Callable[[Scope, str], Path]
Read = Callable[[Scope, str], Reading]


@pytest.fixture(scope="session")
def published(pytestconfig: pytest.Config) -> Folder:
    """Return the folder of a published version, fetched when it is not there yet."""
    kept = pytestconfig.cache
    assert kept is not None
    root = kept.mkdir("published_sdks")

    def get(scope: Scope, version: str) -> Path:
        folder = root / f"{scope.sdk}-{version}"
        if folder.is_dir():
            return folder
        if scope.language == "typescript" and shutil.which("npm") is None:
            pytest.skip("npm is not installed, so the JS package cannot be fetched")
        try:
            files = fetch(scope, version).files
        except InputError as error:
            pytest.skip(f"{scope.sdk} {version} cannot be fetched: {error}")
        staging = root / f".{folder.name}.{os.getpid()}"
        for path, data in files.items():
            (staging / path).parent.mkdir(parents=True, exist_ok=True)
            (staging / path).write_bytes(data)
        staging.rename(folder)
        return folder

    return get


@pytest.fixture(scope="session")
def reading(published: Folder) -> Read:
    """Return the reading of a published version, made once."""

    @cache
    def get(scope: Scope, version: str) -> Reading:
        return read(scope, published(scope, version))

    return get


def known(reading: Reading) -> Vocabulary:
    assert reading.vocabulary is not None
    return reading.vocabulary


def words(text: str) -> list[str]:
    return sorted(text.split())


def places(vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """Yield every named fact with its place, as a person writes it down."""
    front = "livekit/agents/" if vocabulary.language == "python" else ""
    roles = [vocabulary.session, vocabulary.host, vocabulary.driver]
    for item in [*vocabulary.enums, *vocabulary.records, *(role for role in roles if role)]:
        yield item.name, str(item.place).removeprefix(front)


@pytest.mark.parametrize(("scope", "facts"), CASES, ids=IDS)
def test_definitions(reading: Read, scope: Scope, facts: Facts) -> None:
    diagnostics = reading(scope, facts.version).diagnostics
    vocabulary = known(reading(scope, facts.version))
    assert vocabulary.version == facts.version
    assert {item.severity for item in diagnostics} <= {Severity.WARNING}
    assert [item.message.split()[2] for item in diagnostics] == list(facts.absent)
    found = dict(places(vocabulary))
    assert {name: found.get(name) for name in facts.places} == facts.places
    for name, expected in facts.enums.items():
        enum = vocabulary.enum(name)
        assert enum is not None, name
        assert sorted([*enum.values, *(["..."] if enum.open else [])]) == words(expected), name
    for name, expected in facts.fields.items():
        record = vocabulary.record(name)
        assert record is not None, name
        spelled = [f"{item.name}{'?' if item.optional else ''}" for item in record.fields]
        assert sorted(spelled) == words(expected), name


@pytest.mark.parametrize(("scope", "facts"), CASES, ids=IDS)
def test_events_and_requests(reading: Read, scope: Scope, facts: Facts) -> None:
    vocabulary = known(reading(scope, facts.version))
    assert vocabulary.session is not None and vocabulary.host is not None
    assert [item.name for item in vocabulary.session.events] == words(facts.events)
    # every event that is declared is also emitted in each of these versions
    assert [item.name for item in vocabulary.session.emits] == words(facts.events)
    host = vocabulary.host
    forwards = [f"{item.arm}={item.event}" if item.event else item.arm for item in host.forwards]
    assert sorted(forwards) == words(facts.forwards)
    front = "livekit/agents/" if scope is PYTHON else ""
    calls = {
        item.arm: str(item.via).removeprefix(front) for item in host.forwards if not item.event
    }
    assert calls == facts.calls
    assert [item.arm for item in host.answers] == words(facts.answers)
    assert {item.arm: item.response for item in host.answers if item.response != item.arm} == {
        "ping": "pong"
    }
    driver = vocabulary.driver
    assert [item.name for item in (driver.events if driver else ())] == words(facts.driver_events)
    assert sorted(
        f"{item.arm}:{item.method}" for item in (driver.sends if driver else ())
    ) == words(facts.sends)


@pytest.mark.parametrize(("scope", "facts"), CASES, ids=IDS)
def test_builds(reading: Read, scope: Scope, facts: Facts) -> None:
    vocabulary = known(reading(scope, facts.version))
    found: dict[str, set[str]] = {}
    for item in vocabulary.constructions:
        fields = found.setdefault(f"{item.message} {item.within}", set())
        fields.update([*item.fields, *(["..."] if item.open else [])])
    for name, expected in facts.constructions.items():
        assert sorted(found.get(name, ())) == words(expected), name


@pytest.mark.parametrize(("scope", "habits"), HABITS, ids=HABIT_IDS)
def test_tables_and_unions(reading: Read, scope: Scope, habits: Habits) -> None:
    vocabulary = known(reading(scope, habits.version))
    maps = {
        item.name: [f"{word}={value}" for word, value in item.pairs] for item in vocabulary.maps
    }
    assert maps == {name: words(text) for name, text in habits.maps.items()}
    defaults = {
        item.name: [f"{default.value}:{default.within}" for default in item.defaults]
        for item in vocabulary.maps
        if item.defaults
    }
    assert defaults == {name: words(text) for name, text in habits.defaults.items()}
    [options] = vocabulary.map_keys
    assert (options.message, options.field, options.open) == (
        "SessionResponse.GetSessionStateResponse",
        "options",
        False,
    )
    assert list(options.keys) == words(habits.options)
    kinds = {item.name: item for item in vocabulary.unions}
    assert sorted(kinds["ChatContent"].members) == words(habits.content)
    skips = [f"{item.tag}:{item.within}" for item in vocabulary.ignored_variants]
    assert skips == words(habits.ignored_variants)
    facts: list[UnionFact | ValueMap] = [*vocabulary.maps, *vocabulary.unions]
    found = {item.name: str(item.place) for item in facts} | {"options": str(options.place)}
    found |= {item.arm: str(item.place) for item in vocabulary.envelope_uses}
    found |= {item.tag: str(item.place) for item in vocabulary.ignored_variants}
    front = "livekit/agents/" if scope is PYTHON else ""
    for name, place in habits.places.items():
        assert found[name] == front + place, name


@pytest.mark.parametrize(("scope", "habits"), HABITS, ids=HABIT_IDS)
def test_what_hosts_and_drivers_do(reading: Read, scope: Scope, habits: Habits) -> None:
    vocabulary = known(reading(scope, habits.version))
    host, driver = vocabulary.host, vocabulary.driver
    assert host is not None
    time = "created_at" if scope is PYTHON else "createdAt"
    assert [item.arm for item in host.forwards if time in item.reads] == words(habits.timed)
    # a debug message is handed on as it is, and nothing else
    assert {item.arm for item in host.forwards if item.passes_event} <= {"debug_message"}
    errors = {item.arm: item.errors for item in host.answers if item.errors}
    assert errors == ({"run_input": habits.errors} if habits.errors else {})
    assert host.unknown_request is None
    assert str((driver and driver.emits_payload_only) or "") == habits.emits_payload_only
    carried = {f"{item.arm}:{item.direction}" for item in vocabulary.envelope_uses}
    assert sorted(carried) == words(habits.envelope_uses)


def test_python_driver_emits_by_arm_and_js_renames_usage(reading: Read) -> None:
    python = known(reading(PYTHON, "1.8.9")).driver
    assert python is not None
    assert str(python.emits_by_arm_name) == "livekit/agents/voice/remote_session.py:1017"
    assert python.receives == ()
    js = known(reading(TYPESCRIPT, "1.9.0")).driver
    assert js is not None
    renamed = [(item.arm, item.event) for item in js.receives if item.arm != item.event]
    assert renamed == [("session_usage_updated", "session_usage")]


def test_js_host_ignores_video_switches(reading: Read) -> None:
    def reads(scope: Scope, version: str) -> set[str]:
        host = known(reading(scope, version)).host
        assert host is not None
        return {path for item in host.answers if item.arm == "update_io" for path in item.reads}

    sound = {"input.audio_enabled", "output.audio_enabled", "output.transcription_enabled"}
    video = {"input.video_enabled", "output.video_enabled"}
    assert reads(TYPESCRIPT, "1.9.0") == sound
    assert reads(PYTHON, "1.8.9") == sound | video


@pytest.mark.parametrize(
    ("scope", "version"), [(PYTHON, "1.8.9"), (TYPESCRIPT, "1.9.0")], ids=["python", "js"]
)
def test_committed_vocabulary_is_what_the_package_says(
    reading: Read, scope: Scope, version: str
) -> None:
    path = ROOT / "vocabularies" / f"{scope.sdk}.json"
    assert reading(scope, version).diagnostics == []
    assert known(reading(scope, version)) == load(path)
    assert dump(known(reading(scope, version))) == path.read_bytes()


@pytest.mark.parametrize(
    ("scope", "version"), [(PYTHON, "1.8.9"), (TYPESCRIPT, "1.9.0")], ids=["python", "js"]
)
def test_same_bytes_under_any_hash_seed(
    published: Folder, tmp_path: Path, scope: Scope, version: str
) -> None:
    code = (
        "import sys; from pathlib import Path; import scopes;"
        "from sessiongen.vocabulary.commands import Sdk, update;"
        "sdk = Sdk(Path(sys.argv[1]) / 'sdk.json', getattr(scopes, sys.argv[2]));"
        "print(update([(sdk, Path(sys.argv[3]))]).diagnostics)"
    )
    written = []
    for seed in ("1", "2"):
        out = tmp_path / seed
        arguments = [str(out), scope.language.upper(), str(published(scope, version))]
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == "[]"
        written.append((out / "sdk.json").read_bytes())
    assert written[0] == written[1]
