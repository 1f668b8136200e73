"""What `init` proposes for protocols that do not follow the naming conventions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import tomli
from sessiongen_command import Project, fresh

HEAD = 'syntax = "proto3";\npackage acme;\nmessage Nothing {}\n'


def written(small_project: Project) -> dict[str, Any]:
    """Returns the roles that `init` wrote; `generate` must take the file as it is."""
    outcome = small_project.invoke("init", "proto/small.proto")
    assert outcome.status == 0, outcome.errors
    assert small_project.invoke("generate").status == 0
    data = tomli.loads(small_project.config.read_text(encoding="utf-8"))
    annotations = {
        key.rpartition(".")[2]: value["response"]
        for key, value in data.get("annotations", {}).items()
    }
    roles = {key: strip(value) for key, value in data["roles"].items()}
    return {**roles, "answers": annotations}


def strip(value: Any) -> Any:
    return value.removeprefix("acme.") if isinstance(value, str) else value


CASES = {
    # One union carries requests and responses, as old protocols do.
    "one message": (
        """message Message { oneof sum {
          Nothing key_request = 1; Nothing key_response = 2;
          Nothing sign_vote_request = 3; Nothing signed_vote_response = 4; } }""",
        {
            "event": False,
            "request": "Message",
            "response": "Message",
            "requests": "*_request",
            "responses": "*_response",
            "answers": {"sign_vote_request": "signed_vote_response"},
        },
    ),
    "one message with events": (
        """message Message { oneof sum {
          Nothing key_request = 1; Nothing key_response = 2; Nothing connected = 3; } }""",
        {
            "event": "Message",
            "request": "Message",
            "response": "Message",
            "requests": "*_request",
            "responses": "*_response",
            "answers": {},
        },
    ),
    # `do_request` and `do_response` differ in nothing but the words for requests and responses.
    "words of two letters": (
        """message Request { oneof request { Nothing do_request = 1; Nothing go_req = 2; } }
        message Response { oneof response { Nothing do_response = 1; Nothing go_resp = 2; } }""",
        {
            "event": False,
            "request": "Request",
            "response": "Response",
            "answers": {"do_request": "do_response", "go_req": "go_resp"},
        },
    ),
    # `users` is the plural of what `list_user` asks for.
    "responses in the plural": (
        """message Request { oneof request { Nothing list_user = 1; Nothing get_job = 2; } }
        message Response { oneof response { Nothing users = 1; Nothing jobs = 2; } }""",
        {
            "event": False,
            "request": "Request",
            "response": "Response",
            "answers": {"list_user": "users", "get_job": "jobs"},
        },
    ),
    # `_` is a name without a word.
    "names without words": (
        """message Event { oneof event { Nothing _ = 1; Nothing started = 2; } }
        message Request { oneof request { Nothing open = 1; Nothing close = 2; } }
        message Response { oneof response { Nothing opened = 1; Nothing closed = 2; } }
        message _ { oneof kind { Nothing first = 1; Nothing second = 2; } }""",
        {
            "event": "Event",
            "request": "Request",
            "response": "Response",
            "answers": {"open": "opened", "close": "closed"},
        },
    ),
    # Two requests of an event's many arms do not make it a message of requests.
    "events named like requests": (
        "message TraceEvent { oneof event { Nothing io_request = 1; Nothing io_response = 2; "
        + " ".join(f"Nothing e{n} = {n};" for n in range(3, 20))
        + " } }",
        {"event": "TraceEvent", "request": False, "response": False, "answers": {}},
    ),
    # Small unions beside a large one are values, not requests and responses.
    "a union with many arms": (
        "message TraceEvent { oneof event { "
        + " ".join(f"Nothing e{n} = {n};" for n in range(1, 32))
        + """ } }
        message Arg { oneof value { string text = 1; int64 number = 2; bool flag = 3; } }
        message Rule { oneof match { string prefix = 1; string suffix = 2; } }""",
        {"event": "TraceEvent", "request": False, "response": False, "answers": {}},
    ),
    "words within the names": (
        """message WatchRequest { oneof request_union { Nothing create = 1; Nothing cancel = 2; } }
        message Compare { oneof target { int32 version = 1; bytes value = 2; bool set = 3;
          bool lease = 4; bool other = 5; } }
        message Txn { repeated Compare compare = 1; repeated RequestOp success = 2; }
        message RequestOp { oneof request { Nothing request_range = 1; Nothing request_put = 2;
          Txn request_txn = 3; } }
        message ResponseOp { oneof response { Nothing response_range = 1; Nothing response_put = 2;
          Nothing response_txn = 3; } }""",
        {
            "event": False,
            "request": "RequestOp",
            "response": "ResponseOp",
            "answers": {
                "request_range": "response_range",
                "request_put": "response_put",
                "request_txn": "response_txn",
            },
        },
    ),
    "names that begin alike": (
        """message Failure { int32 code = 1; string message = 2; }
        message InfoRequest { oneof r { string file_by_name = 1; string file_with_symbol = 2;
          string numbers_of_type = 3; string ping = 4; } }
        message InfoResponse { string valid_host = 9; oneof r { Nothing file_response = 1;
          Nothing numbers_response = 2; Failure error_response = 3; Nothing pong = 4; } }""",
        {
            "event": False,
            "request": "InfoRequest",
            "response": "InfoResponse",
            "error": "error_response",
            "answers": {
                "file_by_name": "file_response",
                "file_with_symbol": "file_response",
                "numbers_of_type": "numbers_response",
                "ping": "pong",
            },
        },
    ),
    "directions": (
        """message Packet { oneof p { Nothing a = 1; Nothing b = 2; } }
        message ToRadio { oneof p { Packet packet = 1; Nothing beat = 2; Nothing bye = 3; } }
        message FromRadio { oneof p { Packet packet = 1; Nothing info = 2; Nothing log = 3; } }""",
        {"event": "FromRadio", "request": "ToRadio", "response": False, "answers": {}},
    ),
    # What a server says on its own account is no answer, whatever its message is called.
    "a response that answers little": (
        """message SignalRequest { oneof m { Nothing offer = 1; Nothing ping = 2; Nothing mute = 3; } }
        message SignalResponse { oneof m { Nothing joined = 1; Nothing offer = 2; Nothing left = 3;
          Nothing speakers = 4; Nothing quality = 5; } }""",
        {"event": "SignalResponse", "request": "SignalRequest", "response": False, "answers": {}},
    ),
    "commands": (
        "message Command { oneof attributes { Nothing start = 1; Nothing stop = 2; } }",
        {"event": False, "request": "Command", "response": False, "answers": {}},
    ),
    # An id of the event, and a part of its payloads, are unions as well.
    "parts of an event": (
        """message BuildEventId { oneof id { Nothing a = 1; Nothing b = 2; Nothing c = 3; } }
        message File { oneof file { string uri = 1; bytes contents = 2; } }
        message Done { File output = 1; repeated File others = 2; }
        message BuildEvent { BuildEventId id = 1; repeated BuildEventId children = 2;
          oneof payload { Done done = 3; Nothing started = 4; } }""",
        {"event": "BuildEvent", "request": False, "response": False, "answers": {}},
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_proposal(name: str, tmp_path: Path) -> None:
    proto, expected = CASES[name]
    assert written(fresh(tmp_path, f"{HEAD}{proto}\n")) == expected


@pytest.mark.parametrize("response", ["Out", "CommandResponse"])
@pytest.mark.parametrize("event", ["Happened", None])
def test_arms_of_an_envelope_that_are_named_like_roles(
    event: str | None, response: str, tmp_path: Path
) -> None:
    """The names of the messages may say something of their role, or nothing."""
    arms = f"In request = 1; {response} response = 2;" + (f" {event} event = 3;" if event else "")
    union = "oneof body { Nothing start = 2; Nothing stop = 3; }"
    proto = f"""{HEAD}
