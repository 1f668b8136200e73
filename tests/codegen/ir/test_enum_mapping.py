"""Tests of matching enums, and of the generated functions against a published SDK."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import enums
from agent_session_protocol.errors import UnmappedValueError
from livekit.agents import llm
from livekit.agents.voice import amd, events

from sessiongen.config import reader

from sessiongen.generate import generate
from sessiongen.diagnostics import InputError
from sessiongen.vocabulary import dump
from sessiongen.vocabulary.model import EnumFact, Place, Vocabulary, LiteralValue

CLOSE_REASONS = {
    "error": (1, "CR_ERROR"),
    "job_shutdown": (2, "CR_JOB_SHUTDOWN"),
    "participant_disconnected": (3, "CR_PARTICIPANT_DISCONNECTED"),
    "user_initiated": (4, "CR_USER_INITIATED"),
    "task_completed": (5, "CR_COMPLETED"),
}


@pytest.mark.parametrize(("literal", "number", "name"), [(k, *v) for k, v in CLOSE_REASONS.items()])
def test_close_reason(literal: str, number: int, name: str) -> None:
    assert enums.close_reason_to_proto(literal) == number
    assert enums.close_reason_from_proto(pb.CloseReason.ValueType(number)) == literal
    assert enums.close_reason_name(pb.CloseReason.ValueType(number)) == name
    assert enums.close_reason_from_name(name) == number


def test_members_of_the_sdk_enums_are_literals() -> None:
    assert {item.value for item in events.CloseReason} == set(CLOSE_REASONS)
    for reason in events.CloseReason:
        assert enums.close_reason_to_proto(reason) == CLOSE_REASONS[reason.value][0]
    categories = {
        amd.AMDCategory.HUMAN: pb.AMD_HUMAN,
        amd.AMDCategory.MACHINE_IVR: pb.AMD_MACHINE_IVR,
        amd.AMDCategory.MACHINE_VM: pb.AMD_MACHINE_VM,
        amd.AMDCategory.MACHINE_UNAVAILABLE: pb.AMD_MACHINE_UNAVAILABLE,
        amd.AMDCategory.UNCERTAIN: pb.AMD_UNCERTAIN,
    }
    assert set(categories) == set(amd.AMDCategory)
    for category, value in categories.items():
        assert enums.amd_category_to_proto(category) == value


def test_a_missing_or_custom_reason_is_unknown() -> None:
    assert enums.close_reason_to_proto(None) == pb.CR_UNKNOWN
    assert enums.close_reason_to_proto("we are closing early today") == pb.CR_UNKNOWN
    assert enums.close_reason_from_proto(pb.CR_UNKNOWN) is None
    assert enums.close_reason_from_proto(pb.CloseReason.ValueType(99)) is None
    assert enums.close_reason_name(pb.CloseReason.ValueType(99)) == "CR_UNKNOWN"
    assert enums.close_reason_from_name("CR_FROM_THE_FUTURE") == pb.CR_UNKNOWN


def test_aliases_are_read_and_the_first_one_is_written() -> None:
    assert enums.close_reason_from_name("CR_TASK_COMPLETED") == 5
    assert enums.close_reason_from_name("CR_COMPLETED") == 5
    assert enums.close_reason_name(pb.CR_TASK_COMPLETED) == "CR_COMPLETED"


def test_hyphens_are_kept() -> None:
    assert enums.amd_category_from_proto(pb.AMD_MACHINE_IVR) == "machine-ivr"
    assert enums.amd_category_to_proto("machine-ivr") == pb.AMD_MACHINE_IVR
    assert enums.amd_category_to_proto("machine_ivr") == pb.AMD_UNKNOWN


@pytest.mark.parametrize(
    ("literal", "function", "pairs"),
    [
        (
            events.AgentState,
            "agent_state",
            {"initializing": 0, "idle": 1, "listening": 2, "thinking": 3, "speaking": 4},
        ),
        (events.UserState, "user_state", {"speaking": 0, "listening": 1, "away": 2}),
        (llm.ChatRole, "chat_role", {"developer": 0, "system": 1, "user": 2, "assistant": 3}),
    ],
)
def test_every_literal_is_mapped(literal: object, function: str, pairs: dict[str, int]) -> None:
    assert set(get_args(literal)) == set(pairs)
    to_proto = getattr(enums, f"{function}_to_proto")
    from_proto = getattr(enums, f"{function}_from_proto")
    assert {literal: to_proto(literal) for literal in pairs} == pairs
    assert {from_proto(number): number for number in pairs.values()} == pairs


def test_zero_with_a_meaning_is_not_a_default() -> None:
    functions: dict[str, Callable[[Any], int]] = {
        "agent_session.UserState": enums.user_state_to_proto,
        "agent_session.ChatRole": enums.chat_role_to_proto,
        "agent_session.AgentState": enums.agent_state_to_proto,
    }
    for full_name, function in functions.items():
        with pytest.raises(
            UnmappedValueError, match=f"{full_name} has no counterpart of 'dreaming'"
        ):
            function("dreaming")
    with pytest.raises(UnmappedValueError) as raised:
        enums.user_state_from_proto(pb.UserState.ValueType(7))
    assert (raised.value.enum, raised.value.value) == ("agent_session.UserState", 7)


def test_a_proto_value_that_the_sdk_lacks() -> None:
    assert enums.tool_call_status_to_proto("done") == pb.TC_DONE
    with pytest.raises(UnmappedValueError, match="ToolCallStatus has no counterpart of 0"):
        enums.tool_call_status_from_proto(pb.TC_RUNNING)
    assert enums.tool_call_status_name(pb.TC_RUNNING) == "TC_RUNNING"


PROTO = """syntax = "proto3";
package small;
import "sessiongen/annotations.proto";
message Empty {{}}
{enum}
message Event {{ oneof event {{ Empty tick = 1; }} Mood mood = 9; }}
message Request {{ string request_id = 1; oneof request {{ Empty ping = 2; }} }}
message Response {{ string request_id = 1; oneof response {{ Empty ping = 2; }} }}
"""


class Small:
    """A protocol with one enum, `Mood`, and a Python vocabulary for it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0

    def generate(
        self, enum: str, literals: list[str], name: str = "Mood", form: str = "literal"
    ) -> ModuleType:
        """Returns the generated enums module."""
        self.count += 1
        package = f"small_{self.folder.name.replace('-', '_')}_{self.count}"
        place = Place("sdk/moods.py", 3)
        fact = EnumFact(
            name, form, False, place, tuple(LiteralValue(literal, None, 3) for literal in literals)
        )
        vocabulary = Vocabulary("small-sdk", "python", "1", enums=(fact,))
        (self.folder / "sdk.json").write_bytes(dump(vocabulary))
        # Each call uses another proto package, as Python's descriptor pool keeps all names.
        text = PROTO.format(enum=enum).replace("package small;", f"package {package};")
        (self.folder / f"{package}.proto").write_text(text)
        (self.folder / "codegen.toml").write_text(
            f'[input]\nprotos = ["{package}.proto"]\n[output]\npath = "out"\npackage = "{package}"\n'
            '[sdks]\nvocabularies = ["sdk.json"]\n'
        )
        generate(reader.load(self.folder / "codegen.toml"), use_cache=False)
        return importlib.import_module(f"{package}.enums")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Small:
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path / "out")])
    return Small(tmp_path)


