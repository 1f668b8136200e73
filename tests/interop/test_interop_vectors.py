"""Python, JavaScript and Go agree on every vector: bytes, JSON, and the values of enums.

A published implementation may lack fields of the contract. It then keeps their bytes, and its
JSON is the vector's without them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agent_session_protocol import agent_session_pb2, enums
from google.protobuf import json_format, message_factory
from google.protobuf.descriptor import EnumDescriptor
from google.protobuf.message import Message
from interop_node import node_is_missing
from interop_vectors import (
    Vector,
    encoded_json,
    enum_values,
    go_is_missing,
    go_result,
    node_result,
    numbers,
    own_node_result,
    vectors,
    without,
)
from interop_typescript import typescript_is_missing
from livekit.agents.voice.events import CloseReason
from livekit.protocol.agent_pb import agent_session as published_pb

# What the published messages of each language lack.
SESSION_CLOSED = frozenset({"AgentSessionEvent.session_closed"})
IN_PYTHON = SESSION_CLOSED  # livekit-protocol 1.1.29
IN_JS = SESSION_CLOSED | {"FunctionCall.extra"}  # @livekit/protocol 1.52.1
IN_GO = SESSION_CLOSED  # github.com/livekit/protocol 1.53.2
ALIAS = "CR_TASK_COMPLETED"


def test_there_is_a_vector_for_each_arm() -> None:
    arms = {(item.file, item.arm) for item in vectors()}
    oneofs = {item.file for item in vectors()}
    assert (len(oneofs), len(arms), len(vectors())) == (8, 58, 174)


@pytest.mark.parametrize("vector", vectors(), ids=lambda item: f"{item.file}-{item.name}")
def test_our_python_messages(vector: Vector) -> None:
    decoded = message_factory.GetMessageClass(vector.descriptor).FromString(
        bytes.fromhex(vector.hex)
    )
    assert decoded.SerializeToString(deterministic=True).hex() == vector.hex
    assert json_format.MessageToDict(decoded) == vector.json


def published(vector: Vector) -> Message:
    pool = published_pb.DESCRIPTOR.pool
    name = vector.message.replace("agent_session.", "livekit.agent.", 1)
    message: Message = message_factory.GetMessageClass(pool.FindMessageTypeByName(name))()
    return message


@pytest.mark.parametrize("vector", vectors(), ids=lambda item: f"{item.file}-{item.name}")
def test_published_python_messages(vector: Vector) -> None:
    decoded, parsed = published(vector), published(vector)
    decoded.MergeFromString(bytes.fromhex(vector.hex))
    json_format.ParseDict(vector.json, parsed, ignore_unknown_fields=True)
    result = {
        "hex": decoded.SerializeToString(deterministic=True).hex(),
        "json": json_format.MessageToDict(decoded),
        "parsed": parsed.SerializeToString(deterministic=True).hex(),
    }
    assert_same(vector, result, IN_PYTHON)


def assert_same(vector: Vector, result: dict[str, Any], lacking: frozenset[str]) -> None:
    """Checks what an implementation that lacks fields made of a vector."""
    expected = without(vector.descriptor, vector.json, lacking)
    assert result["hex"] == vector.hex
    assert result["json"] == expected
    assert result["parsed"] == encoded_json(vector, expected)


def check_all(results: list[dict[str, Any]], lacking: frozenset[str]) -> None:
    by_name = {(item["file"], item["name"]): item for item in results}
    assert len(by_name) == len(results) == len(vectors())
    for vector in vectors():
        assert_same(vector, by_name[vector.file, vector.name], lacking)


def declared() -> dict[str, dict[str, int]]:
    """Returns the values of each enum but for the alias, which is the contract's own."""
    found = numbers(enum_values())
    return {
        enum: {name: number for name, number in values.items() if name != ALIAS}
        for enum, values in found.items()
    }


