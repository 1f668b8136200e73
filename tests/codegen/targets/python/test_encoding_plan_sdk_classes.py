"""Tests of encoders with the classes of an SDK.

The classes have other names, optional fields, tags, enum literals, and objects in place of
strings. The protocol and the vocabulary were written by hand.
"""

from __future__ import annotations

from collections import UserDict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import coders
import pytest
import generated_packages
from coders import Coders
from hypothesis import HealthCheck, given, settings
from generated_packages import Package

import random_messages
from sessiongen.vocabulary import dump
from sessiongen.vocabulary.model import EnumFact, FieldFact, Place, Record, Vocabulary, LiteralValue

ODD = 'it\'s "so"\\\n{é}'
PROTO = """\
syntax = "proto3";
package twins;
import "sessiongen/annotations.proto";

enum Mood {
  option (sessiongen.unknown) = "MOOD_UNKNOWN";
  MOOD_UNKNOWN = 0;
  MOOD_GOOD = 1;
  MOOD_ODD = 2 [(sessiongen.sdk_value) = "it's \\"so\\"\\\\\\n{é}"];
}

enum Size {
  SIZE_SMALL = 0;
  SIZE_LARGE = 1;
}

// A class of this name would hide the words of Mood.
message MoodLiteral {
  Mood mood = 1;
}

message Said {
  option (sessiongen.sdk_class) = "Utterance,Speech";
  string text = 1 [(sessiongen.sdk_field) = "words,transcript"];
  optional string tone = 2 [(sessiongen.sdk_field) = "colour"];
  Mood mood = 3;
  optional Mood last = 4;
  repeated Mood moods = 5;
  map<string, Mood> by_name = 6;
  string from = 7;
  string cause = 8;
  optional Size size = 9;
  repeated Size sizes = 10;
  MoodLiteral word = 11;
}

message Timing {
  optional double delay = 1 [(sessiongen.sdk_field) = "delay_seconds"];
  optional double total = 2;
  repeated string notes = 3;
}

message Loose {
  optional double delay = 1;
  optional double total = 2;
  repeated string notes = 3;
  Said said = 4;
}

message Lax {
  double delay = 1;
  repeated string notes = 2;
}

message LaxMood {
  Mood mood = 1;
  optional double total = 2;
}

message LaxSize {
  Size size = 1;
}

message Step {
  oneof step {
    Begun begun = 1;
    Done done = 2;
  }
}

message Begun {
  string id = 1;
}

message Done {
  string id = 1;
}

// The SDK's class keeps the arms in fields of their own, although each is a kind.
message Apart {
  oneof apart {
    Near near = 1;
    Far far = 2;
  }
}

// Two arms for one class, whose tag tells them not apart.
message Twice {
  oneof twice {
    Begun first = 1;
    Begun second = 2;
  }
}

// Two choices and nothing else: none of them is the whole.
message Two {
  oneof left {
    Begun begun = 1;
  }
  oneof right {
    Done done = 2;
  }
}

message HasTwo {
  Two two = 1;
}

message Near {}

message Far {}

message Plain {
  string text = 1 [(sessiongen.sdk_field) = "class"];
  string b = 2 [(sessiongen.sdk_field) = "not a name"];
  string c = 3 [(sessiongen.sdk_field) = "x\\"); import os; os._exit(3); (\\""];
  string d = 4 [(sessiongen.sdk_field) = "__hidden"];
  string e = 5 [(sessiongen.sdk_field) = "e"];
}

message Event {
  oneof event {
    Said said = 1;
    Timing timing = 2;
    Loose loose = 3;
    Apart apart = 4;
    Plain plain = 5;
    Steps steps = 6;
    Lax lax = 7;
    LaxMood lax_mood = 8;
    LaxSize lax_size = 9;
    Twice twice = 10;
    HasTwo has_two = 11;
  }
}

message Classed {
  string id = 1;
}

message Unclassed {
  string id = 1;
}

message Steps {
  repeated Step steps = 1;
}

message Request {
  string request_id = 1;
  oneof request {
    Near ask = 2;
    Near classed = 3;
    Near unclassed = 4;
  }
}

message Response {
  string request_id = 1;
  oneof response {
    Near ask = 2;
    Classed classed = 3;
    Unclassed unclassed = 4;
  }
}
"""
AT = Place("sdk.py", 1)


def record(name: str, tag: str | None, *fields: str) -> Record:
    """Return a class; `name?` is a field that may be left out, `name!` one that is no text."""
    return Record(
        name,
        tag,
        AT,
        tuple(
            FieldFact(item.rstrip("?!"), "Exception" if "!" in item else "str", "?" in item, AT)
            for item in fields
        ),
    )