def test_prefixes_and_spellings(small: Small) -> None:
    module = small.generate("enum Mood { MOOD_GOOD = 0; MOOD_SO_SO = 1; }", ["good", "so-so"])
    assert module.mood_to_proto("so-so") == 1
    assert module.mood_from_proto(1) == "so-so"
    module = small.generate("enum Mood { GOOD = 0; BAD = 1; }", ["Good", "BAD"])
    assert [module.mood_to_proto(literal) for literal in ("Good", "BAD")] == [0, 1]
    module = small.generate("enum Mood { M_1080P = 0; M_4K = 1; }", ["4k", "1080p"])
    assert [module.mood_to_proto(literal) for literal in ("4k", "1080p")] == [1, 0]


def test_two_names_of_one_value(small: Small) -> None:
    enum = """enum Mood {
      option allow_alias = true;
      M_GOOD = 0;
      M_DONE = 1;
      M_TASK_DONE = 1;
    }"""
    for literal in ("done", "task_done"):
        module = small.generate(enum, ["good", literal])
        assert (module.mood_to_proto(literal), module.mood_from_proto(1)) == (1, literal)
        assert module.mood_name(1) == "M_DONE"
        assert module.mood_from_name("M_DONE") == module.mood_from_name("M_TASK_DONE") == 1


