"""Parity: each kind of difference, on a small protocol and a small SDK.

In: a protocol and vocabularies made by hand, with one thing taken away at a time. Out:
the thing, the rule and the place of the finding, and what a declared gap does to it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sessiongen import config, parity, pipeline
from sessiongen.diagnostics import Diagnostic
from sessiongen.vocabulary import dump
from sessiongen.vocabulary.model import (
    Answer,
    Build,
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
    Word,
)

ROOT = Path(__file__).resolve().parents[2]
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
END = EnumFact("End", "enum", False, AT, (Word("done", "DONE", 8),))
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
    (Forward("ended", "close", "Host._on_close", AT, AT),),
    (Answer("ask", "ask", ("text",), AT),),
)
DRIVER = Driver(
    "Driver",
    AT,
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
    builds=(
        Build("Ended", "Host._on_close", False, AT, ("reason", "detail")),
        Build("Ask", "Driver.ask", False, AT, ("text",)),
        Build("Answer", "Host._ask", False, AT, ("text",)),
    ),
    session=Session("Session", AT, (EventName("close", AT),), (EventName("close", AT),)),
    host=HOST,
    driver=DRIVER,
)


class Small:
    """A folder with the protocol, one vocabulary and declared gaps."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def compare(
        self,
        sdk: Vocabulary = SDK,
        gaps: list[tuple[str, str, str]] | None = None,
        proto: str = PROTO,
    ) -> parity.Parity:
        (self.folder / "small.proto").write_text(proto)
        (self.folder / "sdk.json").write_bytes(dump(sdk))
        text = '[input]\nprotos = ["small.proto"]\n[output]\npackage = "small"\n'
        text += '[sdks]\nvocabularies = ["sdk.json"]\n'
        for name, thing, reason in gaps or []:
            text += f'[[sdks.gaps]]\nsdk = "{name}"\nthing = "{thing}"\nreason = "{reason}"\n'
        (self.folder / "codegen.toml").write_text(text)
        loaded = config.load(self.folder / "codegen.toml")
        model = pipeline.model(loaded)
        return parity.compare(model.protocol, model.annotated, loaded)


@pytest.fixture
def small(tmp_path: Path) -> Small:
    return Small(tmp_path)


def things(found: parity.Parity) -> list[str]:
    return [item.thing for section in found.sections for item in section.findings()]


def test_a_whole_sdk_has_no_findings(small: Small) -> None:
    found = small.compare()
    assert found.diagnostics == []
    assert things(found) == []


