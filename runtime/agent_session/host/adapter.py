"""The interface between a host and the session of an SDK.

`SessionAdapter` emits the events of the SDK under the SDK's names and returns the contents of
responses in the form that the generated encoders take. `livekit_agents.session` implements it for
livekit-agents.
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
    """The session already has a host, such as the SDK's own. It can have only one."""


class HostHandle(Protocol):
    """The part of a host that the adapter of a session uses."""

    @property
    def ending(self) -> bool:
        """Whether the session has closed, and the host has not closed yet."""
        ...

    def job_shuts_down(self) -> None:
        """Ends the finalize hold, because the job of the session is shut down from outside."""

    async def wait_closed(self) -> None:
        """Waits until the host has closed."""


class HostedRun(Protocol):
    """A turn of the conversation that `SessionAdapter.run` has started."""

    def done(self) -> bool:
        """Reports whether the turn has ended."""
        ...

    async def wait(self) -> Sequence[Any]:
        """Waits for the end of the turn, and returns its items, oldest first.

        Raises the error that ended the turn.
        """
        ...


class AudioSink(Protocol):
    """Receives the speech of the agent."""

    async def play(self, frame: AudioFrame) -> None:
        """Plays a frame after the frames before it."""

    def flush(self) -> None:
        """Marks the end of a speech segment."""

    def clear(self) -> None:
        """Discards the audio that is not played yet."""


class ConsoleAudio(Protocol):
    """Connects the audio of a session to a console. Sends speech to an `AudioSink`."""

    def push_input(self, frame: AudioFrame) -> None:
        """Passes a frame of the console's microphone to the session."""

    def playback_finished(self) -> None:
        """Reports that all speech before the last flush was played."""

    def end(self) -> None:
        """Disconnects the console. Speech that is not played yet counts as interrupted."""


class SessionAdapter(ABC):
    """A session that a host serves. All methods are called on the session's event loop."""

    @abstractmethod
    def on(self, event: Any, callback: Any) -> Any:
        """Registers a callback for an event of the SDK, by the SDK's name."""

    @abstractmethod
    def off(self, event: Any, callback: Any) -> Any:
        """Removes a callback that `on` registered."""

    @abstractmethod
    def attach(self, host: HostHandle) -> None:
        """Makes the close of the session, and what follows from it, wait for a host.

        Raises:
            SdkHostRunning: the session has another host.
        """

    @abstractmethod
    def detach(self) -> None:
        """Reverts `attach`."""

    @property
    @abstractmethod
    def agent_state(self) -> str:
        """The state of the agent, as the SDK names it."""

    @property
    @abstractmethod
    def closing(self) -> bool:
        """Whether the session is closing and has not emitted the close event yet."""

    @abstractmethod
    def chat_items(self) -> Sequence[Any]:
        """Returns all items of the conversation, oldest first."""

    @abstractmethod
    def agent_info(self) -> responses.GetAgentInfoResponse:
        """Returns the active agent.

        Raises:
            RequestError: there is no agent yet.
        """

    @abstractmethod
    def session_state(self) -> responses.GetSessionStateResponse:
        """Returns the states and the options of the session. Raises as `agent_info` does."""

    @abstractmethod
    def usage(self) -> Any:
        """Returns the usage, as `encode_agent_session_usage` reads it."""

    @abstractmethod
    def framework_info(self) -> responses.GetFrameworkInfoResponse:
        """Returns the name and the version of the SDK."""

    @abstractmethod
    async def rtc_stats(self) -> responses.GetRTCStatsResponse:
        """Returns the statistics of the room connection; empty lists without a room."""

    @abstractmethod
    def switch(self, side: str, name: str, on: bool) -> None:
        """Sets a switch of the session.

        Args:
            side: `input` or `output`.
            name: the name of the switch in UpdateIO, such as `audio_enabled`.
            on: the new value.
        """

    @abstractmethod
    async def wait_started(self) -> None:
        """Waits until the session has started, so that `run` can be called."""

    async def wait_agent_ready(self) -> None:
        """Waits while an agent is being replaced, since the session cannot start a turn then."""

    @abstractmethod
    async def interrupt(self) -> None:
        """Interrupts the speech of the agent. Raises an error if that is not possible."""

    @abstractmethod
    def run(self, text: str) -> HostedRun:
        """Starts a turn with a text as the user's input.

        Raises:
            RequestError: the session cannot start a turn now.
        """

    @abstractmethod
    def awaits_finalize(self, close: Any) -> bool:
        """Reports whether a simulator may send finalize_simulation after a close.

        This is so if the session runs in a simulation and was not closed from outside.

        Args:
            close: the close event of the SDK.
        """

    @abstractmethod
    async def finalize(self, success: bool, reason: str) -> None:
        """Calls the job's callback for the end of a simulation with the driver's verdict.

        Raises the errors of the callback.
        """

    @abstractmethod
    def user_verdict(self) -> Any | None:
        """Returns the verdict of the agent, with `success` and `reason`; None if there is none."""

    @abstractmethod
    def open_console(self, sink: AudioSink) -> ConsoleAudio:
        """Replaces the audio of the session with that of a console."""


# The name of `SessionAdapter` in earlier versions.
HostedSession = SessionAdapter
