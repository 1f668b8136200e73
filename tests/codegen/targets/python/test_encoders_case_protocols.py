"""Property tests of encoders and decoders of every protocol in tests/cases.

Random messages and models must round-trip, and mappings must encode like objects.
"""

from __future__ import annotations

import dataclasses
import inspect
import time
from collections import UserDict
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType, SimpleNamespace
from typing import Any, get_type_hints

import black
import case_protocols
import coders
import filled_messages
import pytest
import random_messages
from black.mode import TargetVersion
from case_protocols import VALID
from coders import Coder, Coders
from hypothesis import HealthCheck, given, settings
from generated_packages import Package

Packages = dict[str, tuple[Package, Coders]]

TAGS = ("Circle", "Square", "Speck", "Leaf", "Dot", "Pair", "Chosen")
# Enough examples for each field to be set and unset; each run draws the same ones.
FEW = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """Generates a package for each case, all in one folder."""
    root = tmp_path_factory.mktemp("cases")
    generated = {name: case_protocols.make(name, root / "in", root / "out") for name in VALID}
    return {name: (item, coders.coders(item)) for name, item in generated.items()}


@pytest.mark.parametrize("name", VALID)
def test_messages_round_trip(packages: Packages, name: str) -> None:
    package_coders = packages[name][1]
    for full_name, coder in package_coders.by_name.items():

        @FEW
        @given(random_messages.messages(package_coders, full_name))
        def check(message: Any) -> None:
            model = coder.decode(message)
            assert coder.encode(model) == message
            filled = coder.message()
            coder.fill(model, filled)
            assert filled == message

        check()


@pytest.mark.parametrize("name", VALID)
def test_models_round_trip(packages: Packages, name: str) -> None:
    package_coders = packages[name][1]
    for full_name, coder in package_coders.by_name.items():

        @FEW
        @given(random_messages.models(package_coders, full_name))
        def check(model: Any) -> None:
            assert coder.decode(coder.encode(model)) == model

        check()


# ---------------------------------------------------------------------------------------
# Mappings.


@pytest.mark.parametrize("name", VALID)
def test_mappings_encode_like_objects(packages: Packages, name: str) -> None:
    package_coders = packages[name][1]
    for full_name, coder in package_coders.by_name.items():

        @FEW
        @given(random_messages.models(package_coders, full_name))
        def check(model: Any) -> None:
            message = coder.encode(model)
            for kind in (dict, UserDict, MappingProxyType):
                assert coder.encode(mapping(package_coders, coder, model, kind)) == message

        check()


def mapping(package_coders: Coders, coder: Coder, model: Any, kind: Callable[[Any], Any]) -> Any:
    """Returns a model as a mapping with the protocol's names, with its values as mappings too."""
    if model is None:
        return None
    if coder.bare:
        coder = next(item for item in package_coders.by_name.values() if type(model) is item.model)
    items = {}
    for member, field in coder.members():
        value = getattr(model, member)
        name = field.name if field is not None else member
        if field is None and member != "type":
            name = member.rstrip("_")
        items[name] = plain(package_coders, value, kind)
    # None may be left out for fields that can be absent.
    omitted = [name for name, value in items.items() if value is None and name in absent(coder)]
    return kind({name: value for name, value in items.items() if name not in omitted[::2]})


def absent(coder: Coder) -> set[str]:
    """Returns the fields that a mapping may lack: optional scalars, and the arms of a oneof."""
    real = [item for item in coder.message.DESCRIPTOR.oneofs if not filled_messages.synthetic(item)]
    return {
        field.name
        for field in coder.message.DESCRIPTOR.fields
        if field.has_presence and not field.is_required
        if field.message_type is None or field.containing_oneof in real
    }


def plain(package_coders: Coders, value: Any, kind: Callable[[Any], Any]) -> Any:
    if dataclasses.is_dataclass(value):
        holder = next(item for item in package_coders.by_name.values() if type(value) is item.model)
        return mapping(package_coders, holder, value, kind)
    if isinstance(value, tuple):
        return [plain(package_coders, item, kind) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(package_coders, item, kind) for key, item in value.items()}
    return value


# ---------------------------------------------------------------------------------------
# Events.


def event_encoder(package: Package) -> Callable[[str, Any], Any]:
    """Returns the encoder of events, the only one with a parameter `arm`."""
    [encode] = [
        item
        for name, item in vars(package.module("encoders")).items()
        if name.startswith("encode_") and list(inspect.signature(item).parameters)[0] == "arm"
    ]
    function: Callable[[str, Any], Any] = encode
    return function


