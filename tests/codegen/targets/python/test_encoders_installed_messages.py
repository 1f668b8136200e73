"""Property tests of encoders and decoders of installed message modules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import coders
import pytest
import random_messages
import generated_packages
from hypothesis import HealthCheck, given, settings

FFI = """[roles]
event = "FfiEvent"
request = "FfiRequest"
response = "FfiResponse"

[annotations."livekit.proto.FfiRequest.edit_chat_message"]
response = "send_chat_message"
"""
PING = """[annotations."livekit.agent.SessionRequest.ping"]
response = "pong"
"""
FEW = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize(
    ("module", "rest", "least"),
    [
        ("livekit.rtc._proto.ffi_pb2", FFI, 300),
        ("livekit.protocol.agent_pb.agent_session", PING, 40),
    ],
)
def test_messages_and_models_round_trip(module: str, rest: str, least: int, tmp_path: Path) -> None:
    name = f"carried_{module.rpartition('.')[2]}"
    config = generated_packages.configured(tmp_path, name, f'messages = "{module}"', rest=rest)
    package_coders = coders.coders(generated_packages.generate(config))
    assert len(package_coders.by_name) > least
    for full_name, coder in package_coders.by_name.items():

        @FEW
        @given(
            random_messages.messages(package_coders, full_name),
            random_messages.models(package_coders, full_name),
        )
        def check(message: Any, model: Any) -> None:
            assert coder.encode(coder.decode(message)) == message
            assert coder.decode(coder.encode(model)) == model

        check()
