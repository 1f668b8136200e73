"""The table of pending requests by itself."""

from __future__ import annotations

import asyncio
from typing import Any

from agent_session import RequestTimedOut
from agent_session.driver.pending import PendingRequests
from agent_session_protocol import agent_session_pb2 as pb
from transport_messages import run


def request(arm: str) -> pb.SessionRequest:
    request_list = pb.SessionRequest()
    getattr(request_list, arm).SetInParent()
    return request_list


def add(
    pending: PendingRequests, arm: str, timeout: float | None = None
) -> tuple[pb.SessionRequest, asyncio.Future[Any]]:
    request_list = request(arm)
    return request_list, pending.add(request_list, timeout)


def test_finished_requests_are_removed_at_once() -> None:
    async def main() -> None:
        pending = PendingRequests(60)
        answered, answer = add(pending, "ping")
        _, late = add(pending, "get_chat_history", 0.0)
        _, run_ = add(pending, "run_input")
        removed, other = add(pending, "get_rtc_stats")
        assert pending.resolve(pb.SessionResponse(request_id=answered.request_id))
        assert (await answer).request_id == answered.request_id
        pending._expire()
        assert isinstance(late.exception(), RequestTimedOut)
        pending.fail_runs(lambda: ValueError("no more runs"))
        assert isinstance(run_.exception(), ValueError)
        assert list(pending._entries) == [removed.request_id] and not other.done()
        pending.remove(removed)
        pending.remove(removed)
        _, last = add(pending, "ping")
        pending.fail_all(lambda: ValueError("no more at all"))
        assert isinstance(last.exception(), ValueError) and not pending._entries
        assert not other.done()  # the caller removes it

    run(main())


def test_each_request_fails_with_its_own_error() -> None:
    async def main() -> None:
        pending = PendingRequests(60)
        futures = [add(pending, "run_input")[1] for _ in range(2)]
        pending.fail_all(lambda: ValueError("over"))
        assert futures[0].exception() is not futures[1].exception()

    run(main())


def test_one_timer_serves_all_requests_and_moves_to_the_earliest() -> None:
    async def main() -> None:
        pending = PendingRequests(60)
        futures = [add(pending, "ping")[1]]
        first = pending._timer
        futures.append(add(pending, "ping", 90)[1])
        assert pending._timer is first
        futures.append(add(pending, "ping", 30)[1])
        sooner = pending._timer
        assert sooner is not None and first is not None
        assert sooner is not first and first.cancelled() and sooner.when() < first.when()
        pending.fail_all(ValueError)
        assert sooner.cancelled() and all(future.exception() for future in futures)

    run(main())
