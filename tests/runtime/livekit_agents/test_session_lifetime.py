"""Sessions that have ended are freed: 300 served one after the other in one task leave none."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

import pytest
from agent_session import (
    RemoteSession,
    RoomSessionTransport,
    SessionHost,
    StreamLimits,
    TcpListener,
    TcpSessionTransport,
    listen,
    memory_pair,
)
from room_stand_in import stand_in
from transport_messages import run

pytest.importorskip("livekit.agents")

from livekit.agents import AgentSession  # noqa: E402
from scripted_agent import Call, Clerk, Say, Script, job, scripted_session  # noqa: E402

SESSIONS = 300
SCRIPT: Script = {"hi": [Say("hello")], "bye": [Call("hang_up")]}

Watch: TypeAlias = Callable[..., None]
Form: TypeAlias = Callable[[Watch], Awaitable[None]]


async def example_of_the_docs(watch: Watch) -> None:
    """Runs the host and the driver of docs/driver-author.md over TCP."""
    async with await listen() as listener:
        serving = asyncio.ensure_future(_host_of_the_docs(listener, watch))
        driver = RemoteSession(await listener.accept())
        driver.on_agent_state_changed(lambda change, event: None)
        events = driver.events()
        watch(driver, events)
        async with driver:
            await driver.wait_for_ready()
            await driver.run_input(text="bye")
            await driver.wait_ended()
            async for _ in events:
                pass
        await serving


async def _host_of_the_docs(listener: TcpListener, watch: Watch) -> None:
    session = scripted_session(SCRIPT)
    async with SessionHost(session, TcpSessionTransport("127.0.0.1", listener.port)) as host:
        watch(session, host)
        try:
            await session.start(Clerk(), session_host=False)
            await host.wait_closed()
        finally:
            await session.aclose()


async def aclose_in_the_block_of_the_host(watch: Watch) -> None:
    host_end, driver_end = memory_pair()
    session = scripted_session(SCRIPT)
    async with SessionHost(session, host_end) as host, RemoteSession(driver_end) as driver:
        watch(session, host, driver, host_end, driver_end)
        await session.start(Clerk(), session_host=False)
        await session.aclose()
        await driver.wait_ended()


async def shutdown_before_the_block_is_left(watch: Watch) -> None:
    host_end, driver_end = memory_pair()
    session = scripted_session(SCRIPT)
    async with RemoteSession(driver_end) as driver:
        async with SessionHost(session, host_end) as host:
            watch(session, host, driver, host_end, driver_end)
            await session.start(Clerk(), session_host=False)
            session.shutdown()
        await driver.wait_ended()


async def session_before_its_host(watch: Watch) -> None:
    host_end, driver_end = memory_pair()
    session = scripted_session(SCRIPT)
    await session.start(Clerk(), session_host=False)
    async with RemoteSession(driver_end) as driver:
        async with SessionHost(session, host_end) as host:
            watch(session, host, driver, host_end, driver_end)
            await driver.run_input(text="hi")
        await driver.wait_ended()
    await session.aclose()


async def driver_that_leaves(watch: Watch) -> None:
    host_end, driver_end = memory_pair()
    session = scripted_session(SCRIPT)
    async with SessionHost(session, host_end) as host:
        watch(session, host, host_end, driver_end)
        try:
            await session.start(Clerk(), session_host=False)
            driver = RemoteSession(driver_end)
            watch(driver)
            async with driver:
                await driver.wait_for_ready()
            await host.wait_closed()
        finally:
            await session.aclose()


async def session_in_a_room(watch: Watch) -> None:
    limits = StreamLimits(linger=0.01)
    async with stand_in() as place:
        agent_room, driver_room = await place.join("agent"), await place.join("driver")
        host_end = RoomSessionTransport(agent_room, limits=limits)
        driver_end = RoomSessionTransport(driver_room, "agent", limits=limits)
        session = scripted_session(SCRIPT)
        async with RemoteSession(driver_end) as driver:
            async with SessionHost(session, host_end) as host:
                watch(session, host, driver, host_end, driver_end, agent_room, driver_room)
                await session.start(Clerk(), session_host=False)
                await driver.wait_for_ready()
                await driver.run_input(text="hi")
                await session.aclose()
            await driver.wait_ended()
        await driver_room.disconnect()
        await agent_room.disconnect()


async def session_of_a_job(watch: Watch) -> None:
    with job() as context:
        watch(context)
        await aclose_in_the_block_of_the_host(watch)


@pytest.mark.parametrize(
    "form",
    [
        example_of_the_docs,
        aclose_in_the_block_of_the_host,
        shutdown_before_the_block_is_left,
        session_before_its_host,
        driver_that_leaves,
        session_in_a_room,
        session_of_a_job,
    ],
)
def test_sessions_served_in_turn_are_freed(form: Form) -> None:
    alive: weakref.WeakSet[Any] = weakref.WeakSet()
    watched = 0

    def watch(*objects: object) -> None:
        nonlocal watched
        watched += len(objects)
        alive.update(objects)

    async def main() -> None:
        for _ in range(SESSIONS):
            await form(watch)
        await asyncio.sleep(0)
        gc.collect()
        assert watched >= 4 * SESSIONS
        # The collector may still see the last session in frames that have just returned.
        assert len(alive) <= watched // SESSIONS

    run(main(), 120)


def test_a_task_that_a_close_has_started_does_not_keep_the_session_alive() -> None:
    alive: weakref.WeakSet[AgentSession[Any]] = weakref.WeakSet()

    async def main() -> None:
        over = asyncio.Event()
        tasks: list[asyncio.Task[bool]] = []
        for _ in range(20):
            host_end, driver_end = memory_pair()
            session = scripted_session(SCRIPT)
            alive.add(session)
            async with SessionHost(session, host_end), RemoteSession(driver_end):
                await session.start(Clerk(), session_host=False)
                session.on("close", lambda _: tasks.append(asyncio.ensure_future(over.wait())))
                await session.aclose()
        gc.collect()
        assert len(tasks) == 20 and len(alive) <= 1  # the variable still has the last one
        over.set()
        await asyncio.gather(*tasks)

    run(main(), 120)


def test_a_session_that_is_started_by_the_close_of_another_frees_it() -> None:
    """Each session starts in a listener of the previous session's close."""
    alive: weakref.WeakSet[AgentSession[Any]] = weakref.WeakSet()

    async def main() -> None:
        over = asyncio.get_running_loop().create_future()
        tasks: set[asyncio.Task[None]] = set()

        def begin(left: int) -> None:
            if left:
                task = asyncio.ensure_future(serve(left))
                tasks.add(task)
                task.add_done_callback(tasks.discard)
            else:
                over.set_result(None)

        async def serve(left: int) -> None:
            host_end, driver_end = memory_pair()
            session = scripted_session(SCRIPT)
            alive.add(session)
            async with SessionHost(session, host_end), RemoteSession(driver_end):
                await session.start(Clerk(), session_host=False)
                session.on("close", lambda _: begin(left - 1))
                await session.aclose()

        begin(SESSIONS)
        await over
        await asyncio.wait(tasks)
        gc.collect()
        assert len(alive) <= 1

    run(main(), 120)
