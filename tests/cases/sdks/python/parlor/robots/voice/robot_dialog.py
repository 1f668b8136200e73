from __future__ import annotations

from parlor import rtc

from ..llm import TalkEntry, TalkMessage, ToolUse
from .events import (
    RobotMode,
    RobotModeChangedEvent,
    CloseEvent,
    EndCause,
    TalkEntryAddedEvent,
    PauseForecastEvent,
    EventTypes,
    ToolsFinishedEvent,
    CallerSpeechHeardEvent,
    CallerMode,
    CallerModeChangedEvent,
)


class RobotDialog(rtc.EventEmitter[EventTypes]):
    def __init__(self) -> None:
        super().__init__()
        self._robot_mode: RobotMode = "idle"
        self._caller_mode: CallerMode = "listening"

    @property
    def robot_mode(self) -> RobotMode:
        return self._robot_mode

    def _update_robot_mode(self, mode: RobotMode) -> None:
        old_mode = self._robot_mode
        self._robot_mode = mode
        self.emit(
            "robot_mode_changed",
            RobotModeChangedEvent(old_mode=old_mode, new_mode=mode),
        )

    def _listen(self) -> None:
        self._update_robot_mode("listening")

    def _speak(self) -> None:
        self._update_robot_mode("speaking")

    def _update_caller_mode(self, away: bool) -> None:
        old_mode = self._caller_mode
        self._caller_mode = "away" if away else "listening"
        self.emit(
            "caller_mode_changed",
            CallerModeChangedEvent(old_mode=old_mode, new_mode=self._caller_mode),
        )

    def _transcribed(self, text: str, final: bool) -> None:
        self.emit("caller_speech_heard", CallerSpeechHeardEvent(words=text, is_final=final))
        self._added(TalkMessage(id="a", role="caller", content=[text]))

    def _said(self, text: str) -> None:
        self._added(TalkMessage(id="b", role="assistant", content=[text]))

    def _added(self, item: TalkEntry) -> None:
        self.emit("talk_entry_added", TalkEntryAddedEvent(item=item))

    def _executed(self, calls: list[ToolUse]) -> None:
        self.emit("tools_finished", ToolsFinishedEvent(tool_uses=calls))

    def _predicted(self, probability: float, delay: float) -> None:
        self.emit("pause_forecast", PauseForecastEvent(probability=probability, delay=delay))

    def shutdown(self) -> None:
        self._close(EndCause.CALLER_INITIATED)

    def _fail(self, error: Exception) -> None:
        self._close(EndCause.ERROR, str(error))

    def _close(self, reason: EndCause, message: str | None = None) -> None:
        self.emit("close", CloseEvent(reason=reason, message=message))
