"""Closes the transports of tests."""

from __future__ import annotations

import asyncio

from agent_session import MemorySessionTransport


async def closed(*transports: MemorySessionTransport) -> None:
    await asyncio.gather(*(transport.close() for transport in transports))
