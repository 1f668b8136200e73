"""The protocols under tests/cases, and their generated packages by the name of the case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import generated_packages
from generated_packages import CASES, Package
from package_walk import Facts

PING = "message {0} {{\n  {1}\n  oneof {2} {{\n    Ping ping = 2;\n  }}\n}}\n"


def small(package: str, before: str) -> str:
    """Returns a protocol with a request and an event whose payload is a message `Ping`."""
    parts = [f'syntax = "proto3";\npackage {package};\n', before]
    parts.append(PING.format("Event", "", "event"))
    parts.append(PING.format("Request", "string request_id = 1;", "request"))
    parts.append(PING.format("Response", "string request_id = 1;", "response"))
    return "\n".join(parts)


def deep(levels: int) -> str:
    """Returns declarations of nested messages, and of `Ping` with a field of the innermost."""
    names = [f"L{level}" for level in range(levels)]
    heads = "".join(f"message {name} {{ " for name in names)
    fields = [f"{name} inner = 1; }}" for name in reversed(names[1:])]
    body = f"string text = 2; {' '.join(f'}} {names[i + 1]} inner = 1;' for i in reversed(range(levels - 1)))}"
    assert len(fields) == levels - 1
    return f"{heads}{body} }}\nmessage Ping {{ L0 top = 1; {'.'.join(names)} bottom = 2; }}\n"


@dataclass(frozen=True)
class Case:
    """A protocol: its facts, its file in tests/cases or its text, and settings."""

    facts: Facts = Facts()
    file: str = ""
    text: str = ""
    roles: str = ""


ROLES = """[roles]
event = "Notice"
request = "trap.given_roles.Question"
response = "Reply"
envelope = "Parcel"
correlation = "ticket"
error = "fault"
"""


def error_role(name: str) -> str:
    """Returns the configuration of an error field whose name does not speak of errors."""
    return f'[roles]\nerror = "{name}"\n'


VALID: Mapping[str, Case] = {
    "acronyms": Case(),
    "arm_words": Case(Facts(error="error_text")),
    "class_words": Case(),
    "comments": Case(),
    "correlation_bytes": Case(Facts("ticket", error="error")),
    "correlation_number": Case(Facts("ticket", error="from"), roles=error_role("from")),
    "correlation_words": Case(Facts("class", error="from"), roles=error_role("from")),
    "editions": Case(Facts(error="error")),
    "encoder_choices": Case(Facts(timestamp="created_at")),
    "encoder_words": Case(Facts(timestamp="timestamp")),
    "enum_forms": Case(),
    "field_words": Case(Facts(timestamp="at")),
    "flat_names": Case(),
    "given_roles": Case(Facts("ticket", error="fault"), roles=ROLES),
    "imports": Case(Facts(timestamp="created_at"), file="imports/dispatch.proto"),
    "keyword_package": Case(Facts("async", error="except"), roles=error_role("except")),
    "long_empty_event": Case(Facts("id")),
    "loops": Case(),
    "many_oneofs": Case(),
    "module_names": Case(file="module_names/module_names.proto"),
    "optionals": Case(Facts(error="error")),
    "payload_times": Case(Facts(timestamp="created_at")),
    "peer_bytes": Case(Facts("yield")),
    "peer_number": Case(Facts("number", error="error")),
    "peer_text": Case(Facts("id", error="error")),
    "proto2": Case(Facts(error="error")),
    "python_words": Case(Facts(error="error", timestamp="created")),
    "response_elsewhere": Case(Facts("id"), file="response_elsewhere/main.proto"),
    "response_fields": Case(Facts(error="error")),
    "response_forms": Case(Facts(error="error", pairs={"again": "both"})),
    "same_type": Case(),
    "scalar_arms": Case(Facts(error="error", timestamp="created_at")),
    "shared_response": Case(Facts(error="error", pairs={"ping": "pong", "ping_far": "pong"})),
    "script_words": Case(Facts("id")),
    "sundries": Case(),
    "times": Case(Facts(timestamp="created_at")),
    "tiny": Case(Facts(None)),
    # protoc itself ends at 32 levels.
    "deep": Case(text=small("trap.deep", deep(30))),
    "long_comment": Case(
        text=small("trap.long", f"// {'long ' * 40_000}\n// end.\nmessage Ping {{}}\n")
    ),
    "crlf": Case(
        text="\ufeff"
        + small("trap.crlf", "// One.\n// cr\rhere\nmessage Ping {\n\tstring t = 1;\n}\n").replace(
            "\n", "\r\n"
        )
    ),
}


def make(name: str, folder: Path, out: Path) -> Package:
    """Generates the package `case_<name>` of a case into a folder."""
    case = VALID[name]
    if case.text:
        path = folder / f"{name}.proto"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(case.text.encode())
        include = folder
    else:
        path = CASES / (case.file or f"{name}.proto")
        include = path.parent
    source = generated_packages.protos([path], [include])
    config = generated_packages.configured(folder / name, f"case_{name}", source, out, case.roles)
    return generated_packages.generate(config)