message In {{ uint32 seq = 1; {union} }}
message {response} {{ uint32 seq = 1; string failure = 4; {union} }}
{f"message {event} {{ oneof body {{ Nothing tick = 1; }} }}" if event else ""}
message Packet {{ uint32 version = 9; oneof of {{ {arms} }} }}
"""
    roles = written(fresh(tmp_path, proto))
    assert roles == {
        "envelope": "Packet",
        "event": event or False,
        "request": "In",
        "response": response,
        "correlation": "seq",
        "error": "failure",
        "answers": {},
    }


def test_messages_of_the_named_file_come_before_those_of_its_imports(tmp_path: Path) -> None:
    proto = """syntax = "proto3"; package acme; import "nexus.proto"; import "rules.proto";
        message Command { string name = 1 [(rules).text = "x"];
          oneof attributes { nexus.Request call = 2; string stop = 3; } }"""
    small_project = fresh(tmp_path, proto)
    (tmp_path / "proto" / "nexus.proto").write_text(
        """syntax = "proto3"; package nexus;
        message Request { oneof variant { string a = 1; string b = 2; string c = 3; } }
        message Response { oneof variant { string a = 1; string b = 2; string c = 3; } }""",
        encoding="utf-8",
    )
    # Only an option has this message.
    (tmp_path / "proto" / "rules.proto").write_text(
        """syntax = "proto3"; import "google/protobuf/descriptor.proto";
        message RulesEvent { oneof kind { string text = 1; bool any = 2; } }
        extend google.protobuf.FieldOptions { RulesEvent rules = 50999; }""",
        encoding="utf-8",
    )
    assert written(small_project) == {
        "event": False,
        "request": "Command",
        "response": False,
        "answers": {},
    }


def test_a_union_with_payloads_of_an_import_is_no_envelope(tmp_path: Path) -> None:
    proto = """import "radio.proto";
        message Admin { oneof m { radio.Config config_request = 1; radio.Panel config_response = 2;
          Nothing owner_request = 3; Nothing owner_response = 4; string name_request = 5;
          string name_response = 6; Nothing opened = 7; } }"""
    small_project = fresh(tmp_path, HEAD.replace("message", f"{proto}\nmessage", 1))
    (tmp_path / "proto" / "radio.proto").write_text(
        """syntax = "proto3";
        package radio;
        message Config { oneof c { string device = 1; string display = 2; } }
        message Panel { oneof p { string left = 1; string right = 2; } }
        message ChunkResponse { oneof c { string chunk = 1; bool last = 2; } }
        message ToRadio { oneof m { Config config = 1; string text = 2; int32 id = 3; } }
        message FromRadio { oneof m { Panel panel = 1; string text = 2; int32 id = 3; } }""",
        encoding="utf-8",
    )
    assert written(small_project) == {
        "event": "Admin",
        "request": "Admin",
        "response": "Admin",
        "requests": "*_request",
        "responses": "*_response",
        "answers": {},
    }


def test_response_arms_that_nothing_asks_for_are_offered_as_errors(tmp_path: Path) -> None:
    proto = """message StepRequest { oneof r { Nothing headers = 1; Nothing body = 2; } }
        message StepResponse { oneof r { Nothing headers = 1; Nothing body = 2;
          string immediate = 3; } }"""
    small_project = fresh(tmp_path, f"{HEAD}{proto}\n")
    outcome = small_project.invoke("init", "proto/small.proto")
    assert outcome.status == 2
    assert "now name the responses that report errors, and run" in outcome.output
    text = small_project.config.read_text(encoding="utf-8")
    small_project.config.write_text(text.replace("# error = [", "error = ["), encoding="utf-8")
    assert "  error        immediate\n" in small_project.invoke("generate").output
