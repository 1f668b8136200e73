"""How a session comes to its end, and what the other side learns of it."""

from __future__ import annotations

import pytest
from interop_children import Child, PeerError
from interop_peers import JS, KINDS, OURS, PYTHON, Pair, paired, skip_unless_there
from interop_raw import UNKNOWN_REQUEST

FINALIZE = {"provisional_success": True, "provisional_reason": "all went well"}


def request(driver: Child, name: str, **given: object) -> dict[str, object]:
    answer: dict[str, object] = driver.ask("request", name=name, given=given)
    return answer


def begin_endless_run(driver: Child) -> int:
    """A run in which the model never answers."""
    run = driver.begin("request", name="run_input", given={"text": "wait"})

    def thinks() -> bool:
        states = [event["payload"].get("new_state") for event in driver.events]
        return bool(states) and states[-1] == "AS_THINKING"

    driver.wait(thinks, "the agent's thinking")
    return run


def failure(driver: Child, number: int) -> PeerError:
    with pytest.raises(PeerError) as caught:
        driver.answer(number)
    return caught.value


def told_of_close(driver: Child) -> list[object]:
    return [event["payload"] for event in driver.events if event["event"] == "session_closed"]


def close_and_stay(pair: Pair) -> None:
    """Close the session of a simulation, and wait until our driver knows it."""
    pair.host.begin("close", how="agent")
    pair.host.note("closed")
    if "session_closed" in pair.listens:
        pair.driver.note("outcome")


@pytest.mark.parametrize(
    ("how", "verdict", "reason"),
    [
        ("agent", None, "CR_USER_INITIATED"),
        ("task_completed", None, "CR_COMPLETED"),
        # Under a simulation too, a host stays for nobody once the job is shut down.
        ("job", "a verdict", "CR_JOB_SHUTDOWN"),
    ],
)
def test_our_driver_gets_the_reason_of_the_end(how: str, verdict: str | None, reason: str) -> None:
    with paired(OURS, OURS, verdict) as pair:
        pair.host.begin("close", how=how)
        outcome = pair.driver.note("outcome")
        assert (outcome["kind"], outcome["reason_name"]) == ("Ended", reason)
        assert outcome["error"] is None
        assert pair.driver.note("over")["reason"] is None
        assert told_of_close(pair.driver) == [{"reason": reason}]
        assert pair.driver.events[-1]["event"] == "session_closed"
        assert pair.driver.ask("status", seconds=10) == "Ended"
        with pytest.raises(PeerError) as caught:
            request(pair.driver, "run_input", text="hello")
        assert caught.value.kind == "SessionEnded"
        assert pair.driver.log() == ""
        assert "finalize_simulation" not in pair.host.log()  # it would say that none came


def test_our_driver_gets_the_error_that_closed_the_session() -> None:
    with paired(OURS, OURS) as pair:
        # One failure of its model is borne, the second ends the session.
        first = pair.driver.begin("request", name="run_input", given={"text": "fail"})
        assert "the model is down" in failure(pair.driver, first).message
        second = pair.driver.begin("request", name="run_input", given={"text": "fail"})
        assert "CR_ERROR" in failure(pair.driver, second).message
        outcome = pair.driver.note("outcome")
        assert (outcome["kind"], outcome["reason_name"]) == ("Ended", "CR_ERROR")
        assert "the model is down" in outcome["error"]
        assert told_of_close(pair.driver) == [{"reason": "CR_ERROR", "error": outcome["error"]}]


@pytest.mark.parametrize("kind", KINDS)
def test_superseded_and_cut_off_runs(kind: str) -> None:
    """A newer run supersedes the older, and the close of the session cuts off the newest. What a
    published driver does not know, session_closed, does not disturb it."""
    skip_unless_there(kind)
    with paired(OURS, kind) as pair:
        oldest = begin_endless_run(pair.driver)
        older = pair.driver.begin("request", name="run_input", given={"text": "hello"})
        (item,) = pair.driver.answer(older)["items"]
        assert item["message"]["content"] == [{"text": "Good day, parcel office."}]
        assert "superseded" in failure(pair.driver, oldest).message
        newest = begin_endless_run(pair.driver)
        pair.host.begin("close", how="participant_disconnected")
        assert "CR_PARTICIPANT_DISCONNECTED" in failure(pair.driver, newest).message
        pair.driver.note("over")
        assert len(told_of_close(pair.driver)) == ("session_closed" in pair.listens)
        assert "closed" not in pair.driver.log()


@pytest.mark.parametrize("kind", KINDS)
def test_our_host_waits_for_finalize_simulation(kind: str) -> None:
    """The verdict is told, although the agent's judge fails after giving it."""
    skip_unless_there(kind)
    with paired(OURS, kind, "raise") as pair:
        close_and_stay(pair)
        assert request(pair.driver, "get_framework_info")
        assert not pair.driver.has_noted("over")
        finalize = pair.driver.begin("request", name="finalize_simulation", given=FINALIZE)
        error = failure(pair.driver, finalize)
        assert "the judge fell over" in error.message
        if kind == JS:  # which shows the verdict beside the error
            assert "raise; told True, all went well" in error.message
        pair.driver.note("over")
        assert len(told_of_close(pair.driver)) == ("session_closed" in pair.listens)


@pytest.mark.parametrize("kind", [PYTHON, JS])
def test_a_run_after_the_close_is_not_answered_to_an_old_simulator(kind: str) -> None:
    skip_unless_there(kind)
    with paired(OURS, kind, "a verdict") as pair:
        close_and_stay(pair)
        run = pair.driver.begin("request", name="run_input", given={"text": "hello"})
        pair.driver.note("over")
        if kind == JS:  # which notices nothing before it is closed itself
            assert not pair.driver.answered(run)
            pair.driver.ask("close")
        assert "closed" in failure(pair.driver, run).message


@pytest.mark.parametrize("host", [PYTHON, JS])
def test_a_published_host_that_closes_is_lost(host: str) -> None:
    skip_unless_there(host)
    with paired(host, OURS) as pair:
        pending = pair.driver.begin("unknown", content=UNKNOWN_REQUEST, seconds=60)
        request(pair.driver, "ping")
        pair.host.begin("close", how="agent")
        assert failure(pair.driver, pending).kind == "SessionLost"
        assert pair.driver.note("over")["reason"] is None
        outcome = pair.driver.note("outcome")
        assert (outcome["kind"], outcome["by_driver"]) == ("Lost", False)
        assert told_of_close(pair.driver) == []
        assert pair.driver.ask("status", seconds=10) == "Lost"
        assert pair.driver.log() == ""


@pytest.mark.parametrize("host", KINDS)
def test_a_host_that_is_killed_is_lost(host: str) -> None:
    skip_unless_there(host)
    with paired(host, OURS) as pair:
        run = begin_endless_run(pair.driver)
        pair.host.kill()
        assert failure(pair.driver, run).kind == "SessionLost"
        assert pair.driver.note("outcome")["kind"] == "Lost"
        assert pair.driver.log() == ""
