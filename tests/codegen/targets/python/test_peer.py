"""Tests of the generated `peer` layer: its client and its host, with each other and alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import case_protocols
import generated_packages
import pytest
from agent_session import FrameTooLarge
from agent_session.transport import MessageFormat, TcpTransport, memory_transports
from generated_packages import CASES


class QueueTransport:
    """One end of a pair of transports that satisfies `PeerTransport` and nothing more.

    Attributes:
        sent: the messages that were sent.
        failure: raised by the next `send`.
        gate: sends wait until it is set.
    """

    def __init__(self) -> None:
        self.peer = self
        self.received: asyncio.Queue[Any] = asyncio.Queue()
        self.sent: list[Any] = []
        self.failure: Exception | None = None
        self.gate = asyncio.Event()
        self.gate.set()

    async def send(self, message: Any) -> None:
        await self.gate.wait()
        failure, self.failure = self.failure, None
        if failure is not None:
            raise failure
        self.sent.append(message)
        self.peer.received.put_nowait(type(message).FromString(message.SerializeToString()))

    async def __aiter__(self) -> AsyncIterator[Any]:
        while (message := await self.received.get()) is not None:
            if isinstance(message, Exception):
                raise message
            yield message

    async def close(self) -> None:
        self.peer.received.put_nowait(None)


def transports() -> tuple[QueueTransport, QueueTransport]:
    """Return two connected transports."""
    ends = QueueTransport(), QueueTransport()
    ends[0].peer, ends[1].peer = ends[1], ends[0]
    return ends


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(test(), 20)

    asyncio.run(limited())


class Case:
    """The generated modules of a case, and a handler for its requests."""

    def __init__(self, name: str, module: Callable[[str], ModuleType]) -> None:
        self.pb = module(f"{name}_pb2")
        self.peer = module("peer")
        self.errors = module("errors")
        self.requests = module("requests")

    def handler(self, ask: Callable[[Any], Awaitable[Any]]) -> Any:
        """Return a handler whose `ask` is the given function; it answers `close` with "closed"."""
        pb = self.pb

        class Handler(self.requests.RequestHandler):  # type: ignore[name-defined, misc]
            async def ask(self, request: Any) -> Any:
                return await ask(request)

            async def close(self, request: Any) -> Any:
                return pb.Ask(text="closed")

        return Handler()

    def pair(self, ask: Callable[[Any], Awaitable[Any]], **options: Any) -> tuple[Any, Any]:
        """Return a client and a host that are connected."""
        first, second = transports()
        host = self.peer.HostPeer(second, self.handler(ask), **options)
        return self.peer.ClientPeer(first, timeout=10), host


@pytest.fixture(scope="module")
def cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Case]:
    root = tmp_path_factory.mktemp("peers")
    names = ("peer_number", "peer_bytes")
    made = {name: case_protocols.make(name, root / "in", root / "out") for name in names}
    return {name: Case(name, package.module) for name, package in made.items()}


@pytest.fixture(params=["peer_number", "peer_bytes"])
def case(request: pytest.FixtureRequest, cases: dict[str, Case]) -> Case:
    return cases[request.param]


@pytest.fixture
def number(cases: dict[str, Case]) -> Case:
    return cases["peer_number"]


async def echo(request: Any) -> Any:
    return request


async def forever(request: Any) -> Any:
    await asyncio.Event().wait()


# ---------------------------------------------------------------------------------------
# Requests and responses.


def test_each_response_reaches_the_call_that_it_answers(case: Case) -> None:
    async def slowest_first(request: Any) -> Any:
        # Later requests are answered earlier.
        for _ in range(20 - int(request.text)):
            await asyncio.sleep(0)
        return request

    async def test() -> None:
        client, host = case.pair(slowest_first)
        async with client, host:
            texts = [str(number) for number in range(20)]
            answers = await asyncio.gather(*(client.requests.ask(text=text) for text in texts))
            assert [answer.text for answer in answers] == texts

    run(test)


def test_ids_are_distinct_and_have_the_type_of_the_field(cases: dict[str, Case]) -> None:
    async def test() -> None:
        for name, field, expected in (
            ("peer_number", "number", [1, 2]),
            ("peer_bytes", "yield", [b"\0\0\0\1", b"\0\0\0\2"]),
        ):
            client, host = cases[name].pair(echo)
            async with client, host:
                await client.requests.ask(text="")
                await client.requests.ask(text="")
                sent = client._transport.sent
                arm = "from" if name == "peer_bytes" else "request"
                assert [getattr(getattr(message, arm), field) for message in sent] == expected

    run(test)


def test_numbers_start_again_after_the_largest_one(number: Case) -> None:
    async def test() -> None:
        client, host = number.pair(echo)
        client._last_number = 2**31 - 2
        async with client, host:
            for _ in range(2):
                assert (await client.requests.ask(text="x")).text == "x"
            assert [item.request.number for item in client._transport.sent] == [2**31 - 1, 1]

    run(test)


def test_request_named_like_a_method_of_the_client(case: Case) -> None:
    async def test() -> None:
        client, host = case.pair(echo)
        async with client, host:
            assert (await client.requests.close(text="")).text == "closed"
            assert (await client.requests.ask(text="open")).text == "open"

    run(test)


def test_a_request_times_out_and_its_late_response_is_ignored(case: Case) -> None:
    async def test() -> None:
        release = asyncio.Event()

        async def ask(request: Any) -> Any:
            if request.text == "slow":
                await release.wait()
            return request

        client, host = case.pair(ask)
        async with client, host:
            with pytest.raises(case.peer.RequestTimedOut, match="no response within 0.01 s"):
                await client.requests.ask(text="slow", timeout=0.01)
            release.set()
            assert (await client.requests.ask(text="next")).text == "next"
            assert not client._pending

    run(test)


def test_a_request_that_waits_to_be_sent_times_out_and_is_not_sent(number: Case) -> None:
    async def test() -> None:
        client, host = number.pair(echo)
        async with client, host:
            client._transport.gate.clear()
            first = asyncio.create_task(client.requests.ask(text="first"))
            await asyncio.sleep(0)
            with pytest.raises(number.peer.RequestTimedOut):
                await client.requests.ask(text="second", timeout=0.01)
            client._transport.gate.set()
            assert (await first).text == "first"
            assert [item.request.ask.text for item in client._transport.sent] == ["first"]

    run(test)


def test_a_cancelled_call_leaves_the_others_alone(case: Case) -> None:
    async def test() -> None:
        async def ask(request: Any) -> Any:
            return await (forever if request.text == "slow" else echo)(request)

        client, host = case.pair(ask)
        async with client:
            call = asyncio.create_task(client.requests.ask(text="slow"))
            await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert (await client.requests.ask(text="next")).text == "next"
            assert not client._pending
        await host.close()

    run(test)


def test_a_request_that_cannot_be_sent_raises_to_its_caller(number: Case) -> None:
    async def test() -> None:
        client, host = number.pair(echo)
        async with client, host:
            client._transport.failure = ValueError("too large")
            with pytest.raises(ValueError, match="too large"):
                await client.requests.ask(text="x")
            assert (await client.requests.ask(text="next")).text == "next"

    run(test)


def test_responses_without_a_request_are_ignored(number: Case) -> None:
    async def test() -> None:
        client_end, other = transports()
        async with number.peer.ClientPeer(client_end) as client:
            call = asyncio.create_task(client.requests.ask(text="x"))
            await other.received.get()
            response = number.pb.Response(number=7, ask=number.pb.Ask(text="unknown id"))
            await other.send(number.pb.Envelope(response=response))
            for text in ("first", "duplicate"):
                response = number.pb.Response(number=1, ask=number.pb.Ask(text=text))
                await other.send(number.pb.Envelope(response=response))
            assert (await call).text == "first"

    run(test)


def test_a_response_of_another_request_is_an_error(number: Case) -> None:
    async def test() -> None:
        client_end, other = transports()
        async with number.peer.ClientPeer(client_end) as client:
            call = asyncio.create_task(client.requests.ask(text="x"))
            await other.received.get()
            response = number.pb.Response(number=1, close=number.pb.Ask())
            await other.send(number.pb.Envelope(response=response))
            with pytest.raises(number.errors.UnexpectedArmError) as caught:
                await call
            assert (caught.value.expected, caught.value.arm) == ("ask", "close")

    run(test)


# ---------------------------------------------------------------------------------------
# What a host answers.


async def answers(other: QueueTransport, *messages: Any) -> list[Any]:
    """Send messages, and return as many that come back."""
    for message in messages:
        await other.send(message)
    return [await other.received.get() for _ in messages]


def test_unknown_requests_are_answered(cases: dict[str, Case]) -> None:
    # Field 9, a message, which the request does not have.
    unknown = b"\x4a\x00"

    async def test() -> None:
        number, plain = cases["peer_number"], cases["peer_bytes"]
        host_end, other = transports()
        async with number.peer.HostPeer(host_end, number.handler(echo)):
            request = number.pb.Request.FromString(b"\x08\x03" + unknown)
            message = number.pb.Envelope(request=request)
            (response,) = await answers(other, message)
            text = "unimplemented request: field 9"
            assert response == number.pb.Envelope(response=number.pb.Response(number=3, error=text))
        host_end, other = transports()
        async with plain.peer.HostPeer(host_end, plain.handler(echo)):
            message = plain.pb.Envelope(**{"from": plain.pb.Request.FromString(unknown)})
            (response,) = await answers(other, message)
            # There is no field for an error text: the response has no arm.
            assert response == plain.pb.Envelope(**{"class": plain.pb.Response()})
            assert response.WhichOneof("payload") == "class"

    run(test)


def test_a_handler_that_raises(number: Case, caplog: pytest.LogCaptureFixture) -> None:
    async def ask(request: Any) -> Any:
        if request.text == "refuse":
            raise number.errors.RequestError("not now")
        raise LookupError("a secret")

    async def test() -> None:
        client, host = number.pair(ask)
        async with client, host:
            with pytest.raises(number.errors.RequestError, match="^not now$"):
                await client.requests.ask(text="refuse")
            with pytest.raises(number.errors.RequestError, match="^internal error$"):
                await client.requests.ask(text="fail")

    run(test)
    assert "a secret" in caplog.text


def test_a_handler_that_raises_without_a_field_for_errors(
    cases: dict[str, Case], caplog: pytest.LogCaptureFixture
) -> None:
    case = cases["peer_bytes"]

    async def ask(request: Any) -> Any:
        raise LookupError("a secret")

    async def test() -> None:
        client, host = case.pair(ask)
        async with client, host:
            with pytest.raises(case.errors.UnexpectedArmError, match="got nothing"):
                await client.requests.ask(text="fail")

    run(test)
    assert "a secret" in caplog.text


def test_a_handler_that_cancels_itself_is_answered(number: Case) -> None:
    async def ask(request: Any) -> Any:
        raise asyncio.CancelledError

    async def test() -> None:
        client, host = number.pair(ask)
        async with client, host:
            with pytest.raises(number.errors.RequestError, match="the request was cancelled"):
                await client.requests.ask(text="x")

    run(test)


def test_requests_over_the_limit_are_refused(number: Case) -> None:
    async def test() -> None:
        release = asyncio.Event()

        async def ask(request: Any) -> Any:
            await release.wait()
            return request

        client, host = number.pair(ask, max_in_flight=2)
        async with client, host:
            calls = [asyncio.create_task(client.requests.ask(text="x")) for _ in range(2)]
            while len(host._in_flight) < 2:
                await asyncio.sleep(0)
            with pytest.raises(number.errors.RequestError, match="^busy$"):
                await client.requests.ask(text="x")
            release.set()
            assert [answer.text for answer in await asyncio.gather(*calls)] == ["x", "x"]
            assert (await client.requests.ask(text="y")).text == "y"

    run(test)


def test_quick_requests_that_arrive_together_are_all_answered(number: Case) -> None:
    async def test() -> None:
        client, host = number.pair(echo, max_in_flight=8)
        async with client, host:
            calls = [client.requests.ask(text=str(count)) for count in range(200)]
            assert [item.text for item in await asyncio.gather(*calls)] == [
                str(count) for count in range(200)
            ]

    run(test)


def test_an_id_that_is_in_use_is_refused(number: Case) -> None:
    async def test() -> None:
        host_end, other = transports()
        host = number.peer.HostPeer(host_end, number.handler(forever))
        request = number.pb.Request(number=4, ask=number.pb.Ask(text="x"))
        for _ in range(2):
            await other.send(number.pb.Envelope(request=request))
        response = (await other.received.get()).response
        assert response == number.pb.Response(
            number=4, error="another request with this id is in progress"
        )
        await host.close(timeout=0)

    run(test)


def test_a_response_that_cannot_be_sent_is_replaced(number: Case) -> None:
    async def test() -> None:
        client, host = number.pair(echo)
        async with client, host:
            host._transport.failure = ValueError("too large")
            with pytest.raises(number.errors.RequestError, match="the response cannot be sent"):
                await client.requests.ask(text="x")

    run(test)


# ---------------------------------------------------------------------------------------
# Events.


def test_events_reach_listeners_and_iterators_in_order(case: Case) -> None:
    async def test() -> None:
        hosts: list[Any] = []

        async def ask(request: Any) -> Any:
            for count in range(3):
                hosts[0].events.asked(text=f"{request.text}{count}")
            return request

        client, host = case.pair(ask)
        hosts.append(host)
        heard: list[str] = []
        client.listeners.on_asked(lambda payload, event: heard.append(payload.text))
        stream = client.events()
        async with client, host:
            await client.requests.ask(text="a")
            # The events were emitted before the response, and so they arrive before it.
            assert heard == ["a0", "a1", "a2"]
        assert [event.asked.text async for event in stream] == heard
        assert [event async for event in client.events()] == []

    run(test)


def test_an_iterator_that_nobody_reads_drops_the_oldest_events(number: Case) -> None:
    async def test() -> None:
        client, host = number.pair(echo)
        stream = client.events(limit=2)
        async with client, host:
            for count in range(5):
                host.events.asked(text=str(count))
            await client.requests.ask(text="")
        assert [event.asked.text async for event in stream] == ["3", "4"]
        assert stream.dropped == 3

    run(test)


def test_a_listener_that_raises_hurts_nothing(number: Case) -> None:
    async def test() -> None:
        client, host = number.pair(echo)

        def fail(payload: Any, event: Any) -> None:
            raise LookupError("x")

        client.listeners.on_asked(fail)
        async with client, host:
            host.events.asked(text="1")
            assert (await client.requests.ask(text="2")).text == "2"

    run(test)


def test_messages_without_a_role(cases: dict[str, Case], caplog: pytest.LogCaptureFixture) -> None:
    case = cases["peer_bytes"]

    async def test() -> None:
        first, second = transports()
        heard: list[Any] = []
        host = case.peer.HostPeer(second, case.handler(echo), on_other=heard.append)
        client = case.peer.ClientPeer(first)
        async with client, host:
            for text in ("a", "b"):
                other = case.pb.Envelope(other=case.pb.Ask(text=text))
                await first.send(other)
                await second.send(other)
            await client.requests.ask(text="x")
            assert [message.other.text for message in heard] == ["a", "b"]

    with caplog.at_level(logging.WARNING):
        run(test)
    assert caplog.text.count("ignored a message with other") == 1


# ---------------------------------------------------------------------------------------
# The end.


async def pending_call(client: Any, host: Any) -> asyncio.Task[Any]:
    """Return a call that the host is working on."""
    call = asyncio.create_task(client.requests.ask(text="x"))
    while not host._in_flight:
        await asyncio.sleep(0)
    return call


def test_the_end_of_the_transport_fails_what_is_pending(case: Case) -> None:
    async def test() -> None:
        client, host = case.pair(forever)
        call = await pending_call(client, host)
        client._transport.received.put_nowait(None)
        with pytest.raises(case.peer.PeerClosed, match="the other peer closed") as caught:
            await call
        assert caught.value.reason is None
        await client.wait_ended()
        with pytest.raises(case.peer.PeerClosed):
            await client.requests.ask(text="later")
        await client.close()
        await host.close(timeout=0)

    run(test)


def test_reason_of_the_end_is_raised(number: Case) -> None:
    async def test() -> None:
        client, host = number.pair(forever)
        call = await pending_call(client, host)
        reason = ConnectionResetError("reset by peer")
        client._transport.received.put_nowait(reason)
        with pytest.raises(number.peer.PeerClosed, match="reset by peer") as caught:
            await call
        assert caught.value.reason is reason is client.reason is caught.value.__cause__
        await client.close()
        await host.close(timeout=0)

    run(test)


def test_a_client_that_closes_fails_its_calls_at_once(number: Case) -> None:
    async def test() -> None:
        client, host = number.pair(forever)
        call = await pending_call(client, host)
        await client.close()
        with pytest.raises(number.peer.PeerClosed, match="this peer closed"):
            await call
        with pytest.raises(number.peer.PeerClosed, match="this peer closed"):
            await client.requests.ask(text="later")
        await host.wait_ended()
        # The host's work was for nobody.
        while host._in_flight:
            await asyncio.sleep(0)
        with pytest.raises(number.peer.PeerClosed, match="the other peer closed"):
            host.events.asked(text="x")
        await host.close()

    run(test)


def test_a_host_that_closes_finishes_what_is_in_progress(number: Case) -> None:
    async def test() -> None:
        release = asyncio.Event()

        async def ask(request: Any) -> Any:
            await release.wait()
            return request

        client, host = number.pair(ask)
        call = await pending_call(client, host)
        closing = asyncio.create_task(host.close(timeout=10))
        while host._closing is None:
            await asyncio.sleep(0)
        with pytest.raises(number.errors.RequestError, match="the host is closing"):
            await client.requests.ask(text="later")
        release.set()
        assert (await call).text == "x"
        await closing
        await client.wait_ended()
        await client.close()

    run(test)


def test_a_host_cancels_what_takes_longer_than_its_close(number: Case) -> None:
    async def test() -> None:
        client, host = number.pair(forever)
        call = await pending_call(client, host)
        await host.close(timeout=0.01)
        with pytest.raises(number.errors.RequestError, match="the request was cancelled"):
            await call
        await client.close()

    run(test)


def test_close_is_bounded_by_its_timeout(number: Case, caplog: pytest.LogCaptureFixture) -> None:
    async def stubborn(request: Any) -> Any:
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if released:
                    raise

    released: list[bool] = []

    async def test() -> None:
        client, host = number.pair(stubborn)
        call = await pending_call(client, host)
        transport = host._transport
        transport.gate.clear()
        host.events.asked(text="never sent")
        transport.close = forever_closing
        start = asyncio.get_running_loop().time()
        await asyncio.gather(host.close(timeout=0.05), host.close())
        assert asyncio.get_running_loop().time() - start < 5
        released.append(True)
        for task in host._in_flight.values():
            task.cancel()
        await client.close()
        with pytest.raises(number.peer.PeerClosed):
            await call

    async def forever_closing() -> None:
        await asyncio.Event().wait()

    run(test)
    assert "did not close in time" in caplog.text


def test_a_peer_that_does_not_read_ends_the_connection(number: Case) -> None:
    async def test() -> None:
        host_end, _ = transports()
        host_end.gate.clear()
        host = number.peer.HostPeer(host_end, number.handler(echo))
        with pytest.raises(number.peer.PeerClosed, match="reads too slowly"):
            for _ in range(10_000):
                host.events.asked(text="x")
        await host.wait_ended()
        assert isinstance(host.reason, ConnectionAbortedError)
        await host.close(timeout=0)

    run(test)


# ---------------------------------------------------------------------------------------
# Over the transports of the runtime.


def test_peers_over_a_memory_transport(case: Case) -> None:
    async def test() -> None:
        first, second = memory_transports(MessageFormat(case.pb.Envelope), chunk=1)
        client = case.peer.ClientPeer(first)
        host = case.peer.HostPeer(second, case.handler(echo))
        async with client, host:
            stream = client.events()
            host.events.asked(text="event")
            answered = await asyncio.gather(*(client.requests.ask(text=text) for text in "abc"))
            assert [answer.text for answer in answered] == ["a", "b", "c"]
            assert (await stream.__anext__()).asked.text == "event"

    run(test)


def test_a_message_over_the_limit_of_a_transport(number: Case) -> None:
    async def test() -> None:
        async def ask(request: Any) -> Any:
            return number.pb.Ask(text="x" * (1 << 20))

        first, second = memory_transports(MessageFormat(number.pb.Envelope))
        client = number.peer.ClientPeer(first)
        async with client, number.peer.HostPeer(second, number.handler(ask)):
            with pytest.raises(FrameTooLarge):
                await client.requests.ask(text="x" * (1 << 20))
            with pytest.raises(number.errors.RequestError, match="the response cannot be sent"):
                await client.requests.ask(text="x")

    run(test)


def test_a_broken_frame_over_tcp_ends_the_call_with_its_reason(number: Case) -> None:
    async def announce_4_gib(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"\xff\xff\xff\xff")
        await reader.read()
        writer.close()

    async def test() -> None:
        server = await asyncio.start_server(announce_4_gib, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        transport = TcpTransport(MessageFormat(number.pb.Envelope), "127.0.0.1", port)
        async with server, transport, number.peer.ClientPeer(transport) as client:
            with pytest.raises(number.peer.PeerClosed) as caught:
                await client.requests.ask(text="x")
            assert isinstance(caught.value.reason, FrameTooLarge)
            assert client.reason is transport.reason is caught.value.reason

    run(test)


# ---------------------------------------------------------------------------------------
# Which protocols have the layer.


@pytest.mark.parametrize(
    ("file", "why"),
    [
        ("tiny.proto", "the protocol has no envelope"),
        ("correlation_bytes.proto", "the protocol has no envelope"),
    ],
)
def test_a_protocol_without_an_envelope_has_no_peer_layer(
    file: str, why: str, tmp_path: Path
) -> None:
    source = generated_packages.protos([CASES / file], [CASES])
    package = generated_packages.generate(
        generated_packages.configured(tmp_path / "all", "without_peer", source)
    )
    assert not (package.folder / "peer.py").exists()
    assert not (package.folder / "connection.py").exists()
    assert "`peer`" not in package.text("__init__.py")
    config = generated_packages.configured(
        tmp_path / "asked", "refused", source, rest='layers = ["peer"]'
    )
    (diagnostic,) = generated_packages.refusal(config)
    assert why in diagnostic.message
    assert diagnostic.span.file.endswith(file)


def test_layer_includes_its_dependencies(tmp_path: Path) -> None:
    source = generated_packages.protos([CASES / "peer_number.proto"], [CASES])
    config = generated_packages.configured(tmp_path, "only_peer", source, rest='layers = ["peer"]')
    package = generated_packages.generate(config)
    layers = {path.stem for path in package.folder.glob("*.py")} - {"__init__", "peer_number_pb2"}
    needed = "client connection dispatch errors events peer requests values"
    assert layers == set(needed.split())
