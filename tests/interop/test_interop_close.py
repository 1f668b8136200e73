"""The end of a session, and what the other side receives of it."""

from __future__ import annotations

import pytest
from interop_subprocesses import Peer, PeerError
from interop_peers import JS, KINDS, OURS, PYTHON, Pair, paired, skip_if_missing
from interop_raw_host import UNKNOWN_REQUEST

FINALIZE = {"provisional_success": True, "provisional_reason": "all went well"}


def request(driver: Peer, name: str, **fields: object) -> dict[str, object]:
    answer: dict[str, object] = driver.call("request", name=name, fields=fields)
    return answer


def begin_endless_run(driver: Peer) -> int:
    """Starts a run in which the model never replies, and returns the number of its command."""
    run = driver.begin("request", name="run_input", fields={"text": "wait"})

    def thinks() -> bool:
        states = [event["payload"].get("new_state") for event in driver.events]
        return bool(states) and states[-1] == "AS_THINKING"

    driver.wait(thinks, "the agent's thinking")
    return run


def failure(driver: Peer, number: int) -> PeerError:
    with pytest.raises(PeerError) as caught:
        driver.result(number)
    return caught.value


def close_events(driver: Peer) -> list[object]:
    return [event["payload"] for event in driver.events if event["event"] == "session_closed"]


def close_session(pair: Pair) -> None:
    """Closes the session of a simulation, and waits until the driver has received it."""
    pair.host.begin("close", how="agent")
    pair.host.note("closed")
    if "session_closed" in pair.listens:
        pair.driver.note("outcome")


@pytest.mark.parametrize(
    ("how", "verdict", "reason"),
    [
        ("agent", None, "CR_USER_INITIATED"),
        ("task_completed", None, "CR_COMPLETED"),
        # Without a hold, since the job is shut down.
        ("job", "a verdict", "CR_JOB_SHUTDOWN"),
    ],
)
def test_our_driver_gets_the_reason_of_the_end(how: str, verdict: str | None, reason: str) -> None:
    with paired(OURS, OURS, verdict) as pair:
        pair.host.begin("close", how=how)
        outcome = pair.driver.note("outcome")
        assert (outcome["kind"], outcome["reason_name"]) == ("Ended", reason)
        assert outcome["error"] is None
        assert pair.driver.note("ended")["reason"] is None
        assert close_events(pair.driver) == [{"reason": reason}]
        assert pair.driver.events[-1]["event"] == "session_closed"
        assert pair.driver.call("status", timeout_s=10) == "Ended"
        with pytest.raises(PeerError) as caught:
            request(pair.driver, "run_input", text="hello")
        assert caught.value.kind == "SessionEnded"
        assert pair.driver.log() == ""
        assert "finalize_simulation" not in pair.host.log()  # there was no hold


def test_our_driver_gets_the_error_that_closed_the_session() -> None:
    with paired(OURS, OURS) as pair:
        # The second failure of the model closes the session.
        first = pair.driver.begin("request", name="run_input", fields={"text": "fail"})
        assert "the model is down" in failure(pair.driver, first).message
        second = pair.driver.begin("request", name="run_input", fields={"text": "fail"})
        assert "CR_ERROR" in failure(pair.driver, second).message
        outcome = pair.driver.note("outcome")
        assert (outcome["kind"], outcome["reason_name"]) == ("Ended", "CR_ERROR")
        assert "the model is down" in outcome["error"]
        assert close_events(pair.driver) == [{"reason": "CR_ERROR", "error": outcome["error"]}]


@pytest.mark.parametrize("kind", KINDS)
def test_superseded_and_cut_off_runs(kind: str) -> None:
    """A newer run supersedes an older one, and the close of the session cuts off the newest.

    Published drivers, which do not know session_closed, ignore it.
    """
    skip_if_missing(kind)
    with paired(OURS, kind) as pair:
        oldest = begin_endless_run(pair.driver)
        older = pair.driver.begin("request", name="run_input", fields={"text": "hello"})
        (item,) = pair.driver.result(older)["items"]
        assert item["message"]["content"] == [{"text": "Good day, parcel office."}]
        assert "superseded" in failure(pair.driver, oldest).message
        newest = begin_endless_run(pair.driver)
        pair.host.begin("close", how="participant_disconnected")
        assert "CR_PARTICIPANT_DISCONNECTED" in failure(pair.driver, newest).message
        pair.driver.note("ended")
        assert len(close_events(pair.driver)) == ("session_closed" in pair.listens)
        assert "closed" not in pair.driver.log()


@pytest.mark.parametrize("kind", KINDS)
def test_our_host_waits_for_finalize_simulation(kind: str) -> None:
    """The verdict is sent, even if the callback raises after giving it."""
    skip_if_missing(kind)
    with paired(OURS, kind, "raise") as pair:
        close_session(pair)
        assert request(pair.driver, "get_framework_info")
        assert not pair.driver.has_noted("ended")
        finalize = pair.driver.begin("request", name="finalize_simulation", fields=FINALIZE)
        error = failure(pair.driver, finalize)
        assert "the judge failed" in error.message
        if kind == JS:  # this driver appends the verdict to the error
            assert "raise; received True, all went well" in error.message
        pair.driver.note("ended")
        assert len(close_events(pair.driver)) == ("session_closed" in pair.listens)


@pytest.mark.parametrize("kind", [PYTHON, JS])
def test_a_run_after_the_close_is_not_answered_to_an_old_simulator(kind: str) -> None:
    skip_if_missing(kind)
    with paired(OURS, kind, "a verdict") as pair:
        close_session(pair)
        run = pair.driver.begin("request", name="run_input", fields={"text": "hello"})
        pair.driver.note("ended")
        if kind == JS:  # this driver fails the request only when it is closed
            assert not pair.driver.has_result(run)
            pair.driver.call("close")
        assert "closed" in failure(pair.driver, run).message


@pytest.mark.parametrize("host", [PYTHON, JS])
def test_a_published_host_that_closes_is_lost(host: str) -> None:
    skip_if_missing(host)
    with paired(host, OURS) as pair:
        pending = pair.driver.begin("unknown", content=UNKNOWN_REQUEST, timeout_s=60)
        request(pair.driver, "ping")
        pair.host.begin("close", how="agent")
        assert failure(pair.driver, pending).kind == "SessionLost"
        assert pair.driver.note("ended")["reason"] is None
        outcome = pair.driver.note("outcome")
        assert (outcome["kind"], outcome["by_driver"]) == ("Lost", False)
        assert close_events(pair.driver) == []
        assert pair.driver.call("status", timeout_s=10) == "Lost"
        assert pair.driver.log() == ""


@pytest.mark.parametrize("host", KINDS)
def test_a_host_that_is_killed_is_lost(host: str) -> None:
    skip_if_missing(host)
    with paired(host, OURS) as pair:
        run = begin_endless_run(pair.driver)
        pair.host.kill()
        assert failure(pair.driver, run).kind == "SessionLost"
        assert pair.driver.note("outcome")["kind"] == "Lost"
        assert pair.driver.log() == ""
