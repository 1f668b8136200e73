"""Protocols that lack roles, share a message between roles, or answer with error arms.

The generated code of each runs: requests go from its client to its handler as bytes.
"""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any

import black
import generated_packages
import package_walk
import pytest
from agent_session.transport import MessageFormat, memory_transports
from exchanges import Exchange, Modules, raising, returning, run
from generated_packages import CASES

SHARED = """[roles]
event = "Message"
request = "Message"
response = "Message"
requests = "*_request"
responses = "*_response"
error = "failed"
[annotations."trap.shared.Message.sign_vote_request"]
response = "signed_vote_response"
[annotations."trap.shared.Message.reserved_arm"]
role = false
"""
ROLES = {
    "complete": """[roles]
error = ["throttled", "failure", "request_error"]
[annotations."trap.complete.Request.note"]
response = false
""",
    "no_events": """[roles]
event = false
[annotations."trap.noevents.Request.note"]
response = false
""",
    "only_events": "[roles]\nrequest = false\n",
    "commands": '[roles]\nrequest = "Command"\nresponse = false\n',
    "only_commands": "[roles]\nevent = false\nresponse = false\n",
    "shared_message": SHARED,
}
SHARED_BY_ALL = {"dispatch", "enums", "errors", "values"}
HOST_LAYERS = {"encoders", "responses", "models", "decoders", "fields"}
# The layers of each case, besides those that every protocol has.
LAYERS = {
    "complete": {"requests", "client", "events", "peer", "connection"} | HOST_LAYERS,
    "no_events": {"requests", "client", "peer", "connection"} | HOST_LAYERS,
    "only_events": {"events"} | HOST_LAYERS,
    "commands": {"requests", "client", "events"} | HOST_LAYERS,
    "only_commands": {"requests", "client"},
    "shared_message": {"requests", "client", "events"} | HOST_LAYERS,
}


Packages = dict[str, Modules]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    root = tmp_path_factory.mktemp("roles")
    modules = {}
    for name, roles in ROLES.items():
        source = generated_packages.protos([CASES / "roles" / f"{name}.proto"], [CASES / "roles"])
        config = generated_packages.configured(
            root / name, f"roles_{name}", source, root / "out", roles
        )
        modules[name] = Modules(generated_packages.generate(config))
    return modules


@pytest.mark.parametrize("name", ROLES)
def test_the_layers_that_the_roles_allow_are_generated(packages: Packages, name: str) -> None:
    files = {path.stem for path in packages[name].package.folder.glob("*.py")}
    layers = {file for file in files if not file.endswith("_pb2") and file != "__init__"}
    assert layers == LAYERS[name] | SHARED_BY_ALL
    for layer in layers:
        packages[name].package.module(layer)


def test_type_checkers_accept_every_package(packages: Packages, tmp_path: Path) -> None:
    folders = [item.package.folder for item in packages.values()]
    imports = [folders[0].parent]
    assert generated_packages.mypy(folders, imports, tmp_path / "mypy") == ""
    assert generated_packages.pyright(folders, imports, tmp_path / "pyright") == ""


@pytest.mark.parametrize("name", ROLES)
def test_files_have_the_form_of_black(packages: Packages, name: str) -> None:
    mode = black.Mode(line_length=100)
    for path in packages[name].package.folder.glob("*.py"):
        text = path.read_text(encoding="utf-8")
        if not path.stem.endswith("_pb2"):
            assert black.format_str(text, mode=mode) == text, path.name


@pytest.mark.parametrize("name", ROLES)
def test_arms_of_every_union_are_dispatched(packages: Packages, name: str) -> None:
    package_walk.check_dispatch(packages[name].package)


def test_protocol_with_only_events(packages: Packages) -> None:
    facts = package_walk.Facts(None, timestamp="created_at")
    package_walk.check_events(packages["only_events"].package, facts)


def test_fields_of_a_second_oneof_of_the_event_are_parameters(packages: Packages) -> None:
    modules = packages["complete"]
    emitted: list[Any] = []

    class Sink(modules.events.EventSink):  # type: ignore[misc, name-defined]
        def emit(self, event: Any) -> None:
            emitted.append(event)

    Sink().tick(user="me")
    Sink().tick(system=4)
    Sink().tick()
    event = modules.pb.Event
    empty = modules.pb.Empty()
    assert emitted == [event(tick=empty, user="me"), event(tick=empty, system=4), event(tick=empty)]
    with pytest.raises(ValueError, match=r"trap\.complete\.Event\.origin"):
        Sink().tick(user="me", system=4)
    assert list(modules.events.SDK_EVENTS) == ["tick"]


# Requests, responses and errors.


def test_a_second_oneof_of_the_request_has_parameters(packages: Packages) -> None:
    modules = packages["complete"]
    exchange = Exchange(modules, {"echo": returning("there")})
    client = exchange.client()
    assert run(client.echo(value="here", cookie=b"c")) == "there"
    assert exchange.sent == [modules.pb.Request(echo="here", cookie=b"c")]
    with pytest.raises(ValueError, match=r"trap\.complete\.Request\.auth"):
        run(client.echo(value="here", token="t", cookie=b"c"))


