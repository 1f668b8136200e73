"""The matching rule of enums, and the generated functions compared with a published SDK."""

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


@pytest.mark.parametrize(("word", "number", "name"), [(k, *v) for k, v in CLOSE_REASONS.items()])
def test_close_reason(word: str, number: int, name: str) -> None:
    assert enums.close_reason_to_proto(word) == number
    assert enums.close_reason_from_proto(pb.CloseReason.ValueType(number)) == word
    assert enums.close_reason_name(pb.CloseReason.ValueType(number)) == name
    assert enums.close_reason_from_name(name) == number


def test_members_of_the_real_enums_are_words() -> None:
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


def test_both_names_of_five_are_read_and_the_published_one_is_written() -> None:
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
def test_literals_are_total(literal: object, function: str, pairs: dict[str, int]) -> None:
    assert set(get_args(literal)) == set(pairs)
    to_proto = getattr(enums, f"{function}_to_proto")
    from_proto = getattr(enums, f"{function}_from_proto")
    assert {word: to_proto(word) for word in pairs} == pairs
    assert {from_proto(number): number for number in pairs.values()} == pairs


def test_a_zero_that_means_something_is_never_a_default() -> None:
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
        self, enum: str, words: list[str], name: str = "Mood", form: str = "literal"
    ) -> ModuleType:
        """Return the generated enums module."""
        self.count += 1
        package = f"small_{self.folder.name.replace('-', '_')}_{self.count}"
        place = Place("sdk/moods.py", 3)
        fact = EnumFact(
            name, form, False, place, tuple(LiteralValue(word, None, 3) for word in words)
        )
        vocabulary = Vocabulary("small-sdk", "python", "1", enums=(fact,))
        (self.folder / "sdk.json").write_bytes(dump(vocabulary))
        # One proto package a call: Python's descriptor pool never forgets a name.
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
    made = small.generate("enum Mood { MOOD_GOOD = 0; MOOD_SO_SO = 1; }", ["good", "so-so"])
    assert made.mood_to_proto("so-so") == 1
    assert made.mood_from_proto(1) == "so-so"
    made = small.generate("enum Mood { GOOD = 0; BAD = 1; }", ["Good", "BAD"])
    assert [made.mood_to_proto(word) for word in ("Good", "BAD")] == [0, 1]
    made = small.generate("enum Mood { M_1080P = 0; M_4K = 1; }", ["4k", "1080p"])
    assert [made.mood_to_proto(word) for word in ("4k", "1080p")] == [1, 0]


def test_of_two_names_the_first_is_written_and_both_are_read(small: Small) -> None:
    enum = """enum Mood {
      option allow_alias = true;
      M_GOOD = 0;
      M_DONE = 1;
      M_TASK_DONE = 1;
    }"""
    for word in ("done", "task_done"):
        made = small.generate(enum, ["good", word])
        assert (made.mood_to_proto(word), made.mood_from_proto(1)) == (1, word)
        assert made.mood_name(1) == "M_DONE"
        assert made.mood_from_name("M_DONE") == made.mood_from_name("M_TASK_DONE") == 1


def test_second_word_of_a_value_is_not_mapped(small: Small) -> None:
    made = small.generate("enum Mood { M_GOOD = 0; M_SO_SO = 1; }", ["good", "so-so", "so_so"])
    assert made.mood_from_proto(1) == "so-so"
    with pytest.raises(ValueError, match="'so_so'"):
        made.mood_to_proto("so_so")


def test_an_annotation_names_the_twin_and_the_word(small: Small) -> None:
    enum = """enum Mood {
      option (sessiongen.sdk_enum) = "Day.mood";
      M_GOOD = 0 [(sessiongen.sdk_value) = "fine"];
      M_BAD = 1;
    }"""
    made = small.generate(enum, ["fine", "bad"], name="Day.mood", form="field")
    assert [made.mood_to_proto(word) for word in ("fine", "bad")] == [0, 1]
    with pytest.raises(ValueError, match="'good'"):
        made.mood_to_proto("good")


def test_a_str_enum_without_fallback_raises(small: Small) -> None:
    class Mood(str, Enum):
        GOOD = "good"
        NEW = "new"

    made = small.generate("enum Mood { M_GOOD = 0; M_BAD = 1; }", ["good", "bad"], form="enum")
    assert made.mood_to_proto(Mood.GOOD) == 0
    with pytest.raises(ValueError, match="Mood has no counterpart of"):
        made.mood_to_proto(Mood.NEW)


def test_what_is_not_known_is_the_value_that_the_enum_declares_for_it(small: Small) -> None:
    enum = """enum Mood {
      option (sessiongen.unknown) = "M_BAD";
      M_GOOD = 0;
      M_BAD = 1;
    }"""
    made = small.generate(enum, ["good"])
    assert [made.mood_to_proto(word) for word in ("good", "dreaming", None)] == [0, 1, 1]
    assert [made.mood_from_proto(number) for number in (0, 1, 7)] == ["good", None, None]
    assert (made.mood_name(7), made.mood_from_name("M_NEW")) == ("M_BAD", 1)


@pytest.mark.parametrize(
    ("form", "option", "accepted"),
    [
        ("literal", "", "MoodLiteral"),
        # A type checker takes no member of a str Enum for one of a Literal's words.
        ("enum", "", "str"),
        ("literal", 'option (sessiongen.unknown) = "M_BAD";', "str | None"),
    ],
)
def test_what_a_type_checker_lets_through(
    small: Small, form: str, option: str, accepted: str
) -> None:
    made = small.generate(f"enum Mood {{ {option} M_GOOD = 0; M_BAD = 1; }}", ["good"], form=form)
    assert made.mood_to_proto.__annotations__["value"] == accepted


def test_without_a_twin_there_are_names_alone(small: Small) -> None:
    made = small.generate("enum Mood { M_GOOD = 0; M_BAD = 1; }", ["x"], name="Weather")
    assert made.mood_name(1) == "M_BAD"
    assert not hasattr(made, "mood_to_proto")


def test_values_that_fall_together_are_refused(small: Small) -> None:
    enum = 'enum Mood {\n  M_GOOD = 0;\n  M_BAD = 1 [(sessiongen.sdk_value) = "Good"];\n}'
    with pytest.raises(InputError) as refused:
        small.generate(enum, ["good"])
    [fault] = refused.value.diagnostics
    assert (fault.rule.value, fault.span.line, fault.span.column) == ("SG027", 7, 3)
    assert "M_BAD and M_GOOD" in fault.message


def test_a_fallback_that_is_no_value_is_refused(small: Small) -> None:
    enum = 'enum Mood {\n  option (sessiongen.unknown) = "M_UGLY";\n  M_GOOD = 0;\n  M_BAD = 1;\n}'
    with pytest.raises(InputError) as refused:
        small.generate(enum, ["good"])
    [fault] = refused.value.diagnostics
    assert (fault.rule.value, fault.span.line) == ("SG015", 5)
    assert "no value 'M_UGLY'" in fault.message
