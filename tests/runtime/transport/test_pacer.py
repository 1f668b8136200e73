"""The pacer, which limits the bytes that are sent before a flush."""

from __future__ import annotations

import asyncio
import logging

import pytest
from agent_session import ConnectionLost, TransportClosed
from agent_session.transport import Transport
from agent_session.transport.pacer import Pacer
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage
from transport_messages import run

MIB = 1 << 20


class Flushing(Transport[AgentSessionMessage]):
    """A transport whose flush the test ends."""

    def __init__(self) -> None:
        self.flushes: list[asyncio.Future[None]] = []

    async def flush(self) -> None:
        self.flushes.append(asyncio.get_running_loop().create_future())
        await self.flushes[-1]

    async def start(self) -> None:
        raise AssertionError

    async def send(self, message: AgentSessionMessage) -> None:
        raise AssertionError

    def send_nowait(self, message: AgentSessionMessage) -> int:
        raise AssertionError

    async def close(self, timeout: float | None = None) -> None:
        raise AssertionError

    @property
    def closed(self) -> bool:
        raise AssertionError

    @property
    def reason(self) -> None:
        raise AssertionError

    async def __anext__(self) -> AgentSessionMessage:
        raise AssertionError


async def closed_pacer() -> tuple[Pacer, Flushing, asyncio.Future[None]]:
    """Returns a pacer that has counted 1 MiB, its transport, and a task that waits for it."""
    transport = Flushing()
    pacer = Pacer(transport)
    pacer.count(MIB - 1)
    assert pacer.open
    await pacer.wait()
    pacer.count(1)
    assert not pacer.open
    waiting = asyncio.ensure_future(pacer.wait())
    while not transport.flushes:
        await asyncio.sleep(0)
    assert not waiting.done()
    return pacer, transport, waiting


def test_the_pacer_opens_after_a_flush_and_counts_from_zero() -> None:
    async def main() -> None:
        pacer, transport, waiting = await closed_pacer()
        pacer.count(10 * MIB)  # does not start a second flush
        transport.flushes[0].set_result(None)
        await waiting
        assert pacer.open and len(transport.flushes) == 1
        pacer.count(MIB - 1)
        assert pacer.open

    run(main())


@pytest.mark.parametrize(
    ("error", "logged"),
    [(TransportClosed(ConnectionLost("reset")), 0), (RuntimeError("a fault"), 1)],
)
def test_a_flush_that_fails_does_not_block_senders(
    error: Exception, logged: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> None:
        pacer, transport, waiting = await closed_pacer()
        transport.flushes[0].set_exception(error)
        await waiting
        assert pacer.open

    with caplog.at_level(logging.ERROR):
        run(main())
    assert caplog.text.count("the flush of a transport failed") == logged


def test_close_cancels_the_flush() -> None:
    async def main() -> None:
        pacer, transport, waiting = await closed_pacer()
        await pacer.close()
        await waiting
        assert transport.flushes[0].cancelled()
        await pacer.close()

    run(main())
