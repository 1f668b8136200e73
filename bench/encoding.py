"""Measures the encoders with one item of a conversation, against those of livekit-agents."""

from __future__ import annotations

import timeit
from typing import Any

from agent_session_protocol.encoders import encode_chat_context_chat_item
from livekit.agents._proto import encode_chat_item
from livekit.agents.llm import ChatItem, ChatMessage, FunctionCall
from measure import Row, seconds

_CALLS = 2000
_ROUNDS = 30


def rows() -> list[Row]:
    """Measures everything; takes a few seconds."""
    metrics: Any = {"llm_node_ttft": 0.25, "tts_node_ttfb": 0.125, "e2e_latency": 0.75}
    message = ChatMessage(role="assistant", content=["Sunny, with a light wind."], metrics=metrics)
    call = FunctionCall(call_id="call_1", name="weather", arguments='{"city": "Oslo"}')
    return [
        _row("a chat message, encoded", message, 5.0),
        _row("a function call, encoded", call, 4.0),
    ]


def _row(name: str, item: ChatItem, limit: float) -> Row:
    def measured(encode: Any) -> float:
        return timeit.timeit(lambda: encode(item), number=_CALLS) / _CALLS

    rounds = [
        (measured(encode_chat_context_chat_item), measured(encode_chat_item))
        for _ in range(_ROUNDS)
    ]
    ours, peer = (min(times) for times in zip(*rounds, strict=True))
    beside = ("livekit-agents", seconds(peer))
    return Row(name, seconds(ours), beside, peer / ours, limit, at_least=True, chart=name)
