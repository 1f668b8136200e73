"""A host that is newer than its driver, and sends unknown events."""

from __future__ import annotations

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from interop_subprocesses import Peer
from interop_peers import KINDS, OURS, program, running_peer, skip_if_missing
from interop_raw_host import UNKNOWN_EVENT, RawHost, raw_host


def state_changed(new: pb.AgentState.ValueType) -> pb.AgentSessionMessage:
    message = pb.AgentSessionMessage()
    message.event.agent_state_changed.new_state = new
    return message


def answer_framework_info(host: RawHost, driver: Peer) -> None:
    number = driver.begin("request", name="get_framework_info", fields={})
    message = pb.AgentSessionMessage()
    message.response.request_id = host.request().request_id
    message.response.get_framework_info.sdk = "raw"
    host.send(message)
    assert driver.result(number) == {"sdk": "raw"}


@pytest.mark.parametrize("kind", KINDS)
def test_a_driver_continues_after_unknown_events(kind: str) -> None:
    skip_if_missing(kind)
    closed = pb.AgentSessionMessage()
    closed.event.session_closed.reason = pb.CR_COMPLETED
    newer = pb.AgentSessionMessage(event=pb.AgentSessionEvent.FromString(UNKNOWN_EVENT))
    with running_peer(program("driver", kind)) as driver:
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
            assert not driver.has_noted("ended")
            others = [event["event"] for event in driver.events if "state" not in event["event"]]
            assert others == (["unknown 99", "session_closed"] if kind == OURS else [])
        driver.note("ended")
        if kind == OURS:
            assert driver.note("outcome")["reason_name"] == "CR_COMPLETED"
            assert driver.log() == ""


def states_of(driver: Peer) -> list[str]:
    events = [event for event in driver.events if event["event"] == "agent_state_changed"]
    return [event["payload"]["new_state"] for event in events]
