"""run_input: one run at a time, and a newer run supersedes an older one."""

from __future__ import annotations

import asyncio

import pytest
from agent_session import Ended, RemoteSession, SessionEnded, SessionHost, memory_pair
from agent_session_protocol import agent_session_pb2 as pb
from scripted_session import PlainSession, chat_message, hosted
from transport_messages import run

NOTHING = pb.SessionResponse.RunInputResponse()


def test_the_response_has_the_items_of_the_run() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            name = await driver.send("run_input", text="where is it?")
            begun = await session.run_begins()
            assert begun.text == "where is it?" and session.interrupts == 1
            begun.result.set_result([chat_message(1, "here"), chat_message(2, "there")])
            response = await driver.answer(name)
        assert not response.HasField("error")
        texts = [item.message.content[0].text for item in response.run_input.items]
        assert texts == ["here", "there"]

    run(main())


def test_a_run_without_items_succeeds() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            name = await driver.send("run_input", text="say nothing")
            (await session.run_begins()).result.set_result([])
            response = await driver.answer(name)
        assert response == pb.SessionResponse(request_id=name, run_input=NOTHING)

    run(main())


def test_an_empty_text_is_refused() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            older = await driver.send("run_input", text="go on")
            begun = await session.run_begins()
            response = await driver.ask("run_input", text="")
            assert "empty" in response.error and response.run_input == NOTHING
            assert response.WhichOneof("response") == "run_input"
            begun.result.set_result([])
            assert (await driver.answer(older)).error == ""  # it was not superseded
        assert len(session.runs) == 1 and session.interrupts == 1

    run(main())


def test_an_interrupt_that_fails_is_ignored() -> None:
    async def main() -> None:
        session = PlainSession()
        session.cannot_interrupt = True
        async with hosted(session) as (driver, _, _):
            name = await driver.send("run_input", text="hi")
            (await session.run_begins()).result.set_result([])
            assert (await driver.answer(name)).error == ""

    run(main())


@pytest.mark.parametrize("redact_errors", [False, True])
def test_a_run_that_fails_has_an_error_and_an_empty_payload(redact_errors: bool) -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session, redact_errors=redact_errors) as (driver, _, _):
            name = await driver.send("run_input", text="hi")
            (await session.run_begins()).result.set_exception(ValueError("no model"))
            response = await driver.answer(name)
        assert response.error == ("internal error" if redact_errors else "no model")
        assert response.WhichOneof("response") == "run_input"

    run(main())


def test_an_exception_without_a_text_has_its_class_name_as_error() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            name = await driver.send("run_input", text="hi")
            (await session.run_begins()).result.set_exception(TimeoutError())
            assert (await driver.answer(name)).error == "TimeoutError"

    run(main())


def test_a_newer_run_supersedes_an_older_one() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            older = await driver.send("run_input", text="one")
            first = await session.run_begins()
            newer = await driver.send("run_input", text="two")
            response = await driver.answer(older)
            assert response.error == "superseded by a newer run_input"
            assert response.WhichOneof("response") == "run_input"
            # The second run starts when the first has ended.
            assert session.interrupts == 2 and len(session.runs) == 1
            first.result.set_result([chat_message(1, "cut off")])
            (await session.run_begins(2)).result.set_result([chat_message(2, "answer")])
            items = (await driver.answer(newer)).run_input.items
        assert [item.message.id for item in items] == ["item_2"]

    run(main())


def test_a_run_waits_for_the_session_to_start() -> None:
    async def main() -> None:
        session = PlainSession()
        session.started.clear()
        async with hosted(session) as (driver, _, _):
            older = await driver.send("run_input", text="one")
            newer = await driver.send("run_input", text="two")
            assert "superseded" in (await driver.answer(older)).error
            assert (await driver.ask("ping")).HasField("pong") and not session.runs
            session.started.set()
            (await session.run_begins()).result.set_result([])
            assert (await driver.answer(newer)).error == ""
        assert [each.text for each in session.runs] == ["two"]

    run(main())


def test_a_close_does_not_wait_for_the_start_of_the_session() -> None:
    async def main() -> None:
        session = PlainSession()
        session.started.clear()
        async with hosted(session) as (driver, host, _):
            name = await driver.send("run_input", text="one")
            await driver.ask("ping")
            await host.close()
            response = await driver.answer(name)
        assert response.error == "the host is closing"
        assert response.WhichOneof("response") == "run_input"
        assert not session.runs and session.interrupts == 0

    run(main())


def test_only_the_last_of_many_runs_succeeds() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            names = [await driver.send("run_input", text=str(number)) for number in range(20)]
            for name in names[:-1]:
                assert "superseded" in (await driver.answer(name)).error
            (await session.run_begins()).result.set_result([])
            (await session.run_begins(2)).result.set_result([])
            assert (await driver.answer(names[-1])).error == ""
            assert len(driver.responses) == 20
        assert [each.text for each in session.runs] == ["0", "19"]

    run(main())


def test_a_finished_run_is_not_superseded() -> None:
    """The session has finished the run, and only its response is not sent yet."""

    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, host, _):
            older = await driver.send("run_input", text="one")
            (await session.run_begins()).result.set_result([chat_message(1, "done")])
            newer = pb.AgentSessionMessage()
            newer.request.request_id = "newer"
            newer.request.run_input.text = "two"
            host.message_received(newer)
            response = await driver.answer(older)
            assert response.error == "" and len(response.run_input.items) == 1
            (await session.run_begins(2)).result.set_result([])
            assert (await driver.answer("newer")).error == ""

    run(main())


