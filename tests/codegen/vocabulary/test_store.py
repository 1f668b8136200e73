"""Tests of reading and writing vocabulary files."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_sdks import python_sdk, typescript_sdk

from sessiongen.diagnostics import InputError, Rule
from sessiongen.vocabulary.behaviours import BEHAVIOURS
from sessiongen.vocabulary import Vocabulary, dump, load
from sessiongen.vocabulary import model
from sessiongen.vocabulary.ordering import normalized
from sessiongen.vocabulary.store import parse

ROOT = Path(__file__).resolve().parents[3]

TEXTS = st.text(max_size=8)
LINES = st.integers(1, 10**9 - 1)
PLACES = st.builds(model.Place, st.text(min_size=1, max_size=8), LINES)


def tuples(items: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[Any, ...]]:
    return st.lists(items, max_size=3).map(tuple)


LITERALS = tuples(st.builds(model.LiteralValue, TEXTS, st.none() | TEXTS, LINES))
NAMES = tuples(st.builds(model.EventName, TEXTS, PLACES))
ENUMS = st.builds(
    model.EnumFact, TEXTS, st.sampled_from(model.FORMS), st.booleans(), PLACES, LITERALS
)
FIELDS = tuples(st.builds(model.FieldFact, TEXTS, TEXTS, st.booleans(), PLACES))
RECORDS = st.builds(model.Record, TEXTS, st.none() | TEXTS, PLACES, FIELDS)
UNIONS = st.builds(model.UnionFact, TEXTS, PLACES, tuples(TEXTS))
IGNORED = st.builds(model.IgnoredVariant, TEXTS, TEXTS, PLACES)
DEFAULTS = st.builds(model.Default, TEXTS, TEXTS, PLACES)
MAPS = st.builds(model.ValueMap, TEXTS, PLACES, tuples(st.tuples(TEXTS, TEXTS)), tuples(DEFAULTS))
CONVERSIONS = st.builds(
    model.Conversion,
    TEXTS,
    TEXTS,
    TEXTS,
    PLACES,
    TEXTS,
    tuples(st.tuples(TEXTS, TEXTS)),
    TEXTS,
)
KEYS = st.builds(
    model.MapKeys,
    TEXTS,
    TEXTS,
    TEXTS,
    st.booleans(),
    PLACES,
    tuples(TEXTS),
    tuples(st.tuples(TEXTS, TEXTS)),
)
CONSTANTS = st.builds(model.ConstantFact, TEXTS, TEXTS, TEXTS, TEXTS, st.none() | PLACES)
ENVELOPE_USES = st.builds(
    model.EnvelopeUse, TEXTS, st.sampled_from(model.DIRECTIONS), TEXTS, PLACES
)
CONSTRUCTIONS = st.builds(model.Construction, TEXTS, TEXTS, st.booleans(), PLACES, tuples(TEXTS))
SESSIONS = st.builds(model.Session, TEXTS, PLACES, NAMES, NAMES)
FORWARDS = st.builds(
    model.Forward,
    TEXTS,
    st.none() | TEXTS,
    TEXTS,
    PLACES,
    st.none() | PLACES,
    st.none() | TEXTS,
    tuples(TEXTS),
    st.booleans(),
)
ANSWERS = st.builds(
    model.Answer,
    TEXTS,
    st.none() | TEXTS,
    tuples(TEXTS),
    tuples(TEXTS),
    PLACES,
    st.none() | st.booleans(),
)
HOSTS = st.builds(model.Host, TEXTS, PLACES, st.none() | PLACES, tuples(FORWARDS), tuples(ANSWERS))
DRIVERS = st.builds(
    model.Driver,
    TEXTS,
    PLACES,
    st.none() | PLACES,
    st.none() | PLACES,
    NAMES,
    tuples(st.builds(model.Reception, TEXTS, TEXTS, PLACES)),
    tuples(st.builds(model.Sending, TEXTS, TEXTS, PLACES)),
)
VOCABULARIES = st.builds(
    Vocabulary,
    TEXTS,
    TEXTS,
    TEXTS,
    tuples(ENUMS),
    tuples(RECORDS),
    tuples(UNIONS),
    tuples(IGNORED),
    tuples(MAPS),
    tuples(CONVERSIONS),
    tuples(CONSTRUCTIONS),
    tuples(KEYS),
    tuples(ENVELOPE_USES),
    st.none() | SESSIONS,
    st.none() | HOSTS,
    st.none() | DRIVERS,
    st.none() | PLACES,
    st.none() | st.builds(model.Requirement, TEXTS, TEXTS, TEXTS, PLACES),
    tuples(st.builds(model.UnusedValue, TEXTS, TEXTS, PLACES)),
    tuples(
        st.builds(
            model.FieldSource,
            TEXTS,
            TEXTS,
            TEXTS,
            PLACES,
            TEXTS,
            TEXTS,
            st.floats(allow_nan=False, allow_infinity=False),
            TEXTS,
        )
    ),
    tuples(CONSTANTS),
    tuples(
        st.builds(
            model.Behaviour,
            st.sampled_from(BEHAVIOURS),
            TEXTS,
            TEXTS,
            TEXTS,
            st.none() | PLACES,
        )
    ),
    tuples(st.builds(model.DefinitionFact, TEXTS, TEXTS, PLACES)),
)


@given(VOCABULARIES)
def test_dumped_vocabulary_can_be_parsed(vocabulary: Vocabulary) -> None:
    data = dump(vocabulary)
    assert parse(data, "x.json") == normalized(vocabulary)
    assert dump(parse(data, "x.json")) == data
    assert data.endswith(b"}\n") and b"\r" not in data


def test_order_of_facts_does_not_matter() -> None:
    vocabulary = python_sdk().vocabulary
    shuffle = random.Random(1).shuffle
    enums, records = list(vocabulary.enums), list(vocabulary.records)
    constructions = list(vocabulary.constructions)
    shuffle(enums)
    shuffle(records)
    shuffle(constructions)
    shuffled = vocabulary._replace(
        enums=tuple(enums), records=tuple(records), constructions=tuple(constructions)
    )
    assert dump(shuffled) == dump(vocabulary)


def test_file_is_json_with_sorted_keys_and_one_fact_a_line() -> None:
    text = dump(typescript_sdk().vocabulary).decode()
    assert json.dumps(json.loads(text), sort_keys=True) == json.dumps(json.loads(text))
    assert '    {"arm": "ping", "at": "src/voice/remote_session.ts:23", "method": "ping"}' in text


def test_load(tmp_path: Path) -> None:
    path = tmp_path / "sdk.json"
    vocabulary = python_sdk().vocabulary
    path.write_bytes(dump(vocabulary))
    assert load(path) == vocabulary


def test_facts_of_a_later_kind_may_be_missing() -> None:
    data = json.loads(dump(python_sdk().vocabulary))
    del data["ignored_variants"]
    assert parse(json.dumps(data).encode(), "v.json") == python_sdk().vocabulary


def vocabulary_error(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        parse(data, "v.json")
    [diagnostic] = caught.value.diagnostics
    assert diagnostic.rule is Rule.VOCABULARY and diagnostic.help
    return f"{diagnostic.span}: {diagnostic.message}"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "v.json:1:1: not JSON"),
        (b'{\n  "sdk": }', "v.json:2:10: not JSON"),
        (b'{"a": 1}\n\xff', "v.json:2:1: not UTF-8"),
        (b"[" * 100_000, "v.json:1:1: the JSON cannot be read"),
        (b"9" * 10_000, "v.json:1:1: "),
        (b"[]", "v.json:1:1: the whole file: expected an object"),
        (b"null", "v.json:1:1: the whole file: expected an object"),
        (b'{"sdk": "x"}', "v.json:1:1: the whole file: the key 'language' is missing"),
    ],
)
def test_malformed_bytes(data: bytes, message: str) -> None:
    assert vocabulary_error(data).startswith(message)


def _drop(key: str) -> Callable[[Any], None]:
    return lambda item: item.pop(key)


def _put(key: str, value: object) -> Callable[[Any], None]:
    return lambda item: item.update({key: value})


@pytest.mark.parametrize(
    ("key_path", "change", "message"),
    [
        ((), _put("extra", 1), "the whole file: the key 'extra' is unknown"),
        ((), _put("version", None), "version: expected a string"),
        ((), _put("enums", {}), "enums: expected a list"),
        ((), _put("host", []), "host: expected an object"),
        (("enums", 0), _put("form", "set"), "enums[0].form: expected one of enum, literal"),
        (("enums", 0), _put("open", 0), "enums[0].open: expected true or false"),
        (("enums", 0), _put("at", "events.py"), "enums[0].at: expected a place"),
        (("enums", 0), _put("at", ":3"), "enums[0].at: expected a place"),
        (("enums", 0), _put("at", "e.py:²"), "enums[0].at: expected a place"),
        (
            ("enums", 0, "values", 1),
            _put("line", True),
            "enums[0].values[1].line: expected a line number",
        ),
        (
            ("enums", 0, "values", 1),
            _put("line", 0),
            "enums[0].values[1].line: expected a line number",
        ),
        (("enums", 0, "values", 1), _drop("member"), "enums[0].values[1]: the key 'member' is"),
        (("records", 0, "fields", 0), _drop("type"), "records[0].fields[0]: the key 'type' is"),
        (("driver", "sends", 0), _put("arm", 3), "driver.sends[0].arm: expected a string"),
        (("host", "answers", 0), _put("reads", [1]), "host.answers[0].reads[0]: expected a string"),
        (
            ("constructions", 0),
            _put("fields", "a"),
            "constructions[0].fields: expected a list",
        ),
    ],
)
def test_malformed_value_is_reported_with_its_path(
    key_path: tuple[str | int, ...], change: Callable[[Any], None], message: str
) -> None:
    value = json.loads(dump(python_sdk().vocabulary))
    inner = value
    for step in key_path:
        inner = inner[step]
    change(inner)
    assert vocabulary_error(json.dumps(value).encode()).startswith(f"v.json:1:1: {message}")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        load(tmp_path / "none.json")
    assert caught.value.diagnostics[0].rule is Rule.VOCABULARY


def test_loading_imports_no_parser() -> None:
    code = (
        "import sys; from pathlib import Path; from sessiongen.vocabulary import load\n"
        "for path in sys.argv[1:]: load(Path(path))\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules}"
        " & {'tree_sitter', 'google', 'subprocess', 'click', 'jinja2'}))"
    )
    vocabularies = (ROOT / "vocabularies").glob("*.json")
    files = [str(path) for path in vocabularies if not path.match("*.messages.json")]
    assert len(files) == 2
    done = subprocess.run(
        [sys.executable, "-c", code, *files],
        env={"PYTHONPATH": str(ROOT / "codegen")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "[]"
