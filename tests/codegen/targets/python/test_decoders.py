"""Decoders and the values of enums that the SDK does not have."""

from __future__ import annotations

import pytest
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import decoders, encoders, enums, models
from agent_session_protocol.errors import UnmappedValueError

NEWER = 77


def test_an_enum_value_of_a_newer_peer_is_kept() -> None:
    message = pb.AgentSessionEvent.AgentStateChanged.FromString(
        bytes([0x08, NEWER, 0x10, pb.AS_SPEAKING])
    )
    assert (message.old_state, message.new_state) == (NEWER, pb.AS_SPEAKING)
    decoded = decoders.decode_agent_state_changed(message)
    assert decoded == models.AgentStateChanged(
        old_state=enums.UnmappedValue("agent_session.AgentState", NEWER), new_state="speaking"
    )
    assert encoders.encode_agent_state_changed(decoded) == message


def test_a_value_that_the_sdk_lacks_is_kept() -> None:
    message = pb.AgentSessionEvent.ToolExecutionUpdated.Ended(status=pb.TC_RUNNING)
    decoded = decoders.decode_tool_execution_updated_ended(message)
    assert decoded.status == enums.UnmappedValue("agent_session.ToolCallStatus", pb.TC_RUNNING)


def test_an_unmapped_value_of_another_enum_is_refused() -> None:
    value = enums.UnmappedValue("agent_session.UserState", 1)
    with pytest.raises(UnmappedValueError, match="agent_session.AgentState"):
        enums.agent_state_to_proto(value)  # type: ignore[arg-type, unused-ignore]
    assert enums.user_state_to_proto(value) == 1


def test_conversions_still_raise() -> None:
    with pytest.raises(UnmappedValueError, match="agent_session.AgentState"):
        enums.agent_state_from_proto(NEWER)  # type: ignore[arg-type]
