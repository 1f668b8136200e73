"""What to look for in an SDK: the names that cannot be found by following definitions.

In: nothing. Out: a Scope for each SDK. Everything else is reached from these: the classes
that become messages are those in the module that names the session's events, those that
the host, the driver and their encoders import, and what the fields of these refer to.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scope:
    """Where an SDK's package comes from and what its parts are called.

    protobuf: module (and exported name) of the messages.
    event_arm, request_arm: fields of the outermost message that carry an event, a request.
    response_error: the field of a response that says what went wrong, as text.
    envelope, envelope_arm: the outermost message, and its union.
    plain: what can be filled in these besides an arm, as `Message.field`: the fields beside
    the union, and the union's own name where a language fills it with a variable.
    wanted: definitions that must be there, `Class.field` for words on a field.
    """

    sdk: str
    language: str
    distribution: str
    package: str
    protobuf: tuple[str, str]
    wanted: tuple[str, ...]
    session: str = "AgentSession"
    host: str = "SessionHost"
    driver: str = "RemoteSession"
    event: str = "AgentSessionEvent"
    event_arm: str = "event"
    request: str = "SessionRequest"
    request_arm: str = "request"
    response: str = "SessionResponse"
    response_error: str = "error"
    envelope: str = "AgentSessionMessage"
    envelope_arm: str = "message"
    plain: frozenset[str] = frozenset(
        {
            "AgentSessionEvent.created_at",
            "AgentSessionEvent.event",
            "AgentSessionMessage.message",
            "SessionRequest.request",
            "SessionRequest.request_id",
            "SessionResponse.error",
            "SessionResponse.request_id",
            "SessionResponse.response",
        }
    )

    @property
    def file(self) -> str:
        """The name of the vocabulary's file."""
        return f"{self.sdk}.json"


PYTHON = Scope(
    sdk="livekit-agents",
    language="python",
    distribution="livekit-agents",
    package="livekit.agents",
    protobuf=("livekit.protocol.agent_pb", "agent_session"),
    wanted=(
        "AMDCategory",
        "AgentState",
        "ChatContent",
        "ChatItem",
        "ChatRole",
        "CloseReason",
        "ModelUsage",
        "SimulationVerdict",
        "TimedString",
        "ToolCallEnded.status",
        "ToolReplyUpdated.status",
        "UserState",
    ),
)

TYPESCRIPT = Scope(
    sdk="agents-js",
    language="typescript",
    distribution="@livekit/agents",
    package="@livekit/agents",
    protobuf=("@livekit/protocol", "AgentSession"),
    wanted=(
        "AMDCategory",
        "AgentState",
        "ChatContent",
        "ChatItem",
        "ChatRole",
        "CloseReason",
        "ModelUsage",
        "SimulationVerdict",
        "TimedString",
        "UserState",
    ),
)

SCOPES = (PYTHON, TYPESCRIPT)
