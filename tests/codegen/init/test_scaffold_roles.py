"""`init` where roles cannot be inferred: the commented lines it writes, and its notes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import tomli
from sessiongen_command import PROTO, Outcome, Project, fresh, place_of

HEAD = 'syntax = "proto3";\npackage acme;\nmessage Nothing {}\n'
NAMED_OTHERWISE = f"""{HEAD}
message Command {{ string id = 1; oneof kind {{ Nothing start = 2; Nothing stop = 3; }} }}
message Reply {{ string id = 1; oneof kind {{ Nothing start = 2; Nothing stop = 3; }} }}
message Notice {{ oneof kind {{ Nothing tick = 1; }} }}
message Frame {{ oneof kind {{ Command command = 1; Reply reply = 2; Notice notice = 3; }} }}
"""
UNCLEAR = NAMED_OTHERWISE
for old, new in (("Command", "Ask"), ("Reply", "Tell"), ("Notice", "Fact")):
    UNCLEAR = UNCLEAR.replace(old, new).replace(old.lower(), new.lower())
SEVERAL_PAIRS = f"""{HEAD}
message ARequest {{ oneof kind {{ Nothing start = 2; }} }}
message BRequest {{ oneof kind {{ Nothing start = 2; Nothing stop = 3; }} }}
message AResponse {{ oneof kind {{ Nothing start = 2; }} }}
message BResponse {{ oneof kind {{ Nothing start = 2; Nothing stop = 3; }} }}
message Note {{ oneof kind {{ Nothing tick = 1; }} }}
"""


def uncomment(small_project: Project, *lines: str) -> None:
    """Removes the comment sign of lines of the configuration."""
    text = small_project.config.read_text(encoding="utf-8")
    for line in lines:
        assert text.count(f"\n# {line}\n") == 1, (line, text)
        text = text.replace(f"\n# {line}\n", f"\n{line}\n")
    small_project.config.write_text(text, encoding="utf-8")


def init(small_project: Project) -> Outcome:
    return small_project.invoke("init", "proto/small.proto")


def rules(outcome: Outcome) -> list[str]:
    return re.findall(r"(?:error|note)\[(SG\d+)\]", outcome.errors)


def test_every_role_is_told_at_once_with_its_candidates(tmp_path: Path) -> None:
    small_project = fresh(tmp_path, UNCLEAR)
    outcome = init(small_project)
    assert outcome.status == 2
    assert outcome.output.splitlines() == [
        "event: ?  (acme.Ask, acme.Tell, acme.Fact)",
        "request: ?  (acme.Ask, acme.Tell, acme.Fact)",
        "response: ?  (acme.Ask, acme.Tell, acme.Fact)",
        "wrote codegen.toml; now choose its roles, and run `sessiongen generate`",
    ]
    assert rules(outcome) == ["SG010"] * 3
    for role in ("event", "request", "response"):
        assert f"no message has the role {role}\n" in outcome.errors
    assert tomli.loads(small_project.config.read_text(encoding="utf-8"))["roles"] == {}


def test_the_lines_that_init_writes_lead_to_a_package(tmp_path: Path) -> None:
    small_project = fresh(tmp_path, UNCLEAR)
    init(small_project)
    assert rules(small_project.invoke("generate")) == ["SG010"] * 3
    uncomment(small_project, 'event = "acme.Fact"', 'request = "acme.Ask"')
    assert rules(small_project.invoke("generate")) == ["SG010"]
    uncomment(small_project, 'response = "acme.Tell"')
    outcome = small_project.invoke("generate")
    assert (outcome.status, outcome.errors) == (0, "")
    assert outcome.output.startswith(
        "roles:\n  envelope     acme.Frame\n  event        acme.Fact\n"
        "  request      acme.Ask\n  response     acme.Tell\n  correlation  id\n"
        "  error        -\n  timestamp    -\n"
    )


def test_other_names_for_the_roles_are_known(tmp_path: Path) -> None:
    small_project = fresh(tmp_path, NAMED_OTHERWISE)
    assert (init(small_project).status, init(small_project).status) == (0, 2)
    assert tomli.loads(small_project.config.read_text(encoding="utf-8"))["roles"] == {
        "envelope": "acme.Frame",
        "event": "acme.Notice",
        "request": "acme.Command",
        "response": "acme.Reply",
        "correlation": "id",
    }
    assert small_project.invoke("generate").errors == ""


def test_the_largest_request_with_its_response_is_taken(tmp_path: Path) -> None:
    small_project = fresh(tmp_path, SEVERAL_PAIRS)
    outcome = init(small_project)
    assert rules(outcome) == ["SG010"]
    uncomment(small_project, 'event = "acme.Note"')
    outcome = small_project.invoke("generate")
    assert "  request      acme.BRequest\n  response     acme.BResponse\n" in outcome.output


def test_requests_of_equal_size_are_a_choice(tmp_path: Path) -> None:
    small_project = fresh(tmp_path, SEVERAL_PAIRS.replace(" Nothing stop = 3;", ""))
    outcome = init(small_project)
    assert rules(outcome) == ["SG010", "SG011", "SG011", "SG011", "SG011"]
    uncomment(
        small_project,
        'event = "acme.Note"',
        'request = "acme.BRequest"',
        'response = "acme.BResponse"',
    )
    assert small_project.invoke("generate").status == 0


def test_unanswered_requests_are_listed_before_the_event_is_known(tmp_path: Path) -> None:
    proto = PROTO.replace("message Event {", "message Happening {").replace(
        "Event event", "Happening happening"
    )
    proto = proto.replace("// Is anybody there?", "Empty frobnicate = 9;").replace(
        "oneof response {", "oneof response { Empty outlook = 9;"
    )
    small_project = fresh(tmp_path, proto)
    outcome = init(small_project)
    assert sorted(rules(outcome)) == ["SG010", "SG014", "SG014"]
    assert "now choose its roles and name the missing answers" in outcome.output
    uncomment(
        small_project,
        'event = "small.Happening"',
        '"small.Request.frobnicate".response = "outlook"',
    )
    assert small_project.invoke("generate").status == 0


def test_request_with_an_annotated_response(tmp_path: Path) -> None:
    proto = PROTO.replace("// Is anybody there?", "Empty open = 8; Empty close = 9 [").replace(
        "Empty ping = 2;\n  }\n}\n\nmessage Response",
        '(sessiongen.response) = "ping"];\n    Empty ping = 2;\n  }\n}\n\nmessage Response',
    )
    proto = proto.replace(
        "package small;", 'package small;\nimport "sessiongen/annotations.proto";'
    )
    small_project = fresh(tmp_path, proto)
    assert rules(init(small_project)) == ["SG014"]
    text = small_project.config.read_text(encoding="utf-8")
    assert set(re.findall(r"# (.*)\.response = ", text)) == {'"small.Request.open"'}


def test_fields_that_may_play_a_role(tmp_path: Path) -> None:
    proto = PROTO.replace("  string request_id = 1;\n", "  string a = 8;\n  string b = 9;\n")
    small_project = fresh(tmp_path, proto.replace("message Envelope", "message Outer"))
    outcome = init(small_project)
    assert rules(outcome) == ["SG011", "SG011"]
    assert "correlation: ?  (a, b)\n" in outcome.output
    uncomment(small_project, 'correlation = "b"')
    assert small_project.invoke("generate").output.startswith(
        "roles:\n  envelope     small.Outer\n"
    )
    text = small_project.config.read_text(encoding="utf-8")
    small_project.config.write_text(text.replace('correlation = "b"', 'correlation = "a"'), "utf-8")
    assert "  correlation  a\n" in small_project.invoke("generate").output


def test_role_of_a_field_can_be_false(tmp_path: Path) -> None:
    proto = PROTO.replace("  string request_id = 1;\n", "  string a = 8;\n  string b = 9;\n")
    small_project = fresh(tmp_path, proto)
    init(small_project)
    uncomment(small_project, "correlation = false")
    outcome = small_project.invoke("generate")
    assert (outcome.status, outcome.errors) == (0, "")


def test_a_protocol_without_events(tmp_path: Path) -> None:
    proto = (
        PROTO[: PROTO.index("message Event {")]
        + PROTO[PROTO.index("message Request {") : PROTO.index("message Envelope {")]
    )
    small_project = fresh(tmp_path, proto)
    outcome = init(small_project)
    assert (outcome.status, outcome.errors) == (0, "")
    assert "event: -  (there are no events)\n" in outcome.output
    assert "timestamp" not in outcome.output
    assert tomli.loads(small_project.config.read_text(encoding="utf-8"))["roles"]["event"] is False
    assert small_project.invoke("generate").errors == ""


def test_a_protocol_of_events_alone(tmp_path: Path) -> None:
    small_project = fresh(tmp_path, PROTO[: PROTO.index("message Request {")])
    outcome = init(small_project)
    assert (outcome.status, outcome.errors) == (0, "")
    roles = tomli.loads(small_project.config.read_text(encoding="utf-8"))["roles"]
    assert roles == {"event": "small.Event", "request": False, "response": False}
    assert small_project.invoke("generate").errors == ""


@pytest.mark.parametrize("proto", ["", HEAD, 'syntax = "proto3"; enum E { A = 0; }'])
def test_a_file_that_is_no_protocol_leaves_no_configuration(proto: str, tmp_path: Path) -> None:
    small_project = fresh(tmp_path, proto)
    outcome = init(small_project)
    assert outcome.status == 2
    assert rules(outcome) == ["SG010"] * 3
    assert "no message has the role event: none has a oneof\n" in outcome.errors
    assert not small_project.config.exists()


def test_a_message_of_the_right_name_is_a_candidate_whatever_it_carries(tmp_path: Path) -> None:
    """A response with two oneofs, one of which holds the event that came meanwhile."""
    proto = PROTO.replace(
        "  oneof response {", "  oneof answer { Empty ping = 2; }\n  oneof meanwhile {"
    ).replace(
        "Empty ping = 2;\n  }\n}\n\nmessage Envelope",
        "Event event = 8;\n  }\n}\n\nmessage Envelope",
    )
    small_project = fresh(tmp_path, proto)
    outcome = init(small_project)
    assert (outcome.status, outcome.errors) == (0, "")
    assert 'response = "small.Response"\n' in small_project.config.read_text(encoding="utf-8")
    assert small_project.invoke("generate").status == 0


def test_many_candidates(tmp_path: Path) -> None:
    unions = [f"message M{n} {{ oneof k {{ Nothing a{n} = 1; }} }}\n" for n in range(30)]
    small_project = fresh(tmp_path, HEAD + "".join(unions))
    outcome = init(small_project)
    assert " and 21 more); if" in outcome.errors
    assert small_project.config.read_text(encoding="utf-8").count('# event = "') == 30


def test_requests_without_a_union(tmp_path: Path) -> None:
    """Messages of a service: each call has a request of its own, and none is a union."""
    calls = [f"message Get{n}Request {{}}\nmessage Get{n}Response {{}}\n" for n in range(12)]
    proto = HEAD + "".join(calls) + "message Event { oneof e { Nothing tick = 1; } }\n"
    small_project = fresh(tmp_path, proto)
    assert init(small_project).status == 0
    text = small_project.config.read_text(encoding="utf-8")
    small_project.config.write_text(text.replace("request = false\n", ""), encoding="utf-8")
    outcome = small_project.invoke("generate")
    assert "no message has the role request: acme.Get0Request has no oneof, " in outcome.errors
    assert "acme.Get7Request has no oneof and 4 more\n" in outcome.errors
    assert "the message needs a oneof with an arm for each kind of request\n" in outcome.errors


def test_the_command_to_run_names_the_configuration(tmp_path: Path) -> None:
    small_project = fresh(tmp_path)
    outcome = small_project.invoke("init", "--config", "gen.toml", "proto/small.proto")
    assert outcome.output.endswith(
        "wrote gen.toml; now run `sessiongen --config gen.toml generate`\n"
    )
    outcome = small_project.invoke("init", "--config", "my gen.toml", "proto/small.proto")
    assert "now run `sessiongen --config 'my gen.toml' generate`\n" in outcome.output


# notes


def test_missing_correlation_is_a_note(tmp_path: Path) -> None:
    proto = PROTO.replace("  string request_id = 1;\n", "  int64 id = 1;\n", 1).replace(
        "  string request_id = 1;\n", "  string id = 1;\n  bytes ref = 4;\n", 1
    )
    small_project = fresh(tmp_path, proto)
    outcome = init(small_project)
    # A protocol may well have none: that is no fault.
    assert outcome.status == 0
    line, column = place_of(proto, "message Response")
    assert outcome.errors.startswith(
        f"proto/small.proto:{line}:{column}: note[SG029]: "
        "small.Response has no field that says which small.Request it answers\n"
    )
    assert (
        "(small.Request has id (int); small.Response has id (string), ref (bytes))"
        in outcome.errors
    )
    assert "correlation: -  (no field says which request a response answers; " in outcome.output
    assert rules(small_project.invoke("generate")) == ["SG029"]
    # What is but a note has no place in a judgement.
    assert small_project.invoke("check", "--no-cache").errors == ""
    as_json = small_project.invoke("generate", "--no-cache", "--format", "json").records()
    assert [(item["rule"], item["severity"]) for item in as_json] == [("SG029", "note")]
    uncomment(small_project, "correlation = false")
    assert small_project.invoke("generate").errors == ""


def test_string_that_is_not_taken_for_the_error_text(tmp_path: Path) -> None:
    """An id that the response calls otherwise is not filled with the text of errors."""
    proto = PROTO.replace("  string request_id = 1;\n", "  string id = 1;\n", 1)
    small_project = fresh(tmp_path, proto)
    outcome = init(small_project)
    assert (outcome.status, rules(outcome)) == (0, ["SG029", "SG033"])
    assert "small.Response.request_id is not used as the error text\n" in outcome.errors
    uncomment(small_project, "error = false", "correlation = false")
    outcome = small_project.invoke("generate")
    assert outcome.errors == ""
    assert "  error        -\n" in outcome.output


@pytest.mark.parametrize("name", ["error", "error_text", "failure", "errorMessage", "lastErr"])
def test_error_field_found_by_its_name(name: str, tmp_path: Path) -> None:
    proto = PROTO.replace("message Response {\n", f"message Response {{\n  string {name} = 9;\n")
    small_project = fresh(tmp_path, proto)
    outcome = init(small_project)
    assert (outcome.status, outcome.errors) == (0, "")
    assert f'error = "{name}"\n' in small_project.config.read_text(encoding="utf-8")
