"""A host and a driver that parse and make the messages of the benchmarks by hand, and do nothing else.

They show how fast the protocol can be in Python.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Sequence
from typing import Any

from agent_session_protocol import agent_session_pb2 as pb
from wire import Bare, framed


class BareHost:
    """Answers pings, and requests for the history, which it encodes each time."""

    def __init__(self, items: Sequence[Any]) -> None:
        self._items = items
        self.protocol = Bare(self._take)

    def _take(self, frames: list[bytes]) -> bytes:
        # Answers all pings of a chunk with one message, as the host does with many.
        pong = pb.AgentSessionMessage()
        pong.response.pong.SetInParent()
        for frame in frames:
            request = pb.AgentSessionMessage.FromString(frame).request
            answer = pong if request.HasField("ping") else self._history()
            answer.response.request_id = request.request_id
            self.protocol.send(framed(answer))
        return b""

    def _history(self) -> pb.AgentSessionMessage:
        answer = pb.AgentSessionMessage()
        answer.response.get_chat_history.SetInParent()
        for item in self._items:
            encode_by_hand(item, answer.response.get_chat_history.items.add())
        return answer


def transcription(event: Any) -> bytes:
    """Returns the frame of a transcription event."""
    message = pb.AgentSessionMessage()
    to = message.event
    to.created_at.FromNanoseconds(int(event.created_at * 1e9))
    to.user_input_transcribed.transcript = event.transcript
    to.user_input_transcribed.is_final = event.is_final
    return framed(message)


_ROLES = {"developer": 0, "system": 1, "user": 2, "assistant": 3}


def encode_by_hand(item: Any, to: pb.ChatContext.ChatItem) -> None:
    """Writes a chat message or a function call, as one would by hand."""
    seconds = int(item.created_at)
    if item.type == "message":
        message = to.message
        message.id = item.id
        message.role = _ROLES[item.role]  # type: ignore[assignment]
        for text in item.content:
            message.content.add().text = text
        message.interrupted = item.interrupted
        for name in ("llm_node_ttft", "tts_node_ttfb", "e2e_latency"):
            if name in item.metrics:
                setattr(message.metrics, name, item.metrics[name])
        message.created_at.seconds = seconds
        message.created_at.nanos = int((item.created_at - seconds) * 1e9)
        return
    call = to.function_call
    call.id, call.call_id = item.id, item.call_id
    call.name, call.arguments = item.name, item.arguments
    call.created_at.seconds = seconds
    call.created_at.nanos = int((item.created_at - seconds) * 1e9)


class BareDriver:
    """Sends requests for the framework, and returns the responses to the callers."""

    def __init__(self) -> None:
        self._ids = itertools.count()
        self._waiting: dict[str, asyncio.Future[pb.SessionResponse]] = {}
        self._protocol = Bare(self._take)

    async def connect(self, port: int) -> None:
        loop = asyncio.get_running_loop()
        await loop.create_connection(lambda: self._protocol, "127.0.0.1", port)

    async def get_framework_info(self) -> pb.SessionResponse.GetFrameworkInfoResponse:
        request_id = str(next(self._ids))
        message = pb.AgentSessionMessage()
        message.request.request_id = request_id
        message.request.get_framework_info.SetInParent()
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = waiting
        self._protocol.send(framed(message))
        response: pb.SessionResponse = await waiting
        return response.get_framework_info

    def _take(self, frames: list[bytes]) -> bytes:
        for frame in frames:
            response = pb.AgentSessionMessage.FromString(frame).response
            self._waiting.pop(response.request_id).set_result(response)
        return b""