RENAMED = replace(RECORD, fields=tuple(item for item in RECORD.fields if item.name != "detail"))
LOST = replace(END, words=(*END.words, Word("lost", "LOST", 9)))
CASES = {
    "an SDK value that the protocol lacks": (
        replace(SDK, enums=(LOST,)),
        ("word End.lost", "SG050", 4, "sdk/session.py:9"),
    ),
    "a value that the SDK lacks": (
        replace(SDK, enums=(replace(END, words=(Word("gone", None, 8),)),)),
        ("value small.End.END_DONE", "SG050", 7, "sdk/session.py:7"),
    ),
    "an event that the host does not send": (
        replace(SDK, host=replace(HOST, forwards=())),
        ("event ended: host", "SG051", 18, "does not send it"),
    ),
    "an event whose handler nothing calls": (
        replace(SDK, host=replace(HOST, forwards=(replace(HOST.forwards[0], via=None),))),
        ("event ended: host", "SG051", 18, "nothing calls its Host._on_close"),
    ),
    "an event sent on another SDK event": (
        replace(SDK, host=replace(HOST, forwards=(replace(HOST.forwards[0], event="bye"),))),
        ("event ended: host", "SG051", 18, "on 'bye', not on 'close'"),
    ),
    "an event that the session never emits": (
        replace(SDK, session=Session("Session", AT, (EventName("close", AT),), ())),
        ("event ended: host", "SG051", 18, "never emits 'close'"),
    ),
    "an event that the driver drops": (
        replace(SDK, driver=replace(DRIVER, receives=())),
        ("event ended: driver", "SG051", 18, "drops it"),
    ),
    "an event that the driver renames": (
        replace(SDK, driver=replace(DRIVER, receives=(Reception("ended", "over", AT),))),
        ("event ended: driver", "SG051", 18, "calls it 'over'"),
    ),
    "an event that the driver's type leaves out": (
        replace(SDK, driver=replace(DRIVER, events=(), receives=(), by_name=AT)),
        ("event ended: driver", "SG051", 18, "event type leaves it out"),
    ),
    "an SDK event that no arm carries": (
        (
            replace(
                SDK,
                session=replace(SDK.session, events=(*SDK.session.events, EventName("hum", AT))),
            )
            if SDK.session
            else SDK
        ),
        ("sdk event hum", "SG051", 16, "no arm carries the event 'hum'"),
    ),
    "a request that the host does not answer": (
        replace(SDK, host=replace(HOST, answers=())),
        ("request ask: host", "SG052", 24, "does not answer it"),
    ),
    "a request answered with another arm": (
        replace(SDK, host=replace(HOST, answers=(replace(HOST.answers[0], response="nod"),))),
        ("request ask: host", "SG052", 24, "answers with 'nod', not 'ask'"),
    ),
    "a request that the driver cannot send": (
        replace(SDK, driver=replace(DRIVER, sends=())),
        ("request ask: driver", "SG052", 24, "cannot send it"),
    ),
    "a request field that the host ignores": (
        replace(SDK, host=replace(HOST, answers=(replace(HOST.answers[0], reads=()),))),
        ("request field ask.text: host", "SG052", 14, "never looks at it"),
    ),
    "a request field that the driver never fills": (
        replace(
            SDK, builds=(SDK.builds[0], SDK.builds[2], Build("Ask", "Driver.ask", False, AT, ()))
        ),
        ("request field ask.text: driver", "SG052", 14, "never fills it"),
    ),
    "a field that the host leaves out": (
        replace(SDK, builds=(*SDK.builds[1:], Build("Ended", "Host.x", False, AT, ("reason",)))),
        ("field Ended.detail", "SG053", 11, "leaves it out in Host.x"),
    ),
    "a field that the SDK's class lacks": (
        replace(
            SDK,
            records=(RENAMED,),
            builds=tuple(item for item in SDK.builds if item.message != "Ended"),
        ),
        ("field Ended.detail", "SG053", 11, "has no field for it in EndedEvent"),
    ),
    "a field of the SDK's class without a place": (
        replace(
            SDK,
            records=(replace(RECORD, fields=(*RECORD.fields, FieldFact("mood", "str", True, AT))),),
        ),
        ("sdk field EndedEvent.mood", "SG053", 9, "which the message lacks"),
    ),
    "a message that nothing makes": (
        replace(SDK, records=(), builds=tuple(i for i in SDK.builds if i.message != "Ended")),
        ("message Ended", "SG053", 9, "nothing that this message is made from"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_each_difference_is_found_and_can_be_declared(name: str, small: Small) -> None:
    sdk, (thing, rule, line, text) = CASES[name]
    found = small.compare(sdk)
    wanted = [item for item in found.diagnostics if f'thing = "{thing}"' in item.help]
    assert [(item.rule.value, item.span.line) for item in wanted] == [
        (rule, line)
    ], found.diagnostics
    assert text in wanted[0].message
    gaps = [("small-sdk", other, "known") for other in dict.fromkeys(things(found))]
    assert small.compare(sdk, gaps).diagnostics == []


def faults(found: parity.Parity) -> list[tuple[str, int, str]]:
    def row(item: Diagnostic) -> tuple[str, int, str]:
        return item.rule.value, item.span.line, item.message

    return [row(item) for item in found.diagnostics]


def test_a_gap_that_is_gone_is_a_finding(small: Small) -> None:
    found = small.compare(gaps=[("small-sdk", "event ended: host", "not yet")])
    assert faults(found) == [
        ("SG054", 7, "small-sdk: event ended: host: this gap no longer exists")
    ]


def test_a_gap_needs_a_reason_an_sdk_and_one_place(small: Small) -> None:
    sdk = replace(SDK, host=replace(HOST, forwards=()))
    thing = "event ended: host"
    assert faults(small.compare(sdk, [("small-sdk", thing, " ")])) == [
        ("SG054", 7, f"small-sdk: {thing}: this gap has no reason")
    ]
    twice = [("small-sdk", thing, "known"), ("small-sdk", thing, "known")]
    assert faults(small.compare(sdk, twice)) == [
        ("SG054", 11, f"small-sdk: {thing}: this gap is declared twice")
    ]
    other = [("small-sdk", thing, "known"), ("big-sdk", thing, "known")]
    assert faults(small.compare(sdk, other)) == [
        ("SG054", 11, f"big-sdk: {thing}: no vocabulary is of this SDK")
    ]


def test_a_rename_is_caught_and_not_taken_for_unknown(small: Small) -> None:
    renamed = PROTO.replace("END_DONE", "END_FINISHED")
    found = small.compare(proto=renamed)
    assert things(found) == ["value small.End.END_FINISHED", "word End.done"]
    annotated = renamed.replace(
        "END_FINISHED = 1", 'END_FINISHED = 1 [(sessiongen.sdk_value) = "done"]'
    )
    assert small.compare(proto=annotated).diagnostics == []


def test_a_new_value_fails_until_the_sdk_has_it(small: Small) -> None:
    proto = PROTO.replace("  END_DONE = 1;", "  END_DONE = 1;\n  END_GIVEN_AWAY = 2;")
    assert things(small.compare(proto=proto)) == ["value small.End.END_GIVEN_AWAY"]
    end = replace(END, words=(*END.words, Word("given-away", None, 9)))
    assert small.compare(replace(SDK, enums=(end,)), proto=proto).diagnostics == []


def test_the_text_table(small: Small) -> None:
    sdk = replace(SDK, driver=replace(DRIVER, sends=()))
    found = small.compare(sdk, [("small-sdk", "request ask: driver", "no method yet")])
    assert parity.render(found, "text").replace("\x1b[33m~\x1b[0m", "~") == (
        "enum small.End   small-sdk\n"
        "END_UNKNOWN = 0  (anything else)\n"
        "END_DONE = 1     done\n"
        "\n"
        "events  small-sdk host  small-sdk driver\n"
        "ended   close           ended\n"
        "\n"
        "requests  small-sdk host  small-sdk driver\n"
        "ask       ask             - ~\n"
        "\n"
        "request fields  small-sdk host  small-sdk driver\n"
        "ask.text        read            -\n"
        "\n"
        "message small.Ended  small-sdk\n"
        "reason               reason\n"
        "detail               detail\n"
        "\n"
        "message small.Answer  small-sdk\n"
        "text                  host\n"
        "\n"
        "small-sdk 1: 0 findings, 1 declared gaps (~)\n"
    )


def test_markdown_and_json(small: Small) -> None:
    sdk = replace(SDK, driver=replace(DRIVER, sends=()))
    found = small.compare(sdk, [("small-sdk", "request ask: driver", "no method yet")])
    markdown = parity.render(found, "markdown")
    assert "| requests | small-sdk host | small-sdk driver |\n| --- | --- | --- |" in markdown
    assert "- small-sdk: `request ask: driver`: no method yet" in markdown
    data = json.loads(parity.render(small.compare(sdk), "json"))
    [requests] = [item for item in data["sections"] if item["title"] == "requests"]
    assert requests["rows"][0]["cells"][1] == {
        "text": "-",
        "thing": "request ask: driver",
        "fault": "small-sdk: request ask: its driver cannot send it",
    }
    assert [item["rule"] for item in data["findings"]] == ["SG052"]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sessiongen", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


def test_this_repository_has_declared_every_gap() -> None:
    done = run("parity")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1].endswith(" 0 findings, 94 declared gaps (~)")
    assert "agents-js" in done.stdout and "CR_COMPLETED = 5" in done.stdout


def test_json_is_one_document_also_with_findings(small: Small) -> None:
    small.compare(replace(SDK, driver=replace(DRIVER, sends=())))
    done = run("--config", str(small.folder / "codegen.toml"), "parity", "--format", "json")
    assert done.returncode == 1
    assert len(json.loads(done.stdout)["findings"]) == 1
    github = run("--config", str(small.folder / "codegen.toml"), "parity", "--format", "github")
    assert github.stdout.startswith("::error file=") and "title=SG052" in github.stdout


def test_parity_loads_neither_templates_nor_parsers() -> None:
    code = (
        "import sys\nfrom sessiongen.cli import main\n"
        "try:\n    main(['-q', 'parity'])\nexcept SystemExit as done:\n    status = done.code\n"
        "heavy = {'jinja2', 'black', 'tree_sitter', 'livekit', 'mypy_protobuf'} & set(sys.modules)\n"
        "print(status, sorted(heavy))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0 []", done.stdout + done.stderr
