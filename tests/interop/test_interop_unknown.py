"""Peers of different age: what the one has and the other has never heard of."""

from __future__ import annotations

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from interop_children import Child, PeerError
from interop_peers import JS, KINDS, OURS, PYTHON, child, missing, paired, program
from interop_raw import RawHost, raw_host

# A request with the id r-99 and the arm 99, of which nobody knows anything: a length-delimited
# field that is empty. Its key is 99 << 3 | 2 = 794, as a varint 9a 06.
UNKNOWN_REQUEST = b"\x0a\x04r-99\x9a\x06\x00".hex()
# An event with arm 99.
UNKNOWN_EVENT = b"\x9a\x06\x00"


def skip_if_missing(*kinds: str) -> None:
    for kind in kinds:
        if reason := missing(kind):
            pytest.skip(f"no {kind}: {reason}")


@pytest.mark.parametrize("host", [PYTHON, JS])
def test_an_old_host_leaves_a_new_request_unanswered_and_we_time_out(host: str) -> None:
    skip_if_missing(host)
    with paired(host, OURS) as pair:
        with pytest.raises(PeerError) as caught:
            pair.driver.ask("unknown", content=UNKNOWN_REQUEST, seconds=0.3)
        assert caught.value.kind == "RequestTimedOut"
        assert pair.driver.ask("request", name="ping", given={}) == {}
        assert pair.driver.ask("status", seconds=10) == "Alive"
        assert pair.driver.log() == ""


@pytest.mark.parametrize("driver", KINDS)
def test_our_host_answers_a_new_request_at_once(driver: str) -> None:
    skip_if_missing(driver)
    with paired(OURS, driver) as pair:
        with pytest.raises(PeerError) as caught:
            pair.driver.ask("unknown", content=UNKNOWN_REQUEST, seconds=60)
        assert "unimplemented request" in caught.value.message
        assert "99" in caught.value.message
        info = pair.driver.ask("request", name="get_framework_info", given={})
        assert info["sdk"] == "python"


def state_changed(new: pb.AgentState.ValueType) -> pb.AgentSessionMessage:
    message = pb.AgentSessionMessage()
    message.event.agent_state_changed.new_state = new
    return message


def answer_framework_info(host: RawHost, driver: Child) -> None:
    number = driver.begin("request", name="get_framework_info", given={})
    message = pb.AgentSessionMessage()
    message.response.request_id = host.request().request_id
    message.response.get_framework_info.sdk = "raw"
    host.send(message)
    assert driver.answer(number) == {"sdk": "raw"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_driver_carries_on_after_events_that_it_may_not_know(kind: str) -> None:
    skip_if_missing(kind)
    closed = pb.AgentSessionMessage()
    closed.event.session_closed.reason = pb.CR_COMPLETED
    newer = pb.AgentSessionMessage(event=pb.AgentSessionEvent.FromString(UNKNOWN_EVENT))
    with child(program("driver", kind)) as driver:
        with raw_host(driver.note("listening")["port"]) as host:
            driver.note("connected")
            for message in (
                newer,
                state_changed(pb.AS_THINKING),
                closed,
                state_changed(pb.AS_IDLE),
            ):
                host.send(message)
            driver.wait(lambda: states_of(driver) == ["AS_THINKING", "AS_IDLE"], "both states")
            answer_framework_info(host, driver)
            assert not driver.has_noted("over")
            others = [event["event"] for event in driver.events if "state" not in event["event"]]
            assert others == (["unknown 99", "session_closed"] if kind == OURS else [])
        driver.note("over")
        if kind == OURS:
            assert driver.note("outcome")["reason_name"] == "CR_COMPLETED"
            assert driver.log() == ""


def states_of(driver: Child) -> list[str]:
    events = [event for event in driver.events if event["event"] == "agent_state_changed"]
    return [event["payload"]["new_state"] for event in events]