@pytest.mark.parametrize("name", VALID)
def test_events_of_every_arm(packages: Packages, name: str) -> None:
    package, package_coders = packages[name]
    encode = event_encoder(package)
    event = get_type_hints(encode)["return"]
    stamp = VALID[name].facts.timestamp
    for arm in filled_messages.union(event).fields:
        payload = filled_messages.filled(event, arm)
        value = getattr(payload, arm.name)
        source = filled_messages.plain(value)
        if arm.message_type is not None and arm.message_type.full_name in package_coders.by_name:
            coder = package_coders.by_name[arm.message_type.full_name]
            source = coder.decode(value)
            # Encoders leave out elements of a list that have no arm.
            value = coder.encode(source)
        elif arm.enum_type is not None:
            source = enum_source(package, package_coders, arm, value)
        before = time.time()
        encoded = encode(arm.name, source)
        after = time.time()
        assert encoded.WhichOneof(arm.containing_oneof.name) == arm.name
        assert getattr(encoded, arm.name) == value
        set_fields = [item.name for item, _ in encoded.ListFields()]
        assert sorted(set_fields) == sorted([arm.name, *([stamp] if stamp else [])])
        # A payload with a Timestamp of that name gives the time of the event as well.
        if stamp and (name, arm.name) != ("payload_times", "stamped"):
            assert before - 1e-6 <= getattr(encoded, stamp).ToNanoseconds() / 1e9 <= after + 1e-6


def enum_source(package: Package, package_coders: Coders, arm: Any, value: int) -> Any:
    """Returns the source for an arm of an enum: the value's name, or its number."""
    if coders.is_well_known(arm.enum_type):
        return value
    return next(item.name for item in arm.enum_type.values if item.number == value)


def test_event_has_the_time_of_its_source(packages: Packages) -> None:
    package, package_coders = packages["encoder_choices"]
    encode = event_encoder(package)
    source = {"of": None, "created_at": 1_700_000_000.25}
    for form in (source, UserDict(source), SimpleNamespace(**source)):
        encoded = encode("negation", form)
        assert (encoded.created_at.seconds, encoded.created_at.nanos) == (
            1_700_000_000,
            250_000_000,
        )
    encoded = encode("negation", {"of": None, "created_at": None})
    assert abs(encoded.created_at.seconds - time.time()) < 60


@pytest.mark.parametrize(
    ("arm", "value"),
    [
        ("note", "yesterday"),
        ("count", 7),
        ("many", [1_700_000_000.25]),
        ("named", {"a": 1_700_000_000.25}),
        ("span", 12.5),
    ],
)
def test_created_at_that_is_not_a_time_is_not_the_time_of_the_event(
    packages: Packages, arm: str, value: Any
) -> None:
    package, _ = packages["payload_times"]
    before = time.time()
    event = event_encoder(package)(arm, {"created_at": value})
    assert event.WhichOneof("event") == arm
    assert before - 1 < event.created_at.ToNanoseconds() / 1e9 < before + 60


def test_created_at_of_the_payload_is_the_time_of_the_event(packages: Packages) -> None:
    package, _ = packages["payload_times"]
    encode = event_encoder(package)
    for arm in ("stamped", "bare"):
        event = encode(arm, {"created_at": 1_700_000_000.25})
        assert (event.created_at.seconds, event.created_at.nanos) == (1_700_000_000, 250_000_000)
    stamped = encode("stamped", {"created_at": 1_700_000_000.25}).stamped
    assert (stamped.created_at.seconds, stamped.created_at.nanos) == (1_700_000_000, 250_000_000)


def test_scalar_payload_has_no_time(packages: Packages) -> None:
    """`timestamp` is a method of a datetime, and can be a key of a JSON object."""
    package, package_coders = packages["encoder_words"]
    encode = event_encoder(package)
    data = encode("data", {"timestamp": "yesterday"})
    assert data.data["timestamp"] == "yesterday"
    assert abs(data.timestamp.seconds - time.time()) < 60


def test_docs_list_the_fields_that_stay_unset(packages: Packages) -> None:
    docs = event_encoder(packages["encoder_words"][0]).__doc__ or ""
    assert docs.strip().endswith("Fields that stay unset: id, labels.")
    assert "unset" not in (event_encoder(packages["encoder_choices"][0]).__doc__ or "")


# ---------------------------------------------------------------------------------------
# Which functions exist, and their layout.


