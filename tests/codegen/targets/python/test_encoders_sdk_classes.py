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

from sdk_class_case import ODD, VOCABULARY, generated, speech


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    return generated(tmp_path_factory.mktemp("sdk_classes"), "sdk_classes", VOCABULARY)


def test_object_of_the_sdk_class(package: Package) -> None:
    encode = package.module("encoders").encode_said
    for source in (SimpleNamespace(**speech()), speech()):
        message = encode(source)
        assert (message.text, message.tone, message.cause) == ("hello", "low", "why")
        assert getattr(message, "from") == "here"
        assert (message.mood, message.last, list(message.moods)) == (1, 2, [1, 2, 0])
        assert dict(message.by_name) == {"a": 2, "b": 0}
        assert (message.size, list(message.sizes), message.word.mood) == (1, [1, 0], 2)
    assert encode(speech(mood="unheard", last=None)).mood == 0


def test_names_of_the_protocol(package: Package) -> None:
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


def test_optional_fields_of_the_class(package: Package) -> None:
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
def test_class_with_only_optional_fields_is_present(
    package: Package, arm: str, source: Any
) -> None:
    if arm == "timing" and isinstance(source, SimpleNamespace):
        source = SimpleNamespace(delay_seconds=None, total=None, notes=None)
    event = package.module("encoders").encode_event(arm, source)
    assert event.WhichOneof("event") == arm
    assert getattr(event, arm).ListFields() == []


def test_missing_literal_is_not_the_zero_value(package: Package) -> None:
    errors, encoders = package.module("errors"), package.module("encoders")
    for source in ({}, {"size": None}, SimpleNamespace(size=None)):
        with pytest.raises(errors.UnmappedValueError, match="sdk_classes.Size.*None"):
            encoders.encode_lax_size(source)
    with pytest.raises(AttributeError, match="'size'"):
        encoders.encode_lax_size(SimpleNamespace())
    assert encoders.encode_lax_size({"size": "SIZE_LARGE"}).size == 1


def test_override_of_a_class_with_only_optional_fields(tmp_path: Path) -> None:
    """The override reads attributes, and is called even if the source is empty."""
    (tmp_path / "hand.py").write_text(
        "def fill(source, to):\n    to.total = -1 if source.total is None else source.total\n\n\n"
        'OVERRIDES = {"Loose.total": fill}\n',
        encoding="utf-8",
    )
    generated_package = generated(tmp_path, "sdk_classes_override", VOCABULARY, overrides="hand.py")
    encode = generated_package.module("encoders").encode_loose
    assert [encode({}).total, encode({"total": 2.0}).total] == [-1.0, 2.0]
    source = SimpleNamespace(delay=1.0, total=3.0, notes=[], said=None)
    assert [encode(source).total, encode(source).delay] == [3.0, 1.0]


def test_arms_by_the_tags_of_the_sdk(package: Package) -> None:
    encode = package.module("encoders").encode_steps
    steps = [SimpleNamespace(type=ODD, id="a"), {"type": "done\tnow", "id": "b"}, None]
    message = encode(SimpleNamespace(steps=steps))
    assert [step.WhichOneof("step") for step in message.steps] == ["begun", "done"]
    models = package.module("models")
    assert models.Begun(id="x").type == ODD
    assert models.Done(id="x").type == "done\tnow"


def test_response_with_a_class_of_the_sdk(package: Package) -> None:
    responses, encoders = package.module("responses"), package.module("encoders")
    assert not hasattr(responses, "Classed") and hasattr(responses, "Unclassed")
    assert encoders.encode_classed.__annotations__["source"] == "Any"
    assert "responses.Unclassed" in encoders.encode_unclassed.__annotations__["source"]
    assert encoders.encode_classed(SimpleNamespace(id="x")).id == "x"


def test_two_arms_with_one_class(package: Package) -> None:
    encode = package.module("encoders").encode_twice
    begun = SimpleNamespace(type=ODD, id="x")
    assert encode(SimpleNamespace(first=None, second=begun)).WhichOneof("twice") == "second"
    assert encode({"first": begun}).WhichOneof("twice") == "first"


def test_two_oneofs_of_one_message(package: Package) -> None:
    two = {"left": {"type": ODD, "id": "l"}, "right": {"type": "done\tnow", "id": "r"}}
    message = package.module("encoders").encode_has_two({"two": two}).two
    assert (message.begun.id, message.done.id) == ("l", "r")


def test_class_with_a_field_for_each_arm(package: Package) -> None:
    encode = package.module("encoders").encode_apart
    assert encode(SimpleNamespace(near=None, far=SimpleNamespace())).WhichOneof("apart") == "far"
    assert encode({"near": {}}).WhichOneof("apart") == "near"
    with pytest.raises(ValueError, match="sdk_classes.Apart.apart holds one arm, not 2"):
        encode({"near": {}, "far": {}})


def test_names_that_are_not_identifiers(package: Package) -> None:
    encode = package.module("encoders").encode_plain
    odd = 'x"); import os; os._exit(3); ("'
    source = {"class": "1", "not a name": "2", odd: "3", "__hidden": "4", "e": "5"}
    message = encode(source)
    assert [message.text, message.b, message.c, message.d, message.e] == list("12345")
    holder = SimpleNamespace(**source)
    assert encode(holder) == message


LITERALS: dict[str, dict[int, Any]] = {
    "sdk_classes.Mood": {0: None, 1: "good", 2: ODD},
    "sdk_classes.Size": {0: "SIZE_SMALL", 1: "SIZE_LARGE"},
}


def test_models_round_trip(package: Package) -> None:
    check(coders.coders(package, LITERALS))


def check(package_coders: Coders) -> None:
    for name, coder in package_coders.by_name.items():
        few = settings(
            max_examples=40,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        )

        @few
        @given(random_messages.models(package_coders, name))
        def models(model: Any) -> None:
            assert coder.decode(coder.encode(model)) == model

        models()


def test_type_checkers_report_no_error(package: Package, tmp_path: Path) -> None:
    assert generated_packages.mypy([package.folder], [package.out], tmp_path) == ""
    assert generated_packages.pyright([package.folder], [package.out], tmp_path / "pyright") == ""


@pytest.mark.parametrize("language", ["typescript", None])
def test_without_python_classes(language: str | None, tmp_path: Path) -> None:
    """The names are those of the protocol, or the first name of an annotation."""
    given_ = (VOCABULARY._replace(language=language),) if language else ()
    name = f"sdk_classes_{language or 'alone'}"
    generated_package = generated(tmp_path, name, *given_)
    check(coders.coders(generated_package))
    encoders = generated_package.module("encoders")
    source: dict[str, Any] = {name: None for name in ("colour", "moods", "by_name", "word")}
    source |= {"words": "w", "mood": "MOOD_GOOD", "from": "f", "cause": "c", "sizes": []}
    assert encoders.encode_said(source).text == "w"
