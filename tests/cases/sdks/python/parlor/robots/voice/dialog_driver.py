from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from parlor import rtc
from parlor.protocol.robot_pb import robot_dialog as wire

from .. import utils
from .._proto import pack_talk_entry, pack_duration, pack_timestamp
from .robot_dialog import RobotDialog
from .events import (
    RobotMode,
    RobotModeChangedEvent,
    CloseEvent,
    EndCause,
    TalkEntryAddedEvent,
    PauseForecastEvent,
    ToolsFinishedEvent,
    CallerSpeechHeardEvent,
    CallerMode,
    CallerModeChangedEvent,
)

TOPIC_DIALOG_MESSAGES = "lk.robot.dialog"
_TCP_MAX_MESSAGE_SIZE = 1 << 20

_ROBOT_MODE_TABLE: dict[RobotMode, wire.RobotMode] = {
    "idle": wire.AS_IDLE,
    "listening": wire.AS_LISTENING,
    "speaking": wire.AS_SPEAKING,
}

_CALLER_MODE_TABLE: dict[CallerMode, wire.CallerMode] = {
    "listening": wire.US_LISTENING,
    "away": wire.US_AWAY,
}

_END_CAUSE_TABLE: dict[EndCause, wire.EndCause] = {
    EndCause.ERROR: wire.EndCause.CR_ERROR,
    EndCause.CALLER_INITIATED: wire.EndCause.CR_CALLER_INITIATED,
}


def _spell_options(options_given: Any) -> dict[str, str]:
    return {
        "max_tool_steps": str(options_given.max_tool_steps),
        "caller_away_timeout": str(options_given.caller_away_timeout),
    }


class DialogHost:
    def __init__(self, link: Any) -> None:
        self._link = link
        self._dialog: RobotDialog | None = None

    def watch_dialog(self, dialog: RobotDialog) -> None:
        self._dialog = dialog
        dialog.on("robot_mode_changed", self._on_robot_mode_changed)
        dialog.on("caller_mode_changed", self._on_caller_mode_changed)
        dialog.on("caller_speech_heard", self._on_caller_speech_heard)
        dialog.on("talk_entry_added", self._on_talk_entry_added)
        dialog.on("tools_finished", self._on_tools_finished)
        dialog.on("pause_forecast", self._on_pause_forecast)
        dialog.on("close", self._on_close)

    async def _read_all(self) -> None:
        async for incoming in self._link:
            if incoming.HasField("request"):
                await self._treat_request_safe(incoming.request)

    def _post_event(self, event: wire.RobotDialogEvent, made_at: float) -> None:
        event.made_at.CopyFrom(pack_timestamp(made_at))
        self._link.send(wire.RobotDialogMessage(event=event))

    def _on_robot_mode_changed(self, event: RobotModeChangedEvent) -> None:
        self._post_event(
            wire.RobotDialogEvent(
                robot_mode_changed=wire.RobotDialogEvent.RobotModeChanged(
                    old_mode=_ROBOT_MODE_TABLE[event.old_mode],
                    new_mode=_ROBOT_MODE_TABLE[event.new_mode],
                )
            ),
            made_at=event.made_at,
        )

    def _on_caller_mode_changed(self, event: CallerModeChangedEvent) -> None:
        self._post_event(
            wire.RobotDialogEvent(
                caller_mode_changed=wire.RobotDialogEvent.CallerModeChanged(
                    old_mode=_CALLER_MODE_TABLE[event.old_mode],
                    new_mode=_CALLER_MODE_TABLE[event.new_mode],
                )
            ),
            made_at=event.made_at,
        )

    def _on_caller_speech_heard(self, event: CallerSpeechHeardEvent) -> None:
        self._post_event(
            wire.RobotDialogEvent(
                caller_speech_heard=wire.RobotDialogEvent.CallerSpeechHeard(
                    words=event.words,
                    is_final=event.is_final,
                    tongue=event.tongue,
                )
            ),
            made_at=event.made_at,
        )

    def _on_talk_entry_added(self, event: TalkEntryAddedEvent) -> None:
        self._post_event(
            wire.RobotDialogEvent(
                talk_entry_added=wire.RobotDialogEvent.TalkEntryAdded(
                    item=pack_talk_entry(event.item),
                )
            ),
            made_at=event.made_at,
        )

    def _on_tools_finished(self, event: ToolsFinishedEvent) -> None:
        calls = [
            wire.ToolUse(use_id=use.use_id, name=use.name, arguments=use.arguments)
            for use in event.tool_uses
        ]
        self._post_event(
            wire.RobotDialogEvent(
                tools_finished=wire.RobotDialogEvent.ToolsFinished(
                    tool_uses=calls,
                )
            ),
            made_at=event.made_at,
        )

    def _on_pause_forecast(self, event: PauseForecastEvent) -> None:
        self._post_event(
            wire.RobotDialogEvent(
                pause_forecast=wire.RobotDialogEvent.PauseForecast(
                    probability=event.probability,
                    delay=pack_duration(event.delay),
                )
            ),
            made_at=event.made_at,
        )

    def _on_close(self, event: CloseEvent) -> None:
        self._post_event(
            wire.RobotDialogEvent(
                dialog_closed=wire.RobotDialogEvent.DialogClosed(
                    reason=_END_CAUSE_TABLE.get(event.reason, wire.EndCause.CR_UNKNOWN),
                    message=event.message,
                )
            ),
            made_at=event.made_at,
        )

    async def _respond(self, response: wire.DialogResponse) -> None:
        await self._link.send(wire.RobotDialogMessage(response=response))

    async def _treat_request_safe(self, asked: wire.DialogRequest) -> None:
        try:
            await self._treat_request(asked)
        except Exception:
            await self._respond(
                wire.DialogResponse(request_id=asked.request_id, error="internal error")
            )

    async def _treat_request(self, asked: wire.DialogRequest) -> None:
        assert self._dialog is not None
        if asked.HasField("ping"):
            await self._respond(
                wire.DialogResponse(
                    request_id=asked.request_id,
                    pong=wire.DialogResponse.Pong(),
                )
            )
        elif asked.HasField("get_talk_log"):
            items = [pack_talk_entry(item) for item in self._dialog.history.items]
            await self._respond(
                wire.DialogResponse(
                    request_id=asked.request_id,
                    get_talk_log=wire.DialogResponse.GetTalkLogResponse(items=items),
                )
            )
        elif asked.HasField("get_dialog_mode"):
            await self._respond(
                wire.DialogResponse(
                    request_id=asked.request_id,
                    get_dialog_mode=wire.DialogResponse.GetDialogModeResponse(
                        robot_mode=_ROBOT_MODE_TABLE[self._dialog.robot_mode],
                        robot_id=self._dialog.current_robot.id,
                        options=_spell_options(self._dialog.options),
                    ),
                )
            )
        elif asked.HasField("say_line"):
            error: str | None = None
            items_list: list[wire.TalkContext.TalkEntry] = []
            text = asked.say_line.text
            if not text:
                error = "empty say_line text"
            else:
                result = await self._dialog.run(caller_line=text)
                items_list = [pack_talk_entry(each.item) for each in result.events]
            await self._respond(
                wire.DialogResponse(
                    request_id=asked.request_id,
                    error=error,
                    say_line=wire.DialogResponse.SayLineResponse(items=items_list),
                )
            )
        elif asked.HasField("set_devices"):
            if asked.set_devices.input.HasField("audio_enabled"):
                self._dialog.input.set_audio_enabled(asked.set_devices.input.audio_enabled)
            await self._respond(
                wire.DialogResponse(
                    request_id=asked.request_id,
                    set_devices=wire.DialogResponse.SetDevicesResponse(),
                )
            )
        else:
            await self._respond(
                wire.DialogResponse(request_id=asked.request_id, error="unknown request")
            )


