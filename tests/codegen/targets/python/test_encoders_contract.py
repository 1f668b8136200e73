"""Property tests of the contract's encoders and decoders, and of its enum literals.

Random messages and models must round-trip. The literals were collected by hand.
"""

from __future__ import annotations

from typing import Any

import pytest
import random_messages
from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol import decoders, encoders, models
from contract_coders import CODERS, LITERALS, without_empty_parts
from hypothesis import HealthCheck, assume, given, settings

FEW = settings(
    max_examples=40,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("name", CODERS.by_name)
def test_messages_round_trip(name: str) -> None:
    coder = CODERS.by_name[name]

    @FEW
    @given(random_messages.messages(CODERS, name).map(without_empty_parts))
    def check(message: Any) -> None:
        assert coder.encode(coder.decode(message)) == message

    check()


@pytest.mark.parametrize("name", CODERS.by_name)
def test_models_round_trip(name: str) -> None:
    coder = CODERS.by_name[name]

    @FEW
    @given(random_messages.models(CODERS, name))
    def check(model: Any) -> None:
        # Encoders leave out parts without a text.
        alone = name == "agent_session.ChatMessage.ChatContent"
        assume(alone or "ChatMessageChatContent(text=None)" not in repr(model))
        assert coder.decode(coder.encode(model)) == model

    check()


@pytest.mark.parametrize("enum", LITERALS)
def test_every_literal_is_mapped_to_its_number(enum: str) -> None:
    """Encodes the first field with the enum, instead of reading enums.py."""
    name, field = next(
        (full_name, field)
        for full_name, coder in CODERS.by_name.items()
        for field in coder.message.DESCRIPTOR.fields
        if field.enum_type is not None and field.enum_type.full_name == enum
    )
    coder = CODERS.by_name[name]
    for number, literal in LITERALS[enum].items():
        source = {item.name: None for item in coder.message.DESCRIPTOR.fields}
        for item in coder.message.DESCRIPTOR.fields:
            if item.enum_type is not None:
                source[item.name] = next(iter(LITERALS[item.enum_type.full_name].values()))
        source[field.name] = literal
        encoded = coder.encode(source)
        assert getattr(encoded, field.name) == number
        assert getattr(coder.decode(encoded), field.name) == literal


def test_unknown_value_of_an_enum_with_a_fallback() -> None:
    closed = pb.AgentSessionEvent.SessionClosed.FromString(b"\x08\x63")
    assert decoders.decode_session_closed(closed).reason is None


def test_unknown_item_is_none() -> None:
    """Arm 99 of ChatItem: the history has None for it, and keeps its length."""
    item = b"\x9a\x06\x00"
    history = pb.SessionResponse.GetChatHistoryResponse.FromString(b"\x0a\x03" + item)
    assert decoders.decode_get_chat_history_response(history).items == (None,)
    assert decoders.decode_chat_context_chat_item(pb.ChatContext.ChatItem.FromString(item)) is None
    assert encoders.encode_chat_context_chat_item(None) == pb.ChatContext.ChatItem()


def test_models_compare_by_value() -> None:
    model = models.SessionClosed(reason="error", error=None)
    assert model == models.SessionClosed(reason="error", error=None)
    assert hash(model) == hash(models.SessionClosed(reason="error", error=None))
    with pytest.raises(AttributeError):
        setattr(model, "reason", "user_initiated")
    with pytest.raises(TypeError, match="error"):
        models.SessionClosed(reason="error")  # type: ignore[call-arg]