def test_two_error_arms_of_one_exception(tmp_path: Path) -> None:
    proto = tmp_path / "clash.proto"
    proto.write_text(
        'syntax = "proto3";\npackage trap.errors;\nmessage Empty {}\n'
        "message Request { oneof request { Empty ping = 1; } }\n"
        "message Response {\n  oneof response {\n    Empty ping = 1;\n"
        "    Empty throttled = 2;\n    Empty throttled_error = 3;\n  }\n}\n",
        encoding="utf-8",
    )
    roles = '[roles]\nevent = false\nerror = ["throttled", "throttled_error"]\n'
    source = generated_packages.protos([proto], [tmp_path])
    config = generated_packages.configured(tmp_path, "clash", source, tmp_path / "out", roles)
    [fault] = generated_packages.refusal(config)
    assert fault.rule == "SG017"
    assert (fault.span.line, fault.span.column) == (9, 5)
    assert fault.message == (
        "'throttled_error' and 'throttled' both become 'ThrottledError' in errors.py"
    )


def test_an_error_arm_is_raised_by_the_handler_and_by_the_client(packages: Packages) -> None:
    modules = packages["complete"]
    payload = modules.pb.Throttled(seconds=3, reason="too fast", hint="wait")
    exchange = Exchange(modules, {"ping": raising(modules.errors.ThrottledError(payload))})
    with pytest.raises(modules.errors.ThrottledError, match="too fast") as caught:
        run(exchange.client().ping())
    assert exchange.answers == [modules.pb.Response(throttled=payload)]
    assert isinstance(caught.value, modules.errors.RequestError)
    assert (caught.value.arm, caught.value.payload) == ("throttled", payload)
    assert caught.value.message == "too fast"
    assert "Too many requests." in modules.errors.ThrottledError.__doc__


def test_error_arms_of_scalars(packages: Packages) -> None:
    modules = packages["complete"]
    exchange = Exchange(modules, {"echo": raising(modules.errors.FailureError("broken"))})
    with pytest.raises(modules.errors.FailureError, match="broken") as caught:
        run(exchange.client().echo(value=""))
    assert caught.value.payload == "broken"
    # The class of the arm request_error cannot be called RequestError.
    exchange = Exchange(modules, {"echo": raising(modules.errors.RequestError_(5))})
    with pytest.raises(modules.errors.RequestError_, match="5") as caught:
        run(exchange.client().echo(value=""))
    assert exchange.answers == [modules.pb.Response(request_error=5)]


@pytest.mark.parametrize(
    ("error", "text"),
    [("request", "not now"), ("other", "internal error"), ("unknown", "unimplemented request: ")],
)
def test_error_text_without_a_field_is_in_the_first_error_arm_with_a_text(
    packages: Packages, error: str, text: str
) -> None:
    modules = packages["complete"]
    methods = {
        "request": {"ping": raising(modules.errors.RequestError("not now"))},
        "other": {"ping": raising(LookupError("secret"))},
        "unknown": {},
    }
    exchange = Exchange(modules, methods[error])
    with pytest.raises(modules.errors.ThrottledError) as caught:
        run(exchange.client().ping())
    assert caught.value.message.startswith(text)
    assert caught.value.payload.reason == caught.value.message


def test_a_payload_that_does_not_fit_the_error_arm(packages: Packages) -> None:
    modules = packages["complete"]
    exchange = Exchange(modules, {"ping": raising(modules.errors.FailureError(7))})
    with pytest.raises(modules.errors.ThrottledError, match="internal error"):
        run(exchange.client().ping())


def test_a_request_without_a_response(packages: Packages, caplog: pytest.LogCaptureFixture) -> None:
    modules = packages["complete"]
    exchange = Exchange(modules, {"note": returning(None)})
    assert run(exchange.client().note(token="t")) is None
    assert exchange.sent == [modules.pb.Request(note=modules.pb.Empty(), token="t")]
    assert (exchange.answers, caplog.records) == ([None], [])
    # Nobody waits for the answer, so a failure is logged.
    exchange = Exchange(modules, {"note": raising(modules.errors.RequestError("no"))})
    assert run(exchange.client().note()) is None
    assert [record.getMessage() for record in caplog.records] == ["the handler of note failed"]


def test_errors_of_requests_without_responses_are_raised(packages: Packages) -> None:
    for name in ("commands", "only_commands"):
        modules = packages[name]
        exchange = Exchange(modules, {"move": raising(LookupError("far")), "stop": returning(None)})
        client = exchange.client()
        assert run(client.stop(value=True)) is None
        with pytest.raises(LookupError, match="far"):
            run(client.move(x=1))
        assert [item.WhichOneof(item.DESCRIPTOR.oneofs[0].name) for item in exchange.sent] == [
            "stop",
            "move",
        ]
        with pytest.raises(modules.errors.UnknownArmError):
            run(modules.requests.answer(exchange.handler, type(exchange.sent[0])()))


