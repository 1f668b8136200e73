"""A protocol and a vocabulary of an SDK with unusual classes, written by hand."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import generated_packages
from generated_packages import Package

from sessiongen.vocabulary import dump
from sessiongen.vocabulary.model import EnumFact, FieldFact, Place, Record, Vocabulary, LiteralValue

ODD = 'it\'s "so"\\\n{é}'
PROTO = """\
syntax = "proto3";
package sdk_classes;
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

// A class of this name would hide the literals of Mood.
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

// The SDK's class has a field for each arm, although the arms are messages of different types.
message Apart {
  oneof apart {
    Near near = 1;
    Far far = 2;
  }
}

// Two arms with the same class, whose tag does not distinguish them.
message Twice {
  oneof twice {
    Begun first = 1;
    Begun second = 2;
  }
}

// Two oneofs and no other field: neither is transparent.
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
    """Returns a class; `name?` is an optional field, `name!` one that is not a string."""
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


def generated(root: Path, name: str, *vocabularies: Vocabulary, overrides: str = "") -> Package:
    """Generates the protocol with vocabularies, with a name for its proto and Python package."""
    proto = PROTO.replace("package sdk_classes;", f"package {name};")
    (root / f"{name}.proto").write_text(proto, encoding="utf-8")
    paths = []
    for index, item in enumerate(vocabularies):
        (root / f"{index}.json").write_bytes(dump(item))
        paths.append(f'"{index}.json"')
    rest = f'overrides = "{overrides}"\n' if overrides else ""
    rest += f"[sdks]\nvocabularies = [{', '.join(paths)}]\n" if paths else ""
    source = generated_packages.protos([root / f"{name}.proto"], [root])
    return generated_packages.generate(generated_packages.configured(root, name, source, rest=rest))


def speech(**changes: Any) -> dict[str, Any]:
    """Returns the fields of an object of the SDK's class Speech."""
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
