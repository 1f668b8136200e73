"""Tests of the arguments that sinks and clients of a generated package refuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import generated_packages
import pytest
from exchanges import Exchange, Modules, run

# The converter of a time, a duration or a Struct rejects None itself.
NO_VALUES = {
    "string echo": "echo is required, and None is given",
    "bool flag": "flag is required, and None is given",
    "google.protobuf.Value data": "data is required, and None is given",
    "google.protobuf.Timestamp time": None,
    "google.protobuf.Duration span": None,
    "google.protobuf.Struct table": None,
}


def test_none_is_no_value_of_an_arm(tmp_path: Path) -> None:
    names = ("struct", "timestamp", "duration")
    imports = "".join(f'import "google/protobuf/{name}.proto";\n' for name in names)
    arms = " ".join(f"{arm} = {number};" for number, arm in enumerate(NO_VALUES, 1))
    roles = ("Event", "Request", "Response")
    messages = "".join(f"message {role} {{ oneof arm {{ {arms} }} }}\n" for role in roles)
    proto = tmp_path / "none_values.proto"
    head = 'syntax = "proto3";\npackage trap.nonevalues;\n'
    proto.write_text(head + imports + messages, encoding="utf-8")
    source = generated_packages.protos([proto], [tmp_path])
    config = generated_packages.configured(tmp_path, "none_values", source, tmp_path / "out")
    modules = Modules(generated_packages.generate(config))
    exchange = Exchange(modules, {})
    emitted: list[Any] = []

    class Sink(modules.events.EventSink):  # type: ignore[misc, name-defined]
        def emit(self, event: Any) -> None:
            emitted.append(event)

    for arm, message in NO_VALUES.items():
        name = arm.split()[1]
        errors = (TypeError,) if message else (TypeError, ValueError, AttributeError)
        with pytest.raises(errors, match=message):
            getattr(Sink(), name)(value=None)
        with pytest.raises(errors, match=message):
            run(getattr(exchange.client(), name)(value=None))
    assert emitted == exchange.sent == []


REQUIRED = """syntax = "proto2";
package trap.required;
import "google/protobuf/timestamp.proto";
message Ping { optional string text = 1; }
message Event {
  required google.protobuf.Timestamp at = 1; required int32 number = 2;
  oneof event { Ping ping = 3; }
}
message Request { required string id = 1; required int32 rank = 2; oneof request { Ping ping = 3; } }
message Response { required string id = 1; oneof response { Ping ping = 3; } }
"""


def test_required_fields_beside_the_arms_have_to_be_given(tmp_path: Path) -> None:
    """All but the correlation, which `send` sets, and the time, which is the current one."""
    proto = tmp_path / "required_beside.proto"
    proto.write_text(REQUIRED, encoding="utf-8")
    source = generated_packages.protos([proto], [tmp_path])
    config = generated_packages.configured(tmp_path, "required_beside", source, tmp_path / "out")
    package = generated_packages.generate(config)
    modules = Modules(package)
    emitted: list[Any] = []

    class Sink(modules.events.EventSink):  # type: ignore[misc, name-defined]
        def emit(self, event: Any) -> None:
            emitted.append(event)

    class Client(modules.client.RequestClient):  # type: ignore[misc, name-defined]
        async def send(self, request: Any, timeout: float | None = None) -> Any:
            emitted.append(request)
            return modules.pb.Response(id="1", ping=request.ping)

    for call, name in ((Sink().ping, "number"), (lambda **k: run(Client().ping(**k)), "rank")):
        with pytest.raises(TypeError, match=f"{name} is required, and None is given"):
            call(text="t", **{name: None})
        with pytest.raises(TypeError, match=f"missing 1 required keyword-only argument: '{name}'"):
            call(text="t")
        call(text="t", **{name: 3})
    event, request = emitted
    assert (event.number, event.ping.text, event.IsInitialized()) == (3, "t", True)
    assert (request.rank, request.ping.text) == (3, "t")
    assert generated_packages.mypy([package.folder], [package.out], tmp_path / "mypy") == ""