def test_one_message_for_requests_responses_and_events(packages: Packages) -> None:
    modules = packages["shared_message"]
    message = modules.pb.Message
    key, signed = modules.pb.Key(key=b"k"), modules.pb.Signed(signature=b"s")
    exchange = Exchange(
        modules,
        {
            "pub_key_request": returning(key),
            "sign_vote_request": returning(signed),
            "ping_request": raising(modules.errors.FailedError(modules.pb.Failed(code=4))),
        },
    )
    client = exchange.client()
    assert run(client.pub_key_request(chain="c")) == key
    assert run(client.sign_vote_request(value="v")) == signed
    with pytest.raises(modules.errors.FailedError) as caught:
        run(client.ping_request())
    assert caught.value.payload == modules.pb.Failed(code=4)
    assert exchange.answers == [
        message(pub_key_response=key),
        message(signed_vote_response=signed),
        message(failed=modules.pb.Failed(code=4)),
    ]
    assert list(modules.events.SDK_EVENTS) == ["connected"]
    # A message with an arm of another role is no request.
    for arm, number in (("connected", 7), ("ping_response", 6)):
        other = message(**{arm: modules.pb.Empty()})
        answer = run(modules.requests.answer(exchange.handler, other))
        assert answer.failed.description == f"unimplemented request: field {number}"


# The peers.


def test_peers_with_requests_without_a_response(packages: Packages) -> None:
    modules = packages["complete"]

    async def converse() -> None:
        noted = asyncio.Event()

        async def note(_: Any) -> None:
            noted.set()

        payload = modules.pb.Throttled(seconds=1)
        exchange = Exchange(
            modules, {"note": note, "ping": raising(modules.errors.ThrottledError(payload))}
        )
        client_transport, host_transport = memory_transports(MessageFormat(modules.pb.Envelope))
        async with modules.peer.HostPeer(host_transport, exchange.handler) as host:
            async with modules.peer.ClientPeer(client_transport) as client:
                ticked = asyncio.Event()
                client.listeners.on_tick(lambda payload, event: ticked.set())
                await client.requests.note()
                await noted.wait()
                with pytest.raises(modules.errors.ThrottledError):
                    await client.requests.ping()
                host.events.tick(user="me")
                await ticked.wait()
            await host.wait_ended()

    run(converse())


def test_peers_without_events(packages: Packages, caplog: pytest.LogCaptureFixture) -> None:
    modules = packages["no_events"]

    async def converse() -> None:
        started = asyncio.Event()

        async def note(_: Any) -> None:
            started.set()
            await asyncio.Event().wait()

        async def ping(request: Any) -> Any:
            return request

        exchange = Exchange(modules, {"note": note, "ping": ping})
        client_transport, host_transport = memory_transports(MessageFormat(modules.pb.Envelope))
        host = modules.peer.HostPeer(host_transport, exchange.handler, max_in_flight=1)
        async with modules.peer.ClientPeer(client_transport) as client:
            assert not hasattr(client, "listeners") and not hasattr(host, "events")
            await client.requests.note()
            await started.wait()
            # The second one is dropped; requests with a response are still accepted.
            await client.requests.note()
            assert await client.requests.ping() == modules.pb.Empty()
            await host.close(timeout=0.01)
            with pytest.raises(modules.peer.PeerClosed):
                await client.requests.note()

    with caplog.at_level(logging.WARNING):
        run(converse())
    assert [record.getMessage() for record in caplog.records] == ["dropped a request: busy"]


def test_options_in_the_proto_give_roles_and_the_lack_of_a_response(tmp_path: Path) -> None:
    (tmp_path / "options.proto").write_text(
        """syntax = "proto3"; package trap.options; import "sessiongen/annotations.proto";
        message Empty {}
        message Message { oneof kind {
          Empty ask = 1 [(sessiongen.role) = "request", (sessiongen.response) = "tell"];
          Empty tell = 2 [(sessiongen.role) = "response"];
          Empty note = 3 [(sessiongen.role) = "request", (sessiongen.response) = ""];
          Empty begun = 4 [(sessiongen.role) = "event"];
          Empty reserved = 5 [(sessiongen.role) = ""];
        } }""",
        encoding="utf-8",
    )
    source = generated_packages.protos([tmp_path / "options.proto"], [tmp_path])
    roles = '[roles]\nevent = "Message"\nrequest = "Message"\nresponse = "Message"\n'
    config = generated_packages.configured(tmp_path, "roles_options", source, rest=roles)
    made = Modules(generated_packages.generate(config))
    exchange = Exchange(made, {"ask": returning(made.pb.Empty()), "note": returning(None)})
    client = exchange.client()
    assert run(client.ask()) == made.pb.Empty()
    assert run(client.note()) is None
    assert exchange.answers == [made.pb.Message(tell=made.pb.Empty()), None]
    assert list(made.events.SDK_EVENTS) == ["begun"]