def test_second_literal_of_a_value_is_not_mapped(small: Small) -> None:
    module = small.generate("enum Mood { M_GOOD = 0; M_SO_SO = 1; }", ["good", "so-so", "so_so"])
    assert module.mood_from_proto(1) == "so-so"
    with pytest.raises(ValueError, match="'so_so'"):
        module.mood_to_proto("so_so")


def test_annotations_of_enum_and_value(small: Small) -> None:
    enum = """enum Mood {
      option (sessiongen.sdk_enum) = "Day.mood";
      M_GOOD = 0 [(sessiongen.sdk_value) = "fine"];
      M_BAD = 1;
    }"""
    module = small.generate(enum, ["fine", "bad"], name="Day.mood", form="field")
    assert [module.mood_to_proto(literal) for literal in ("fine", "bad")] == [0, 1]
    with pytest.raises(ValueError, match="'good'"):
        module.mood_to_proto("good")


def test_a_str_enum_without_fallback_raises(small: Small) -> None:
    class Mood(str, Enum):
        GOOD = "good"
        NEW = "new"

    module = small.generate("enum Mood { M_GOOD = 0; M_BAD = 1; }", ["good", "bad"], form="enum")
    assert module.mood_to_proto(Mood.GOOD) == 0
    with pytest.raises(ValueError, match="Mood has no counterpart of"):
        module.mood_to_proto(Mood.NEW)


def test_unknown_literal_is_the_declared_value(small: Small) -> None:
    enum = """enum Mood {
      option (sessiongen.unknown) = "M_BAD";
      M_GOOD = 0;
      M_BAD = 1;
    }"""
    module = small.generate(enum, ["good"])
    assert [module.mood_to_proto(literal) for literal in ("good", "dreaming", None)] == [0, 1, 1]
    assert [module.mood_from_proto(number) for number in (0, 1, 7)] == ["good", None, None]
    assert (module.mood_name(7), module.mood_from_name("M_NEW")) == ("M_BAD", 1)


@pytest.mark.parametrize(
    ("form", "option", "accepted"),
    [
        ("literal", "", "MoodLiteral | UnmappedValue"),
        # For a type checker, a member of a str Enum is not one of the strings of a Literal.
        ("enum", "", "str | UnmappedValue"),
        ("literal", 'option (sessiongen.unknown) = "M_BAD";', "str | None"),
    ],
)
def test_accepted_types(small: Small, form: str, option: str, accepted: str) -> None:
    module = small.generate(f"enum Mood {{ {option} M_GOOD = 0; M_BAD = 1; }}", ["good"], form=form)
    assert module.mood_to_proto.__annotations__["value"] == accepted


def test_enum_without_an_sdk_enum(small: Small) -> None:
    module = small.generate("enum Mood { M_GOOD = 0; M_BAD = 1; }", ["x"], name="Weather")
    assert module.mood_name(1) == "M_BAD"
    assert not hasattr(module, "mood_to_proto")


def test_values_with_the_same_literal(small: Small) -> None:
    enum = 'enum Mood {\n  M_GOOD = 0;\n  M_BAD = 1 [(sessiongen.sdk_value) = "Good"];\n}'
    with pytest.raises(InputError) as refused:
        small.generate(enum, ["good"])
    [fault] = refused.value.diagnostics
    assert (fault.rule.value, fault.span.line, fault.span.column) == ("SG027", 7, 3)
    assert "M_BAD and M_GOOD" in fault.message


def test_unknown_value_that_does_not_exist(small: Small) -> None:
    enum = 'enum Mood {\n  option (sessiongen.unknown) = "M_UGLY";\n  M_GOOD = 0;\n  M_BAD = 1;\n}'
    with pytest.raises(InputError) as refused:
        small.generate(enum, ["good"])
    [fault] = refused.value.diagnostics
    assert (fault.rule.value, fault.span.line) == ("SG015", 5)
    assert "no value 'M_UGLY'" in fault.message