VOCABULARY = Vocabulary(
    "sdk",
    "python",
    "1",
    enums=(
        EnumFact(
            "Mood",
            "literal",
            False,
            AT,
            (LiteralValue("good", None, 1), LiteralValue(ODD, None, 2)),
        ),
    ),
    records=(
        record(
            "Speech",
            None,
            *("transcript", "colour?", "mood", "last?", "moods", "by_name", "from_", "cause!"),
            *("size?", "sizes", "word"),
        ),
        record("Timing", None, "delay_seconds?", "total?", "notes?"),
        record("Loose", None, "delay?", "total?", "notes?", "said?"),
        record("Lax", None, "delay?", "notes?"),
        record("LaxMood", None, "mood?", "total?"),
        record("LaxSize", None, "size?"),
        record("Begun", ODD, "id"),
        record("DoneEvent", "done\tnow", "id"),
        record("Apart", None, "near?", "far?"),
        record("Near", "near"),
        record("Far", "far"),
        record("Classed", None, "id"),
    ),
)


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return generated(tmp_path_factory.mktemp("twins"), "twins", VOCABULARY)


def generated(root: Path, name: str, *vocabularies: Vocabulary, overrides: str = "") -> Package:
    """Generate the protocol with vocabularies; its proto package has the name of Python's."""
    proto = PROTO.replace("package twins;", f"package {name};")
    (root / "twins.proto").write_text(proto, encoding="utf-8")
    paths = []
    for index, item in enumerate(vocabularies):
        (root / f"{index}.json").write_bytes(dump(item))
        paths.append(f'"{index}.json"')
    rest = f'overrides = "{overrides}"\n' if overrides else ""
    rest += f"[sdks]\nvocabularies = [{', '.join(paths)}]\n" if paths else ""
    source = generated_packages.protos([root / "twins.proto"], [root])
    return generated_packages.generate(generated_packages.configured(root, name, source, rest=rest))


def speech(**changes: Any) -> dict[str, Any]:
    """Return the fields of an object of the SDK's class Speech."""
    return {
        "transcript": "hello",
        "colour": "low",
        "mood": "good",
        "last": ODD,
        "moods": ["good", ODD, None],
        "by_name": {"a": ODD, "b": None},
        "from_": "here",
        "cause": ValueError("why"),
        "size": "SIZE_LARGE",
        "sizes": ["SIZE_LARGE", None, "SIZE_SMALL"],
        "word": SimpleNamespace(mood=ODD),
        **changes,
    }


def test_an_object_of_the_sdks_class(package: Package) -> None:
    encode = package.module("encoders").encode_said
    for source in (SimpleNamespace(**speech()), speech()):
        made = encode(source)
        assert (made.text, made.tone, made.cause) == ("hello", "low", "why")
        assert getattr(made, "from") == "here"
        assert (made.mood, made.last, list(made.moods)) == (1, 2, [1, 2, 0])
        assert dict(made.by_name) == {"a": 2, "b": 0}
        assert (made.size, list(made.sizes), made.word.mood) == (1, [1, 0], 2)
    assert encode(speech(mood="unheard", last=None)).mood == 0


def test_the_protocols_names_do_too(package: Package) -> None:
    encode = package.module("encoders").encode_said
    source = speech()
    source["text"] = source.pop("transcript")
    source["tone"] = source.pop("colour")
    source["from"] = source.pop("from_")
    assert encode(source) == encode(speech())
    del source["tone"]
    assert not encode(source).HasField("tone")
    del source["text"]
    with pytest.raises(AttributeError, match="'transcript' or 'text'"):
        encode(source)
    only = SimpleNamespace(**{name: item for name, item in speech().items() if name != "colour"})
    with pytest.raises(AttributeError, match="'colour' or 'tone'"):
        encode(only)


def test_what_the_class_may_leave_out(package: Package) -> None:
    encoders = package.module("encoders")
    nothing: tuple[Any, ...] = ({}, SimpleNamespace())
    for source in nothing:
        loose = encoders.encode_loose(source)
        assert loose.ListFields() == []
    assert encoders.encode_loose(SimpleNamespace(total=0.0)).HasField("total")
    assert encoders.encode_timing({}).ListFields() == []
    assert encoders.encode_timing({"delay_seconds": 1.0}).delay == 1.0
    assert encoders.encode_timing({"delay": 2.0, "notes": ["x"]}).delay == 2.0
    assert encoders.encode_timing(SimpleNamespace(delay_seconds=3, total=None, notes=())).delay == 3


@pytest.mark.parametrize("source", [{}, SimpleNamespace(), UserDict()], ids=type)
@pytest.mark.parametrize("arm", ["loose", "timing", "lax", "lax_mood"])
def test_a_class_that_may_leave_out_all_is_set_where_it_does(
    package: Package, arm: str, source: Any
) -> None:
    if arm == "timing" and isinstance(source, SimpleNamespace):
        source = SimpleNamespace(delay_seconds=None, total=None, notes=None)
    event = package.module("encoders").encode_event(arm, source)
    assert event.WhichOneof("event") == arm
    assert getattr(event, arm).ListFields() == []


def test_a_word_that_is_left_out_is_no_zero(package: Package) -> None:
    errors, encoders = package.module("errors"), package.module("encoders")
    for source in ({}, {"size": None}, SimpleNamespace(size=None)):
        with pytest.raises(errors.UnmappedValueError, match="twins.Size.*None"):
            encoders.encode_lax_size(source)
    with pytest.raises(AttributeError, match="'size'"):
        encoders.encode_lax_size(SimpleNamespace())
    assert encoders.encode_lax_size({"size": "SIZE_LARGE"}).size == 1


