"""Writes protocols with a multiple of the contract's arms, for the benchmarks."""

from __future__ import annotations

from pathlib import Path

REQUESTS, EVENTS = 10, 15
_FIELDS = """  string name = 1;
  optional string note = 2;
  google.protobuf.Timestamp at = 3;
  repeated Kind kinds = 4;
"""


_TYPESCRIPT = """
[[output]]
language = "typescript"
path = "typescript"
module = "./large_pb.js"
"""


def write(folder: Path, times: int, *, typescript: bool = False) -> Path:
    """Writes a protocol with `times` as many arms as the contract; returns its codegen.toml.

    typescript: it is generated in both languages.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "large.proto").write_text(protocol(REQUESTS * times, EVENTS * times))
    config = folder / "codegen.toml"
    python = '[[output]]\nlanguage = "python"\npath = "out"\npackage = "large"\n'
    text = f'[input]\nprotos = ["large.proto"]\n\n{python}'
    config.write_text(text + _TYPESCRIPT if typescript else text)
    return config


def protocol(requests: int, events: int) -> str:
    """Returns the source of a protocol with this many requests and events."""
    parts = [
        'syntax = "proto3";\npackage large;\nimport "google/protobuf/timestamp.proto";\n',
        "enum Kind { KIND_NONE = 0; KIND_SOME = 1; }\n",
    ]
    parts += [_message(f"Ask{n}") + _message(f"Answer{n}") for n in range(requests)]
    parts += [_message(f"Happening{n}") for n in range(events)]
    parts.append(_union("Request", "request", "Ask", requests, "  string request_id = 1;\n"))
    parts.append(
        _union("Response", "response", "Answer", requests, "  string request_id = 1;\n", "Ask")
    )
    parts.append(
        _union(
            "Event", "event", "Happening", events, "  google.protobuf.Timestamp created_at = 1;\n"
        )
    )
    return "".join(parts)


def _message(name: str) -> str:
    return f"// What {name} means, in a line.\nmessage {name} {{\n{_FIELDS}}}\n"


def _union(
    name: str, oneof: str, payload: str, count: int, outside: str, arm: str | None = None
) -> str:
    stem = (arm or payload).lower()
    arms = "".join(
        f"    // Arm number {n}.\n    {payload}{n} {stem}_{n} = {n + 10};\n" for n in range(count)
    )
    return f"message {name} {{\n{outside}  oneof {oneof} {{\n{arms}  }}\n}}\n"
