"""The interface between a host and the session of an SDK.

`SessionAdapter` emits the events of the SDK under the SDK's names and returns answers in the form
that the generated encoders take. `livekit_agents.session` implements it for livekit-agents.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from agent_session_protocol import responses
from agent_session_protocol.agent_session_pb2 import AgentSessionMessage

from ..errors import AgentSessionError

AudioFrame = AgentSessionMessage.ConsoleIO.AudioFrame


class SdkHostRunning(AgentSessionError, RuntimeError):
    """The session already has another host, such as the SDK's own, and can have only one."""


class HostHandle(Protocol):
    """The host, as the session sees it: what of a close has to wait for the host."""

    @property
    def ending(self) -> bool:
        """Whether the session has closed, and the host is about to."""
        ...

    def job_shuts_down(self) -> None:
        """The job that runs the session is shut down from outside, so nothing may be held up."""

    async def wait_closed(self) -> None:
        """Wait until the host is done."""


class HostedRun(Protocol):
    """One turn of the conversation that a text has begun."""

    def done(self) -> bool:
        """Whether the turn is over."""
        ...

    async def wait(self) -> Sequence[Any]:
        """Wait for the end of the turn; return its items, oldest first. Raises what ended it."""
        ...


class AudioSink(Protocol):
    """Where the agent's speech goes."""

    async def play(self, frame: AudioFrame) -> None:
        """Play this behind what came before."""

    def flush(self) -> None:
        """This stretch of speech is complete."""

    def clear(self) -> None:
        """Throw away what is not played yet."""


class ConsoleAudio(Protocol):
    """The session's side of a console: takes the microphone, and gives to an `AudioSink`."""

    def heard(self, frame: AudioFrame) -> None:
        """The microphone heard this."""

    def played(self) -> None:
        """All speech before the last flush was played."""

    def end(self) -> None:
        """There is no console any more: nothing is heard, and nothing may wait for playback."""


class SessionAdapter(ABC):
    """A session that a host serves. All calls come on the session's event loop."""

    @abstractmethod
    def on(self, event: Any, callback: Any) -> Any:
        """Call `callback` with each event that the SDK emits under a name."""

    @abstractmethod
    def off(self, event: Any, callback: Any) -> Any:
        """Undo `on`."""

    @abstractmethod
    def attach(self, host: HostHandle) -> None:
        """Let the session's close, and all that follows from it, wait for a host.

        Raises:
            SdkHostRunning: the session has another host.
        """

    @abstractmethod
    def detach(self) -> None:
        """Undo `attach`."""

    @property
    @abstractmethod
    def agent_state(self) -> str:
        """What the agent is doing, as the SDK spells it."""

    @property
    @abstractmethod
    def closing(self) -> bool:
        """Whether a close is under way, whose event is still to come."""

    @abstractmethod
    def chat_items(self) -> Sequence[Any]:
        """All items of the conversation, oldest first."""

    @abstractmethod
    def agent_info(self) -> responses.GetAgentInfoResponse:
        """Who has the conversation now.

        Raises:
            RequestError: there is no agent yet.
        """

    @abstractmethod
    def session_state(self) -> responses.GetSessionStateResponse:
        """What goes on, and how the session is set up. Raises as `agent_info` does."""

    @abstractmethod
    def usage(self) -> Any:
        """What `encode_agent_session_usage` reads."""

    @abstractmethod
    def framework_info(self) -> responses.GetFrameworkInfoResponse:
        """Which SDK this is."""

    @abstractmethod
    async def rtc_stats(self) -> responses.GetRTCStatsResponse:
        """The statistics of the room connection; empty lists without a room."""

    @abstractmethod
    def switch(self, side: str, name: str, on: bool) -> None:
        """Set a switch, as UpdateIO names it: `input` or `output`, and such as `audio_enabled`."""

    @abstractmethod
    async def wait_started(self) -> None:
        """Wait until the session has started, so that it can run."""

    @abstractmethod
    async def interrupt(self) -> None:
        """Cut off what the agent says. Raises if that is not possible."""

    @abstractmethod
    def run(self, text: str) -> HostedRun:
        """Say a text in the place of the user.

        Raises:
            RequestError: the session cannot run now.
        """

    @abstractmethod
    def awaits_finalize(self, close: Any) -> bool:
        """Whether a simulator may still ask for the verdict after this close: the session runs
        under a simulation, and was ended by the agent's side rather than from outside."""

    @abstractmethod
    async def finalize(self, success: bool, reason: str) -> None:
        """Run the job's callback for the end of a simulation, with the driver's verdict. Raises
        what the callback raises."""

    @abstractmethod
    def user_verdict(self) -> Any | None:
        """The verdict that the agent has recorded so far, with `success` and `reason`, if any."""

    @abstractmethod
    def open_console(self, sink: AudioSink) -> ConsoleAudio:
        """Take the session's audio from a console, and give it there."""


# The name of `SessionAdapter` in earlier versions.
HostedSession = SessionAdapter