def test_an_override_of_a_class_that_may_leave_out_all(tmp_path: Path) -> None:
    """It is given attributes, as any other, and is called for a source with nothing in it too."""
    (tmp_path / "hand.py").write_text(
        "def fill(source, to):\n    to.total = -1 if source.total is None else source.total\n\n\n"
        'OVERRIDES = {"Loose.total": fill}\n',
        encoding="utf-8",
    )
    found = generated(tmp_path, "twins_override", VOCABULARY, overrides="hand.py")
    encode = found.module("encoders").encode_loose
    assert [encode({}).total, encode({"total": 2.0}).total] == [-1.0, 2.0]
    source = SimpleNamespace(delay=1.0, total=3.0, notes=[], said=None)
    assert [encode(source).total, encode(source).delay] == [3.0, 1.0]


def test_kinds_by_the_sdks_tags(package: Package) -> None:
    encode = package.module("encoders").encode_steps
    steps = [SimpleNamespace(type=ODD, id="a"), {"type": "done\tnow", "id": "b"}, None]
    made = encode(SimpleNamespace(steps=steps))
    assert [step.WhichOneof("step") for step in made.steps] == ["begun", "done"]
    models = package.module("models")
    assert models.Begun(id="x").type == ODD
    assert models.Done(id="x").type == "done\tnow"


def test_a_response_that_the_sdk_has_a_class_for_is_made_from_it(package: Package) -> None:
    """And not from a dict, which a type checker would ask for in its place."""
    responses, encoders = package.module("responses"), package.module("encoders")
    assert not hasattr(responses, "Classed") and hasattr(responses, "Unclassed")
    assert encoders.encode_classed.__annotations__["source"] == "Any"
    assert "responses.Unclassed" in encoders.encode_unclassed.__annotations__["source"]
    assert encoders.encode_classed(SimpleNamespace(id="x")).id == "x"


def test_two_arms_for_one_class_have_an_attribute_each(package: Package) -> None:
    encode = package.module("encoders").encode_twice
    begun = SimpleNamespace(type=ODD, id="x")
    assert encode(SimpleNamespace(first=None, second=begun)).WhichOneof("twice") == "second"
    assert encode({"first": begun}).WhichOneof("twice") == "first"


def test_two_choices_of_one_message_have_an_attribute_each(package: Package) -> None:
    two = {"left": {"type": ODD, "id": "l"}, "right": {"type": "done\tnow", "id": "r"}}
    made = package.module("encoders").encode_has_two({"two": two}).two
    assert (made.begun.id, made.done.id) == ("l", "r")


def test_a_class_that_keeps_its_arms_apart(package: Package) -> None:
    encode = package.module("encoders").encode_apart
    assert encode(SimpleNamespace(near=None, far=SimpleNamespace())).WhichOneof("apart") == "far"
    assert encode({"near": {}}).WhichOneof("apart") == "near"
    with pytest.raises(ValueError, match="twins.Apart.apart holds one arm, not 2"):
        encode({"near": {}, "far": {}})


def test_a_name_that_python_cannot_write(package: Package) -> None:
    encode = package.module("encoders").encode_plain
    odd = 'x"); import os; os._exit(3); ("'
    source = {"class": "1", "not a name": "2", odd: "3", "__hidden": "4", "e": "5"}
    made = encode(source)
    assert [made.text, made.b, made.c, made.d, made.e] == list("12345")
    holder = SimpleNamespace(**source)
    assert encode(holder) == made


WORDS: dict[str, dict[int, Any]] = {
    "twins.Mood": {0: None, 1: "good", 2: ODD},
    "twins.Size": {0: "SIZE_SMALL", 1: "SIZE_LARGE"},
}


def test_models_and_messages_come_back(package: Package) -> None:
    check(coders.coders(package, WORDS))


def check(found: Coders) -> None:
    for name, coder in found.by_name.items():
        few = settings(
            max_examples=40,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )

        @few
        @given(random_messages.models(found, name))
        def models(model: Any) -> None:
            assert coder.decode(coder.encode(model)) == model

        models()


def test_the_package_is_clean(package: Package, tmp_path: Path) -> None:
    assert generated_packages.mypy([package.folder], [package.out], tmp_path) == ""
    assert generated_packages.pyright([package.folder], [package.out], tmp_path / "pyright") == ""


@pytest.mark.parametrize("language", ["typescript", None])
def test_without_python_classes_names_are_the_protocols(
    language: str | None, tmp_path: Path
) -> None:
    """An annotation still gives a name: its first."""
    given_ = (VOCABULARY._replace(language=language),) if language else ()
    name = f"twins_{language or 'alone'}"
    found = generated(tmp_path, name, *given_)
    check(coders.coders(found))
    encoders = found.module("encoders")
    source: dict[str, Any] = {name: None for name in ("colour", "moods", "by_name", "word")}
    source |= {"words": "w", "mood": "MOOD_GOOD", "from": "f", "cause": "c", "sizes": []}
    assert encoders.encode_said(source).text == "w"
