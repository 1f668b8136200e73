"""Tests of the messages of protobuf packages: how they are read, kept and downloaded."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from scopes import PYTHON, ROOT, TYPESCRIPT

from sessiongen import pipeline
from sessiongen.config import reader
from sessiongen.diagnostics import InputError
from sessiongen.ir.schema import Schema
from sessiongen.vocabulary import protobuf_packages
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.protobuf_packages import ProtobufPackage, PublishedMessages
from sessiongen.vocabulary.protobuf_reader import published_messages, read_versions


@pytest.fixture(scope="module")
def schema() -> Schema:
    """The schema of the contract."""
    return pipeline.read_input(reader.load(ROOT / "codegen.toml"))[2]


def serialized() -> bytes:
    file = FileDescriptorProto(name="a.proto", package="livekit.agent", syntax="proto3")
    enum = file.enum_type.add(name="UserState")
    enum.value.add(name="US_SPEAKING", number=0)
    file.enum_type.add(name="Foreign").value.add(name="A", number=0)
    event = file.message_type.add(name="AgentSessionEvent")
    event.field.add(name="created_at", number=1)
    event.nested_type.add(name="Error").field.add(name="message", number=1)
    return file.SerializeToString()


def test_python(schema: Schema) -> None:
    source = (
        "raise SystemExit('this code must not run')\n"
        f"DESCRIPTOR = _descriptor_pool.Default().AddSerializedFile({serialized()!r})\n"
        "_builder.BuildMessageAndEnumDescriptors(DESCRIPTOR, globals())\n"
    )
    package = Package("p", {"livekit/protocol/agent_pb/agent_session.py": source.encode()})
    assert published_messages(package, PYTHON, "1.2", schema) == PublishedMessages(
        "1.2",
        {"AgentSessionEvent": {"created_at": 1}, "AgentSessionEvent.Error": {"message": 1}},
        {"UserState": {"US_SPEAKING": 0}},
    )


DECLARATIONS = """\
/**
 * @generated from enum livekit.agent.UserState
 */
export declare enum UserState {
  /**
   * @generated from enum value: US_SPEAKING = 0;
   */
  US_SPEAKING = 0,
}
/**
 * The event.
 *
 * @generated from message livekit.agent.AgentSessionEvent
 */
export declare class AgentSessionEvent extends Message<AgentSessionEvent> {
  /**
   * @generated from field: google.protobuf.Timestamp created_at = 1;
   */
  createdAt?: Timestamp;
  /**
   * @generated from field: map<string, string> extra = 2 [deprecated = true];
   */
  extra: { [key: string]: string };
  /**
   * @generated from oneof livekit.agent.AgentSessionEvent.event
   */
  event: {
    /**
     * @generated from field: livekit.agent.AgentSessionEvent.Error error = 17;
     */
    value: AgentSessionEvent_Error;
    case: "error";
  } | { case: undefined; value?: undefined };
}
/**
 * @generated from message other.AgentSessionEventLog
 */
export declare class AgentSessionEventLog {
  /**
   * @generated from field: string text = 9;
   */
  text: string;
}
"""


def test_typescript(schema: Schema) -> None:
    package = Package("p", {"dist/agent.d.ts": DECLARATIONS.encode(), "src/a.ts": b"x"})
    assert published_messages(package, TYPESCRIPT, "1", schema) == PublishedMessages(
        "1",
        {"AgentSessionEvent": {"created_at": 1, "extra": 2, "error": 17}},
        {"UserState": {"US_SPEAKING": 0}},
    )


def test_a_package_without_the_messages(schema: Schema) -> None:
    for scope in (PYTHON, TYPESCRIPT):
        assert published_messages(Package("p", {}), scope, "1", schema).messages == {}


def test_file(tmp_path: Path) -> None:
    path = tmp_path / "sdk.messages.json"
    assert protobuf_packages.load(path) is None
    package = ProtobufPackage(
        "messages", (PublishedMessages("1", {"A": {"x": 1}}, {}), PublishedMessages("2", {}, {}))
    )
    path.write_text(protobuf_packages.dump(package), encoding="utf-8")
    assert protobuf_packages.load(path) == package


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"versions": [{}], "distribution": "x"}'])
def test_a_file_that_is_no_list(tmp_path: Path, text: str) -> None:
    path = tmp_path / "sdk.messages.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="the list of published messages cannot be read"):
        protobuf_packages.load(path)


def test_the_lists_of_this_repository(schema: Schema) -> None:
    for scope, minimum in ((PYTHON, "1.1.28"), (TYPESCRIPT, "1.50.4")):
        path = ROOT / f"vocabularies/{scope.sdk}.messages.json"
        package = protobuf_packages.load(path)
        assert package is not None and package.versions[0].version == minimum
        assert package.distribution == scope.protobuf_distribution
        for published in package.versions:
            # The arm that the contract adds.
            numbers = published.messages["AgentSessionEvent"]
            assert numbers["error"] == 15 and "session_closed" not in numbers


def test_published_packages(schema: Schema) -> None:
    try:
        package = read_versions(PYTHON, "1.1.21", schema)
    except InputError as error:
        pytest.skip(f"the package cannot be fetched: {error}")
    oldest = package.versions[0]
    assert oldest.version == "1.1.21" and "CloseReason" not in oldest.enums
    assert "CloseReason" in package.versions[-1].enums
    nowhere = replace(PYTHON, protobuf_distribution="livekit-protocol", language="python")
    with pytest.raises(InputError):
        read_versions(nowhere, "0.0.0.999", schema)