def close_reasons(sdk: str) -> dict[str, str]:
    """Returns the literals of an SDK's close reasons, and the JSON name of each."""
    values = [item for item in enum_values() if item["enum"] == "agent_session.CloseReason"]
    return {item["sdk"][sdk]: item["json"] for item in values if sdk in item["sdk"]}


def test_javascript() -> None:
    reason = node_is_missing()
    if reason:
        pytest.skip(reason)
    result = node_result()
    check_all(result["messages"], IN_JS)
    # @livekit/protocol 1.52.1 has no CloseReason.
    assert result["enums"] == {**declared(), "agent_session.CloseReason": None}
    assert set(result["closeReasons"]) == set(close_reasons("agents-js"))


def test_our_typescript_messages() -> None:
    reason = typescript_is_missing(2)
    if reason:
        pytest.skip(reason)
    result = own_node_result()
    for item in result["messages"]:
        # Of the names of one number, protobuf-es 2 writes the last.
        item["json"] = json.loads(json.dumps(item["json"]).replace(ALIAS, "CR_COMPLETED"))
    check_all(result["messages"], frozenset())
    assert result["enums"] == numbers(enum_values())


def test_go(tmp_path: Path) -> None:
    reason = go_is_missing()
    if reason:
        pytest.skip(reason)
    result = go_result(tmp_path)
    check_all(result["messages"], IN_GO)
    assert result["enums"] == declared()


@pytest.mark.parametrize("module", [agent_session_pb2, published_pb])
def test_enum_values_in_python(module: Any) -> None:
    found: dict[str, EnumDescriptor] = module.DESCRIPTOR.enum_types_by_name
    expected = numbers(enum_values()) if module is agent_session_pb2 else declared()
    assert {
        f"agent_session.{name}": {value.name: value.number for value in enum.values}
        for name, enum in found.items()
    } == expected


def test_close_reasons_in_python() -> None:
    """The table is written down here once more, by hand."""
    values = [item for item in enum_values() if item["enum"] == "agent_session.CloseReason"]
    rows = [(v["name"], v["number"], v["json"], v["sdk"].get("livekit-agents")) for v in values]
    assert rows == [
        ("CR_UNKNOWN", 0, "CR_UNKNOWN", None),
        ("CR_ERROR", 1, "CR_ERROR", "error"),
        ("CR_JOB_SHUTDOWN", 2, "CR_JOB_SHUTDOWN", "job_shutdown"),
        ("CR_PARTICIPANT_DISCONNECTED", 3, "CR_PARTICIPANT_DISCONNECTED", PARTICIPANT_LEFT),
        ("CR_USER_INITIATED", 4, "CR_USER_INITIATED", "user_initiated"),
        ("CR_COMPLETED", 5, "CR_COMPLETED", "task_completed"),
        ("CR_TASK_COMPLETED", 5, "CR_COMPLETED", None),
    ]
    literals = close_reasons("livekit-agents")
    assert set(literals) == {item.value for item in CloseReason}
    for literal, name in literals.items():
        number = enums.close_reason_to_proto(literal)
        assert enums.close_reason_name(number) == name
        event = agent_session_pb2.AgentSessionEvent.SessionClosed(reason=number)
        assert json_format.MessageToDict(event) == {"reason": name}


PARTICIPANT_LEFT = "participant_disconnected"


def test_close_reasons_in_typescript() -> None:
    """The number, JSON name and literal of each value, and the number of the literal."""
    reason = typescript_is_missing(2)
    if reason:
        pytest.skip(reason)
    assert own_node_result()["closeReasons"] == [
        [0, "CR_UNKNOWN", None, None],
        [1, "CR_ERROR", "error", 1],
        [2, "CR_JOB_SHUTDOWN", "job_shutdown", 2],
        [3, "CR_PARTICIPANT_DISCONNECTED", PARTICIPANT_LEFT, 3],
        [4, "CR_USER_INITIATED", "user_initiated", 4],
        [5, "CR_COMPLETED", None, None],
        [5, "CR_COMPLETED", None, None],
    ]