DialogDriverEventTypes = Literal[
    "robot_mode_changed",
    "caller_mode_changed",
    "caller_speech_heard",
    "talk_entry_added",
    "tools_finished",
    "pause_forecast",
    "dialog_closed",
]


class DialogDriver(rtc.EventEmitter[DialogDriverEventTypes]):
    def __init__(self, link: Any) -> None:
        super().__init__()
        self._link = link

    async def _read_all(self) -> None:
        async for incoming in self._link:
            if incoming.HasField("response"):
                self._route_response(incoming.response)
            elif incoming.HasField("event"):
                event_field = incoming.event.WhichOneof("event")
                if event_field:
                    self.emit(event_field, incoming.event)

    async def _send_request(
        self, request: wire.DialogRequest, timeout: float = 60.0
    ) -> wire.DialogResponse:
        await self._link.send(wire.RobotDialogMessage(request=request))
        return await asyncio.wait_for(self._answer(request.request_id), timeout=timeout)

    async def ping(self) -> None:
        await self._send_request(
            wire.DialogRequest(
                request_id=utils.shortuuid("req_"),
                ping=wire.DialogRequest.Ping(),
            )
        )

    async def get_talk_log(self) -> wire.DialogResponse.GetTalkLogResponse:
        answered = await self._send_request(
            wire.DialogRequest(
                request_id=utils.shortuuid("req_"),
                get_talk_log=wire.DialogRequest.GetTalkLog(),
            )
        )
        return answered.get_talk_log

    async def get_dialog_mode(self) -> wire.DialogResponse.GetDialogModeResponse:
        answered = await self._send_request(
            wire.DialogRequest(
                request_id=utils.shortuuid("req_"),
                get_dialog_mode=wire.DialogRequest.GetDialogMode(),
            )
        )
        return answered.get_dialog_mode

    async def run(self, text: str) -> wire.DialogResponse.SayLineResponse:
        answered = await self._send_request(
            wire.DialogRequest(
                request_id=utils.shortuuid("req_"),
                say_line=wire.DialogRequest.SayLine(text=text),
            )
        )
        return answered.say_line

    async def set_devices(self, audio_enabled: bool) -> None:
        update = wire.DialogRequest.SetDevices()
        update.input.audio_enabled = audio_enabled
        await self._send_request(
            wire.DialogRequest(request_id=utils.shortuuid("req_"), set_devices=update)
        )
