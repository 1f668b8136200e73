"""Tests that the contract is the published protocol and the listed additions, nothing else.

proto/agent_session.proto is compared with the descriptor in the PyPI package livekit-protocol,
and the bytes and JSON of the messages in contract_samples.jsonl are compared in both.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory
from google.protobuf.message import Message
from livekit.protocol.agent_pb import agent_session as published_pb

HERE = Path(__file__).resolve().parent
PROTO = HERE.parents[1] / "proto"
FieldProto = descriptor_pb2.FieldDescriptorProto
FileProto = descriptor_pb2.FileDescriptorProto

# The additions to livekit-protocol 1.1.29, in the form of `differences`.
ADDITIONS = [
    "added: field AgentSessionEvent.SessionClosed.error"
    " (number 2, type STRING, label OPTIONAL, optional True, json_name error)",
    "added: field AgentSessionEvent.SessionClosed.reason"
    " (number 1, type ENUM, of CloseReason, label OPTIONAL, json_name reason)",
    "added: field AgentSessionEvent.session_closed"
    " (number 24, type MESSAGE, of AgentSessionEvent.SessionClosed, label OPTIONAL,"
    " oneof event, json_name sessionClosed)",
    "added: message AgentSessionEvent.SessionClosed",
    "added: value CloseReason.CR_TASK_COMPLETED (number 5)",
    "changed: enum CloseReason: allow_alias False -> True",
]

# ---------------------------------------------------------------------------------------
# Facts: one file as a flat table, element -> fact -> value.

Facts = dict[str, dict[str, object]]


def facts_of(file: FileProto) -> Facts:
    facts: Facts = {"file": {"syntax": file.syntax}}
    for enum in file.enum_type:
        facts.update(enum_facts("", enum))
    for message in file.message_type:
        facts.update(message_facts("", message, f".{file.package}."))
    return facts


def message_facts(scope: str, message: descriptor_pb2.DescriptorProto, package: str) -> Facts:
    path = f"{scope}{message.name}"
    facts: Facts = {
        f"message {path}": {
            "map_entry": message.options.map_entry,
            "reserved": [(r.start, r.end) for r in message.reserved_range],
            "reserved_names": list(message.reserved_name),
        }
    }
    for field in message.field:
        facts[f"field {path}.{field.name}"] = field_facts(message, field, package)
        if oneof := oneof_of(message, field):
            facts[f"oneof {path}.{oneof}"] = {}
    for enum in message.enum_type:
        facts.update(enum_facts(f"{path}.", enum))
    for nested in message.nested_type:
        facts.update(message_facts(f"{path}.", nested, package))
    return facts


def field_facts(
    message: descriptor_pb2.DescriptorProto, field: FieldProto, package: str
) -> dict[str, object]:
    return {
        "number": field.number,
        "type": FieldProto.Type.Name(field.type).removeprefix("TYPE_"),
        "of": field.type_name.removeprefix(package),
        "label": FieldProto.Label.Name(field.label).removeprefix("LABEL_"),
        "optional": field.proto3_optional,
        "oneof": oneof_of(message, field),
        "json_name": field.json_name or default_json_name(field.name),
        "packed": field.options.packed,
        "deprecated": field.options.deprecated,
    }


def oneof_of(message: descriptor_pb2.DescriptorProto, field: FieldProto) -> str:
    # The synthetic oneof of an `optional` field is ignored.
    written = field.HasField("oneof_index") and not field.proto3_optional
    return message.oneof_decl[field.oneof_index].name if written else ""


def default_json_name(name: str) -> str:
    # Generated Python has no default JSON names.
    return re.sub(r"_+(.?)", lambda match: match[1].upper(), name)


def enum_facts(scope: str, enum: descriptor_pb2.EnumDescriptorProto) -> Facts:
    path = f"{scope}{enum.name}"
    facts: Facts = {
        f"enum {path}": {
            "allow_alias": enum.options.allow_alias,
            "reserved": [(r.start, r.end) for r in enum.reserved_range],
            "reserved_names": list(enum.reserved_name),
        }
    }
    for value in enum.value:
        facts[f"value {path}.{value.name}"] = {"number": value.number}
    return facts


def differences(published: Facts, own: Facts) -> list[str]:
    lines = [f"missing: {element}" for element in published.keys() - own.keys()]
    for element in own.keys() - published.keys():
        stated = [f"{k} {v}" for k, v in own[element].items() if v or k == "number"]
        lines.append(f"added: {element}" + (f" ({', '.join(stated)})" if stated else ""))
    for element in published.keys() & own.keys():
        for fact, was in published[element].items():
            if (now := own[element][fact]) != was:
                lines.append(f"changed: {element}: {fact} {was} -> {now}")
    return sorted(lines)


# ---------------------------------------------------------------------------------------
# The two sides of the comparison.


@cache
def compiled() -> descriptor_pb2.FileDescriptorSet:
    """The contract and its imports, compiled by protoc."""
    well_known = resources.files("grpc_tools") / "_proto"
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "contract.binpb")
        command = [sys.executable, "-m", "grpc_tools.protoc", f"-I{PROTO}", f"-I{well_known}"]
        command += ["--include_imports", f"--descriptor_set_out={out}", "agent_session.proto"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return descriptor_pb2.FileDescriptorSet.FromString(out.read_bytes())


def our_file() -> FileProto:
    (contract,) = (file for file in compiled().file if file.package == "agent_session")
    copy = FileProto()
    copy.CopyFrom(contract)
    return copy


def published_file() -> FileProto:
    file = FileProto()
    published_pb.DESCRIPTOR.CopyToProto(file)
    return file


@cache
def our_classes() -> dict[str, type[Message]]:
    """The message classes of the contract, in a separate pool, by name without package."""
    pool = descriptor_pool.DescriptorPool()
    for file in compiled().file:
        pool.Add(file)
    names = [message.name for message in our_file().message_type]
    descriptors = {name: pool.FindMessageTypeByName(f"agent_session.{name}") for name in names}
    return {name: message_factory.GetMessageClass(descriptors[name]) for name in names}


def test_contract_is_the_published_protocol_with_additions() -> None:
    assert differences(facts_of(published_file()), facts_of(our_file())) == sorted(ADDITIONS)


# ---------------------------------------------------------------------------------------
# Tests of the comparison: each mutation of the contract is reported.


def message_at(file: FileProto, path: str) -> descriptor_pb2.DescriptorProto:
    first, *rest = path.split(".")
    (message,) = (m for m in file.message_type if m.name == first)
    for name in rest:
        (message,) = (m for m in message.nested_type if m.name == name)
    return message


def field_at(file: FileProto, path: str) -> FieldProto:
    owner, _, name = path.rpartition(".")
    (field,) = (f for f in message_at(file, owner).field if f.name == name)
    return field


def enum_at(file: FileProto, name: str) -> descriptor_pb2.EnumDescriptorProto:
    (enum,) = (e for e in file.enum_type if e.name == name)
    return enum


def rename_field(file: FileProto) -> None:
    field_at(file, "SessionRequest.RunInput.text").name = "words"


def renumber_field(file: FileProto) -> None:
    field_at(file, "SessionRequest.ping").number = 3


def change_label(file: FileProto) -> None:
    field_at(file, "ChatMessage.id").label = FieldProto.LABEL_REPEATED


def change_type(file: FileProto) -> None:
    field_at(file, "TTSModelUsage.audio_duration").type = FieldProto.TYPE_FLOAT


def change_message_type(file: FileProto) -> None:
    ping = field_at(file, "SessionRequest.ping")
    ping.type_name = ".agent_session.SessionRequest.GetAgentInfo"


def lose_presence(file: FileProto) -> None:
    field = field_at(file, "SessionResponse.error")
    field.proto3_optional = False
    field.ClearField("oneof_index")


def leave_oneof(file: FileProto) -> None:
    field_at(file, "ChatContext.ChatItem.message").ClearField("oneof_index")


def rename_oneof(file: FileProto) -> None:
    message_at(file, "ChatMessage.ChatContent").oneof_decl[0].name = "content"


def change_json_name(file: FileProto) -> None:
    field_at(file, "MetricsReport.e2e_latency").json_name = "e2ELatency"


def drop_message(file: FileProto) -> None:
    del message_at(file, "AgentSessionMessage").nested_type[0].nested_type[3]


def unset_map_entry(file: FileProto) -> None:
    message_at(file, "FunctionCall.ExtraEntry").options.map_entry = False


def drop_value(file: FileProto) -> None:
    del enum_at(file, "AmdCategory").value[5]


def renumber_value(file: FileProto) -> None:
    enum_at(file, "UserState").value[2].number = 3


def forbid_alias(file: FileProto) -> None:
    enum_at(file, "CloseReason").options.allow_alias = False


TEXT = "number 1, type STRING, label OPTIONAL, json_name text"
MUTATIONS: list[tuple[Callable[[FileProto], None], set[str]]] = [
    (
        rename_field,
        {
            "missing: field SessionRequest.RunInput.text",
            f"added: field SessionRequest.RunInput.words ({TEXT})",
        },
    ),
    (renumber_field, {"changed: field SessionRequest.ping: number 2 -> 3"}),
    (change_label, {"changed: field ChatMessage.id: label OPTIONAL -> REPEATED"}),
    (change_type, {"changed: field TTSModelUsage.audio_duration: type DOUBLE -> FLOAT"}),
    (
        change_message_type,
        {
            "changed: field SessionRequest.ping:"
            " of SessionRequest.Ping -> SessionRequest.GetAgentInfo"
        },
    ),
    (lose_presence, {"changed: field SessionResponse.error: optional True -> False"}),
    (leave_oneof, {"changed: field ChatContext.ChatItem.message: oneof item -> "}),
    (
        rename_oneof,
        {
            "missing: oneof ChatMessage.ChatContent.payload",
            "added: oneof ChatMessage.ChatContent.content",
            "changed: field ChatMessage.ChatContent.text: oneof payload -> content",
        },
    ),
    (
        change_json_name,
        {"changed: field MetricsReport.e2e_latency: json_name e2eLatency -> e2ELatency"},
    ),
    (drop_message, {"missing: message AgentSessionMessage.ConsoleIO.AudioPlaybackFinished"}),
    (unset_map_entry, {"changed: message FunctionCall.ExtraEntry: map_entry True -> False"}),
    (drop_value, {"missing: value AmdCategory.AMD_UNCERTAIN"}),
    (renumber_value, {"changed: value UserState.US_AWAY: number 2 -> 3"}),
    # A removed addition is reported as well.
    (forbid_alias, {"changed: enum CloseReason: allow_alias False -> True"}),
]


@pytest.mark.parametrize(("mutate", "reported"), MUTATIONS, ids=[m[0].__name__ for m in MUTATIONS])
def test_each_mutation_is_reported(mutate: Callable[[FileProto], None], reported: set[str]) -> None:
    file = our_file()
    before = differences(facts_of(published_file()), facts_of(file))
    mutate(file)
    after = differences(facts_of(published_file()), facts_of(file))
    # Unlisted additions are reported by the test above.
    assert set(after) ^ set(before) == reported


# ---------------------------------------------------------------------------------------
# Bytes and JSON. Together, the samples set every field.

SAMPLES = (HERE / "contract_samples.jsonl").read_text(encoding="utf-8").splitlines()


def published_class(name: str) -> type[Message]:
    class_: type[Message] = getattr(published_pb, name)
    return class_


def arms_of(line: str) -> str:
    return "-".join(re.findall(r'"(\w+)": [{]', line)[:4])


@pytest.mark.parametrize("line", SAMPLES, ids=arms_of)
def test_bytes_and_json_equal_those_of_the_published_protocol(line: str) -> None:
    ((name, sample),) = json.loads(line).items()
    classes = published_class(name), our_classes()[name]
    published_message, own = (json_format.ParseDict(sample, cls()) for cls in classes)
    data = published_message.SerializeToString(deterministic=True)
    assert own.SerializeToString(deterministic=True) == data
    for cls in classes:
        read = cls.FromString(data)
        assert json_format.MessageToDict(read) == sample
        assert read.SerializeToString(deterministic=True) == data
    by_name = [
        json_format.MessageToJson(m, preserving_proto_field_name=True)
        for m in (published_message, own)
    ]
    assert by_name[0] == by_name[1]


def fields_set(message: Message) -> Iterator[str]:
    """Yields the fields that a message and its nested messages set, named as in `facts_of`."""
    package = published_pb.DESCRIPTOR.package
    for field, value in message.ListFields():
        yield f"field {field.full_name.removeprefix(package + '.')}"
        inner = field.message_type
        if inner and inner.file.package == package and not inner.GetOptions().map_entry:
            for one in [value] if isinstance(value, Message) else value:
                yield from fields_set(one)


def test_samples_set_every_published_field() -> None:
    samples = [item for line in SAMPLES for item in json.loads(line).items()]
    parsed = [json_format.ParseDict(sample, published_class(name)()) for name, sample in samples]
    covered = {path for message in parsed for path in fields_set(message)}
    every = {path for path in facts_of(published_file()) if path.startswith("field ")}
    assert covered == {path for path in every if "Entry." not in path}


def closed(reason: str) -> Message:
    sample: dict[str, Any] = {"event": {"sessionClosed": {"reason": reason, "error": "e"}}}
    return json_format.ParseDict(sample, our_classes()["AgentSessionMessage"]())


def test_older_reader_preserves_unknown_event() -> None:
    data = closed("CR_ERROR").SerializeToString()
    published_message = published_pb.AgentSessionMessage.FromString(data)
    assert published_message.event.WhichOneof("event") is None
    assert published_message.SerializeToString() == data


def test_aliases_of_completion() -> None:
    published, proposed = closed("CR_COMPLETED"), closed("CR_TASK_COMPLETED")
    assert published == proposed
    written = json_format.MessageToDict(proposed)["event"]["sessionClosed"]["reason"]
    assert written == "CR_COMPLETED" == published_pb.CloseReason.Name(5)