def test_a_failed_run_does_not_fail_the_next_one() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            older = await driver.send("run_input", text="one")
            first = await session.run_begins()
            newer = await driver.send("run_input", text="two")
            await driver.answer(older)
            first.result.set_exception(RuntimeError("cut off"))
            (await session.run_begins(2)).result.set_result([])
            assert (await driver.answer(newer)).error == ""

    run(main())


def test_runs_at_the_close_of_the_session() -> None:
    """The response to a run that is cut off follows session_closed."""

    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            older = await driver.send("run_input", text="one")
            first = await session.run_begins()
            newer = await driver.send("run_input", text="two")
            await driver.answer(older)
            session.closes("task_completed")
            response = await driver.answer(newer)
            assert response.error == "the session has closed: CR_COMPLETED"
            await driver.end()
            assert driver.messages[-2].event.session_closed.reason == pb.CR_COMPLETED
            assert driver.messages[-1].response == response
            first.result.cancel()

    run(main())


def test_a_finished_run_is_answered_before_session_closed() -> None:
    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            name = await driver.send("run_input", text="bye")
            (await session.run_begins()).result.set_result([chat_message(1, "bye")])
            session.closes()
            await driver.end()
            response = await driver.answer(name)
            assert response.error == "" and len(response.run_input.items) == 1
            assert driver.messages[-1].event.HasField("session_closed")

    run(main())


def test_a_response_that_waits_for_a_slow_driver_precedes_session_closed() -> None:
    """The run has returned its items; only its answer waits until the driver reads."""

    async def main() -> None:
        session = PlainSession()
        session.info["instructions"] = "x" * 600_000
        async with hosted(session) as (driver, host, _):
            stream = driver.transport._stream  # type: ignore[attr-defined]
            name = await driver.send("run_input", text="bye")
            begun = await session.run_begins()
            stream.pause_reading()
            for _ in range(2):
                await driver.send("get_agent_info")
            while host._dispatcher._pacer.open:
                await asyncio.sleep(0)
            begun.result.set_result([chat_message(1, "bye")])
            while not next(iter(host._runs._open)).finished:
                await asyncio.sleep(0)
            session.closes()
            for _ in range(10):
                await asyncio.sleep(0)
            stream.resume_reading()
            await driver.end()
            sent = [
                message.response.request_id or message.event.WhichOneof("event")
                for message in driver.messages
            ]
            assert sent[-2:] == [name, "session_closed"]

    run(main())


def test_a_run_cut_off_by_a_close_is_not_a_run_without_items() -> None:
    """The session ends the run without items before it emits the close event."""

    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            name = await driver.send("run_input", text="go on")
            begun = await session.run_begins()
            session.closes_soon = True
            begun.result.set_result([])
            await driver.ask("ping")
            session.closes()
            assert (await driver.answer(name)).error == (
                "the session has closed: CR_USER_INITIATED"
            )
            await driver.end()
            assert driver.messages[-2].event.HasField("session_closed")

    run(main())


def test_a_run_after_the_close_is_not_answered() -> None:
    async def main() -> None:
        session = PlainSession()
        gate = asyncio.Event()
        session.stats = gate.wait
        async with hosted(session, close_timeout=0.1) as (driver, _, _):
            await driver.send("get_rtc_stats")
            await driver.ask("get_session_state")
            session.closes()
            await driver.event("session_closed")
            await driver.send("run_input", "late", text="still there?")
            assert (await driver.ask("ping")).HasField("pong")
            assert (await driver.ask("get_session_state")).error == "the host is closing"
            await driver.end()
            assert "late" not in [each.request_id for each in driver.responses]
        assert session.runs == []

    run(main())


@pytest.mark.parametrize("items", [None, []], ids=["still running", "ended without items"])
@pytest.mark.parametrize("closed_by", ["session", "session, while its host closes"])
def test_a_run_cut_off_by_the_end_raises_session_ended(
    items: list[object] | None, closed_by: str
) -> None:
    async def main() -> None:
        session = PlainSession()
        host_end, driver_end = memory_pair()
        async with SessionHost(session, host_end) as host, RemoteSession(driver_end) as driver:
            calling = asyncio.ensure_future(driver.run_input(text="go on"))
            begun = await session.run_begins()
            closing = None
            if closed_by != "session":
                closing = asyncio.ensure_future(host.close())
                await asyncio.sleep(0)
            if items is not None:
                session.closes_soon = True
                begun.result.set_result(items)
            session.closes("task_completed")
            with pytest.raises(SessionEnded) as raised:
                await asyncio.wait_for(calling, 5)
            assert raised.value.outcome == driver.outcome == Ended(pb.CR_COMPLETED, None)
            await host.wait_closed()
            if closing is not None:
                await closing

    run(main())


def test_a_finished_run_and_a_cut_off_run_at_the_same_close() -> None:
    """The finished run is answered before session_closed, and the waiting run never begins."""

    async def main() -> None:
        session = PlainSession()
        async with hosted(session) as (driver, _, _):
            older = await driver.send("run_input", text="one")
            first = await session.run_begins()
            first.result.set_result([chat_message(1, "one")])
            newer = await driver.send("run_input", text="two")
            session.closes()
            assert len((await driver.answer(older)).run_input.items) == 1
            await driver.end()
            sent = [
                message.response.request_id or message.event.WhichOneof("event")
                for message in driver.messages
            ]
            assert sent[1:3] == [older, "session_closed"]
            assert newer not in sent[:3]
        assert len(session.runs) == 1

    run(main())