def sent_messages(package: Package) -> Iterator[str]:
    """Yields the protocol's own messages that events and responses contain, at any depth."""
    encode = event_encoder(package)
    answer = get_type_hints(package.module("requests").answer)["return"]
    todo = [
        arm
        for role in (get_type_hints(encode)["return"], answer)
        for arm in filled_messages.union(role).fields
    ]
    seen = set()
    while todo:
        message_type = coders.element(todo.pop()).message_type
        if (
            message_type is not None
            and not coders.is_well_known(message_type)
            and message_type.full_name not in seen
        ):
            seen.add(message_type.full_name)
            todo += message_type.fields
            yield message_type.full_name


@pytest.mark.parametrize("name", VALID)
def test_every_sent_message_has_an_encoder_a_model_and_a_decoder(
    packages: Packages, name: str
) -> None:
    package, package_coders = packages[name]
    assert set(sent_messages(package)) == set(package_coders.by_name)
    parts = {
        module: {
            item.removeprefix(start)
            for item in vars(package.module(module))
            if item.startswith(start)
        }
        for module, start in (("encoders", "encode_"), ("decoders", "decode_"))
    }
    [event] = [
        item.removeprefix("encode_")
        for item, value in vars(package.module("encoders")).items()
        if value is event_encoder(package)
    ]
    assert parts["encoders"] - parts["decoders"] == {event}
    assert len(parts["decoders"]) == len(package_coders.by_name)


@pytest.mark.parametrize("name", VALID)
def test_layout_equals_that_of_black(packages: Packages, name: str) -> None:
    mode = black.Mode(line_length=100, target_versions={TargetVersion.PY310})
    files = [path.name for path in packages[name][0].folder.glob("*.py")]
    for file in (item for item in files if not item.endswith("_pb2.py")):
        text = packages[name][0].text(file)
        assert black.format_str(text, mode=mode) == text


def test_reserved_names(packages: Packages) -> None:
    """Keywords and names that models.py uses get an underscore, `__x` a letter, and names that
    differ only in case the package."""
    package, package_coders = packages["encoder_words"]
    models = {
        name
        for name, item in vars(package.module("models")).items()
        if dataclasses.is_dataclass(item)
    }
    assert {"dataclass_", "Union_", "HasNone", "models", "Kinds", "MoodLiteral"} <= models
    assert {"trap_encoder_words_type", "trap_encoder_words___Type"} <= models
    union = [item.name for item in dataclasses.fields(package.module("models").Union_)]
    assert {"from_", "class_", "def_", "f__x", "f__more", "_items", "type", "source"} <= set(union)
    hints = get_type_hints(package.module("models").HasNone)
    assert hints["HasNone_"] == package.module("models").HasNone | None
    encoders = vars(package.module("encoders"))
    assert {"encode_event", "encode_trap_encoder_words_event"} <= set(encoders)
    assert "encode_event_" in vars(packages["loops"][0].module("encoders"))


def test_every_form_of_oneof(packages: Packages) -> None:
    """The expected forms were written by hand."""
    models = packages["encoder_choices"][0].module("models")
    assert {"Shape", "Undocumented", "Expression"} == {
        name
        for name in ("Shape", "Undocumented", "Expression", "Pair", "Mixed", "Chosen")
        if not isinstance(getattr(models, name), type)
    }
    names = [item.name for item in dataclasses.fields(models.Mixed)]
    assert names[:9] == ["pair", "text", "nothing", "at", "data", "any", "color", "raw", "second"]
    assert [item.name for item in dataclasses.fields(models.Pair)] == ["left", "right", "id"]
    tags = {name: getattr(models, name).__dataclass_fields__.get("type") for name in TAGS}
    assert {name: item.default for name, item in tags.items() if item is not None} == {
        "Circle": "circle",
        "Square": "square",
        "Speck": "speck",
        "Leaf": "leaf",
    }


def paint(**changed: Any) -> dict[str, Any]:
    names = ("coats", "shade", "quote", "raw", "far", "on", "frame")
    return {"name": "red", **dict.fromkeys(names), "layer": (), "packed": (), **changed}


def test_none_for_a_required_field_is_refused(
    packages: Packages,
) -> None:
    encode = packages["proto2"][0].module("encoders").encode_paint
    assert encode(paint()).IsInitialized()
    with pytest.raises(TypeError, match=r"trap\.proto2\.Paint\.name is required"):
        encode(paint(name=None))


@pytest.mark.parametrize("value", ["12", b"12", bytearray(b"12")])
def test_text_for_a_repeated_field_is_refused(packages: Packages, value: Any) -> None:
    encode = packages["proto2"][0].module("encoders").encode_paint
    assert list(encode(paint(packed=range(2))).packed) == [0, 1]
    with pytest.raises(TypeError, match="a repeated field takes a list"):
        encode(paint(packed=value))
