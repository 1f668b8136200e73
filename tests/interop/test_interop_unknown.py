"""A host that is newer than its driver: events of which the driver has never heard."""

from __future__ import annotations

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from interop_children import Child
from interop_peers import KINDS, OURS, child, program, skip_unless_there
from interop_raw import UNKNOWN_EVENT, RawHost, raw_host


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
def test_a_driver_continues_after_unknown_events(kind: str) -> None:
    skip_unless_there(kind)
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
