"""Published protocols, in packages of the public Python index; as a program it prints their table.

`codegen/init/test_proposals_published.py` checks each fact. requirements-protocols.txt has the
packages that other tests do not need.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Protocol:
    """A published protocol.

    title: its name in the documentation.
    distribution: the package on the index.
    module: the installed module of its messages.
    package: the name of the generated package.
    chosen_lines: the lines that a person uncomments in the configuration of `init`.
    requests, events: how many there are.
    errors: the exceptions of error arms.
    timestamp: the event's timestamp.
    typed: whether the module has a stub that parses; the messages are generated otherwise.
    """

    title: str
    distribution: str
    module: str
    package: str
    roles: dict[str, Any]
    chosen_lines: tuple[str, ...] = ()
    requests: int = 0
    events: int = 0
    errors: tuple[str, ...] = ()
    timestamp: str | None = None
    typed: bool = True


_REFLECTION = "grpc.reflection.v1alpha.ServerReflection"
_ABCI = "tendermint.abci."
_EXT_PROC = "envoy.service.ext_proc.v3.Processing"
PROTOCOLS = {
    "grpc_reflection": Protocol(
        "gRPC server reflection",
        "grpcio-reflection",
        "grpc_reflection.v1alpha.reflection_pb2",
        "reflection_protocol",
        {
            "event": False,
            "request": f"{_REFLECTION}Request",
            "response": f"{_REFLECTION}Response",
            "error": "error_response",
        },
        requests=5,
        errors=("ErrorResponseError",),
    ),
    "livekit_signal": Protocol(
        "LiveKit signalling",
        "livekit-protocol",
        "livekit.protocol.rtc",
        "rtc_protocol",
        {"event": "livekit.SignalResponse", "request": "livekit.SignalRequest", "response": False},
        requests=22,
        events=30,
    ),
    "livekit_agent_worker": Protocol(
        "LiveKit agent workers",
        "livekit-protocol",
        "livekit.protocol.agent",
        "agent_protocol",
        {"event": "livekit.ServerMessage", "request": "livekit.WorkerMessage", "response": False},
        requests=7,
        events=6,
    ),
    "temporal_history": Protocol(
        "Temporal's history events",
        "temporalio",
        "temporalio.api.history.v1.message_pb2",
        "message_protocol",
        {
            "event": "temporal.api.history.v1.HistoryEvent",
            "request": False,
            "response": False,
            "timestamp": "event_time",
        },
        events=60,
        timestamp="event_time",
    ),
    "temporal_commands": Protocol(
        "Temporal's commands",
        "temporalio",
        "temporalio.api.command.v1.message_pb2",
        "message_protocol",
        {"event": False, "request": "temporal.api.command.v1.Command", "response": False},
        requests=17,
    ),
    "meshtastic": Protocol(
        "Meshtastic's ToRadio and FromRadio",
        "meshtastic",
        "meshtastic.protobuf.mesh_pb2",
        "mesh_protocol",
        {
            "event": "meshtastic.protobuf.FromRadio",
            "request": "meshtastic.protobuf.ToRadio",
            "response": False,
        },
        requests=6,
        events=17,
    ),
    "cometbft_abci": Protocol(
        "CometBFT's ABCI",
        "cosmpy",
        "cosmpy.protos.tendermint.abci.types_pb2",
        "input_protocol",
        {
            "event": False,
            "request": f"{_ABCI}Request",
            "response": f"{_ABCI}Response",
            "error": "exception",
        },
        requests=16,
        errors=("ExceptionError",),
        typed=False,
    ),
    "envoy_ext_proc": Protocol(
        "Envoy's external processing",
        "xds-protos",
        "envoy.service.ext_proc.v3.external_processor_pb2",
        "input_protocol",
        {"event": False, "request": f"{_EXT_PROC}Request", "response": f"{_EXT_PROC}Response"},
        ('error = ["immediate_response"]',),
        requests=6,
        errors=("ImmediateResponseError",),
        typed=False,
    ),
    "etcd_operations": Protocol(
        "etcd's operations in a transaction",
        "etcd-sdk-python",
        "pyetcd.etcdrpc.rpc_pb2",
        "input_protocol",
        {
            "event": False,
            "request": "etcdserverpb.RequestOp",
            "response": "etcdserverpb.ResponseOp",
        },
        requests=4,
        typed=False,
    ),
    "bazel_build_events": Protocol(
        "Bazel's build events",
        "xmanager",
        "xmanager.generated.build_event_stream_pb2",
        "input_protocol",
        {"event": "build_event_stream.BuildEvent", "request": False, "response": False},
        events=23,
        typed=False,
    ),
    "perfetto_ftrace": Protocol(
        "Perfetto's ftrace events",
        "perfetto",
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2",
        "perfetto_trace_protocol",
        {"event": "perfetto.protos.FtraceEvent", "request": False, "response": False},
        events=596,
    ),
}


def table() -> str:
    """Returns the table of the documentation."""
    return "\n".join(_rows())


def _rows() -> Iterator[str]:
    yield "| protocol | package | requests | events | error arms | lines to choose |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for item in PROTOCOLS.values():
        counts = (item.requests, item.events, len(item.errors), len(item.chosen_lines))
        yield f"| {item.title} | `{item.distribution}` | {' | '.join(map(str, counts))} |"


if __name__ == "__main__":
    print(table())
