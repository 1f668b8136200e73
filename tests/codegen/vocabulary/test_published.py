"""Compares the vocabularies of published SDKs with facts collected from their packages by hand.

Packages are downloaded once, into pytest's cache folder. Tests are skipped without a network,
or without npm for the JS package.
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
from published_behaviour import BEHAVIOUR_IDS, BEHAVIOUR, Behaviour

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
    """Returns the folder of a published version, fetched when it is not there yet."""
    cache_folder = pytestconfig.cache
    assert cache_folder is not None
    root = cache_folder.mkdir("published_sdks")

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
    """Returns the reading of a published version, made once."""

    @cache
    def get(scope: Scope, version: str) -> Reading:
        return read(scope, published(scope, version))

    return get


def vocabulary_of(reading: Reading) -> Vocabulary:
    assert reading.vocabulary is not None
    return reading.vocabulary


def sorted_words(text: str) -> list[str]:
    return sorted(text.split())


def places(vocabulary: Vocabulary) -> Iterator[tuple[str, str]]:
    """Yields the name and place of every named fact, relative to the package."""
    prefix = "livekit/agents/" if vocabulary.language == "python" else ""
    roles = [vocabulary.session, vocabulary.host, vocabulary.driver]
    for item in [*vocabulary.enums, *vocabulary.records, *(role for role in roles if role)]:
        yield item.name, str(item.place).removeprefix(prefix)


@pytest.mark.parametrize(("scope", "facts"), CASES, ids=IDS)
def test_definitions(reading: Read, scope: Scope, facts: Facts) -> None:
    diagnostics = reading(scope, facts.version).diagnostics
    vocabulary = vocabulary_of(reading(scope, facts.version))
    assert vocabulary.version == facts.version
    assert {item.severity for item in diagnostics} <= {Severity.WARNING}
    assert [item.message.split()[2] for item in diagnostics] == list(facts.absent)
    actual_places = dict(places(vocabulary))
    assert {name: actual_places.get(name) for name in facts.places} == facts.places
    for name, expected in facts.enums.items():
        enum = vocabulary.enum(name)
        assert enum is not None, name
        assert sorted([*enum.values, *(["..."] if enum.open else [])]) == sorted_words(
            expected
        ), name
    for name, expected in facts.fields.items():
        record = vocabulary.record(name)
        assert record is not None, name
        spellings = [f"{item.name}{'?' if item.optional else ''}" for item in record.fields]
        assert sorted(spellings) == sorted_words(expected), name


@pytest.mark.parametrize(("scope", "facts"), CASES, ids=IDS)
def test_events_and_requests(reading: Read, scope: Scope, facts: Facts) -> None:
    vocabulary = vocabulary_of(reading(scope, facts.version))
    assert vocabulary.session is not None and vocabulary.host is not None
    assert [item.name for item in vocabulary.session.events] == sorted_words(facts.events)
    # In these versions, every declared event is also emitted.
    assert [item.name for item in vocabulary.session.emits] == sorted_words(facts.events)
    host = vocabulary.host
    forwards = [f"{item.arm}={item.event}" if item.event else item.arm for item in host.forwards]
    assert sorted(forwards) == sorted_words(facts.forwards)
    prefix = "livekit/agents/" if scope is PYTHON else ""
    calls = {
        item.arm: str(item.via).removeprefix(prefix) for item in host.forwards if not item.event
    }
    assert calls == facts.calls
    assert [item.arm for item in host.answers] == sorted_words(facts.answers)
    assert {item.arm: item.response for item in host.answers if item.response != item.arm} == {
        "ping": "pong"
    }
    driver = vocabulary.driver
    assert [item.name for item in (driver.events if driver else ())] == sorted_words(
        facts.driver_events
    )
    assert sorted(
        f"{item.arm}:{item.method}" for item in (driver.sends if driver else ())
    ) == sorted_words(facts.sends)


@pytest.mark.parametrize(("scope", "facts"), CASES, ids=IDS)
def test_constructions(reading: Read, scope: Scope, facts: Facts) -> None:
    vocabulary = vocabulary_of(reading(scope, facts.version))
    filled: dict[str, set[str]] = {}
    for item in vocabulary.constructions:
        fields = filled.setdefault(f"{item.message} {item.within}", set())
        fields.update([*item.fields, *(["..."] if item.open else [])])
    for name, expected in facts.constructions.items():
        assert sorted(filled.get(name, ())) == sorted_words(expected), name


@pytest.mark.parametrize(("scope", "behaviour"), BEHAVIOUR, ids=BEHAVIOUR_IDS)
def test_tables_and_unions(reading: Read, scope: Scope, behaviour: Behaviour) -> None:
    vocabulary = vocabulary_of(reading(scope, behaviour.version))
    maps = {
        item.name: [f"{literal}={value}" for literal, value in item.pairs]
        for item in vocabulary.maps
    }
    assert maps == {name: sorted_words(text) for name, text in behaviour.maps.items()}
    defaults = {
        item.name: [f"{default.value}:{default.within}" for default in item.defaults]
        for item in vocabulary.maps
        if item.defaults
    }
    assert defaults == {name: sorted_words(text) for name, text in behaviour.defaults.items()}
    [options] = vocabulary.map_keys
    assert (options.message, options.field, options.open) == (
        "SessionResponse.GetSessionStateResponse",
        "options",
        False,
    )
    assert list(options.keys) == sorted_words(behaviour.options)
    unions = {item.name: item for item in vocabulary.unions}
    assert sorted(unions["ChatContent"].members) == sorted_words(behaviour.content)
    ignored = [f"{item.tag}:{item.within}" for item in vocabulary.ignored_variants]
    assert ignored == sorted_words(behaviour.ignored_variants)
    facts: list[UnionFact | ValueMap] = [*vocabulary.maps, *vocabulary.unions]
    actual_places = {item.name: str(item.place) for item in facts} | {"options": str(options.place)}
    actual_places |= {item.arm: str(item.place) for item in vocabulary.envelope_uses}
    actual_places |= {item.tag: str(item.place) for item in vocabulary.ignored_variants}
    prefix = "livekit/agents/" if scope is PYTHON else ""
    for name, place in behaviour.places.items():
        assert actual_places[name] == prefix + place, name


@pytest.mark.parametrize(("scope", "behaviour"), BEHAVIOUR, ids=BEHAVIOUR_IDS)
def test_behaviour_of_hosts_and_drivers(reading: Read, scope: Scope, behaviour: Behaviour) -> None:
    vocabulary = vocabulary_of(reading(scope, behaviour.version))
    host, driver = vocabulary.host, vocabulary.driver
    assert host is not None
    time = "created_at" if scope is PYTHON else "createdAt"
    assert [item.arm for item in host.forwards if time in item.reads] == sorted_words(
        behaviour.timed
    )
    # Only a debug message is passed on as a whole.
    assert {item.arm for item in host.forwards if item.passes_event} <= {"debug_message"}
    errors = {item.arm: item.errors for item in host.answers if item.errors}
    assert errors == ({"run_input": behaviour.errors} if behaviour.errors else {})
    assert host.unknown_request is None
    assert str((driver and driver.emits_payload_only) or "") == behaviour.emits_payload_only
    carried = {f"{item.arm}:{item.direction}" for item in vocabulary.envelope_uses}
    assert sorted(carried) == sorted_words(behaviour.envelope_uses)


def test_python_driver_emits_by_arm_and_js_renames_usage(reading: Read) -> None:
    python = vocabulary_of(reading(PYTHON, "1.8.9")).driver
    assert python is not None
    assert str(python.emits_by_arm_name) == "livekit/agents/voice/remote_session.py:1017"
    assert python.receives == ()
    js = vocabulary_of(reading(TYPESCRIPT, "1.9.0")).driver
    assert js is not None
    renamed = [(item.arm, item.event) for item in js.receives if item.arm != item.event]
    assert renamed == [("session_usage_updated", "session_usage")]


def test_js_host_does_not_read_video_settings(reading: Read) -> None:
    def reads(scope: Scope, version: str) -> set[str]:
        host = vocabulary_of(reading(scope, version)).host
        assert host is not None
        return {path for item in host.answers if item.arm == "update_io" for path in item.reads}

    sound = {"input.audio_enabled", "output.audio_enabled", "output.transcription_enabled"}
    video = {"input.video_enabled", "output.video_enabled"}
    assert reads(TYPESCRIPT, "1.9.0") == sound
    assert reads(PYTHON, "1.8.9") == sound | video


@pytest.mark.parametrize(
    ("scope", "version"), [(PYTHON, "1.8.9"), (TYPESCRIPT, "1.9.0")], ids=["python", "js"]
)
def test_committed_vocabulary_equals_the_published_package(
    reading: Read, scope: Scope, version: str
) -> None:
    path = ROOT / "vocabularies" / f"{scope.sdk}.json"
    assert reading(scope, version).diagnostics == []
    assert vocabulary_of(reading(scope, version)) == load(path)
    assert dump(vocabulary_of(reading(scope, version))) == path.read_bytes()


@pytest.mark.parametrize(
    ("scope", "version"), [(PYTHON, "1.8.9"), (TYPESCRIPT, "1.9.0")], ids=["python", "js"]
)
def test_same_bytes_under_any_hash_seed(
    published: Folder, tmp_path: Path, scope: Scope, version: str
) -> None:
    code = (
        "import sys; from pathlib import Path; import scopes;"
        "from sessiongen.vocabulary.commands import update; from sessiongen.vocabulary.configured import Sdk;"
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
