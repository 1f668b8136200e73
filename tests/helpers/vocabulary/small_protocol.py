"""A small protocol and a handwritten vocabulary of an SDK that agrees with it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from sessiongen import parity, pipeline

from sessiongen.config import reader
from sessiongen.vocabulary import dump
from sessiongen.vocabulary.model import (
    Answer,
    Construction,
    Conversion,
    Driver,
    EnumFact,
    EventName,
    FieldFact,
    Forward,
    Host,
    Place,
    Reception,
    Record,
    Sending,
    Session,
    Vocabulary,
    LiteralValue,
)

PROTO = """syntax = "proto3";
package small;
import "sessiongen/annotations.proto";
enum End {
  option (sessiongen.unknown) = "END_UNKNOWN";
  END_UNKNOWN = 0;
  END_DONE = 1;
}
message Ended {
  End reason = 1;
  string detail = 2;
}
message Ask {
  string text = 1;
}
message Event {
  oneof event {
    Ended ended = 1 [(sessiongen.sdk_event) = "close"];
  }
}
message Request {
  string request_id = 1;
  oneof request {
    Ask ask = 2;
  }
}
message Answer {
  string text = 1;
}
message Response {
  string request_id = 1;
  oneof response {
    Answer ask = 2;
  }
}
"""
AT = Place("sdk/session.py", 7)
END = EnumFact("End", "enum", False, AT, (LiteralValue("done", "DONE", 8),))
RECORD = Record(
    "EndedEvent",
    "close",
    AT,
    (
        FieldFact("type", "str", False, AT),
        FieldFact("reason", "End", False, AT),
        FieldFact("detail", "str", False, AT),
    ),
)
HOST = Host(
    "Host",
    AT,
    AT,
    (
        Forward(
            "ended", "close", "Host._on_close", AT, AT, "EndedEvent", ("reason", "detail"), False
        ),
    ),
    (Answer("ask", "ask", ("text",), (), AT),),
)
DRIVER = Driver(
    "Driver",
    AT,
    None,
    None,
    (EventName("ended", AT),),
    (Reception("ended", "ended", AT),),
    (Sending("ask", "ask", AT),),
)
SDK = Vocabulary(
    "small-sdk",
    "python",
    "1",
    enums=(END,),
    records=(RECORD,),
    conversions=(
        Conversion(
            "Ended", "reason", "Host._on_close", AT, "ENDS", (("done", "END_DONE"),), "END_UNKNOWN"
        ),
    ),
    constructions=(
        Construction("Ended", "Host._on_close", False, AT, ("reason", "detail")),
        Construction("Ask", "Driver.ask", False, AT, ("text",)),
        Construction("Answer", "Host._ask", False, AT, ("text",)),
    ),
    session=Session("Session", AT, (EventName("close", AT),), (EventName("close", AT),)),
    host=HOST,
    driver=DRIVER,
)


Fact = TypeVar("Fact")


def replace(fact: Fact, **changes: Any) -> Fact:
    """Returns a fact with some of its parts changed."""
    changed: Fact = getattr(fact, "_replace")(**changes)
    return changed


class Small:
    """A folder with the protocol, its vocabularies and declared gaps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def compare(
        self,
        sdk: Vocabulary = SDK,
        gaps: list[tuple[str, str]] | None = None,
        proto: str = PROTO,
        others: tuple[Vocabulary, ...] = (),
        states: dict[str, str] | None = None,
        origins: dict[str, str] | None = None,
    ) -> parity.Parity:
        """Returns the parity of the protocol with an SDK.

        gaps: (difference id, reason) pairs to declare, in the state in which they are unless
            `states` gives another one.
        origins: the folder of each SDK whose sources are at hand.
        """
        if gaps and states is None:
            sections = self.compare(sdk, None, proto, others).sections
            states = {item.id: item.state for each in sections for item in each.findings()}
        (self.folder / "small.proto").write_text(proto)
        names: list[str] = []
        for item in (sdk, *others):
            names.append(f"sdk{len(names)}.json")
            (self.folder / names[-1]).write_bytes(dump(item))
        text = '[input]\nprotos = ["small.proto"]\n[output]\npackage = "small"\n'
        text += f"[sdks]\nvocabularies = {json.dumps(names)}\n"
        declared = "".join(
            f'[[gaps]]\nkind = "design"\nreason = "{reason}"\n[gaps.covers]\n'
            f"{json.dumps(difference)} = {json.dumps((states or {}).get(difference, 'gone'))}\n"
            for difference, reason in gaps or []
        )
        (self.folder / "sdk0.gaps.toml").write_text(declared)
        (self.folder / "codegen.toml").write_text(text)
        loaded = reader.load(self.folder / "codegen.toml")
        model = pipeline.model(loaded)
        return parity.compare(model.protocol, model.annotated, loaded, origins)


def difference_ids(result: parity.Parity) -> list[str]:
    """Returns the ids of all differences, declared or not, in the order of the matrix."""
    return [item.id for section in result.sections for item in section.findings()]
