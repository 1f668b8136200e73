"""Tests that type checkers report missing and superfluous arms and handlers by name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import generated_packages
from agent_session_protocol import agent_session_pb2 as pb
from google.protobuf.descriptor import FieldDescriptor
from generated_packages import GENERATED

_HEAD = """from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.dispatch import ModelUsageHandlers
from agent_session_protocol.events import AgentSessionEventForwarders
from agent_session_protocol.requests import SessionRequestHandler


def shown(usage: object) -> str:
    return str(usage)


"""

# (payload, result) of each request, off the descriptors: one that is added is here too.
_RESPONSES = pb.SessionResponse.DESCRIPTOR.fields_by_name


def _type(field: FieldDescriptor) -> str:
    assert field.message_type is not None
    return field.message_type.name


_METHODS = {
    field.name: (_type(field), _type(_RESPONSES[{"ping": "pong"}.get(field.name, field.name)]))
    for field in pb.SessionRequest.DESCRIPTOR.oneofs_by_name["request"].fields
}
_EVENTS = [field.name for field in pb.AgentSessionEvent.DESCRIPTOR.oneofs_by_name["event"].fields]


def handler(leave_out: str = "") -> str:
    lines = ["class Host(SessionRequestHandler):"]
    for name, (payload, result) in _METHODS.items():
        if name != leave_out:
            lines += [
                f"    async def {name}(",
                f"        self, request: pb.SessionRequest.{payload}",
                f"    ) -> pb.SessionResponse.{result}:",
                f"        return pb.SessionResponse.{result}()",
                "",
            ]
    return "\n".join([*lines, "", "HOST = Host()", ""])


def table(*arms: str) -> str:
    inside = ", ".join(f"{arm}=shown" for arm in arms)
    return f"TABLE = ModelUsageHandlers[str]({inside})\n"


def forwarders(leave_out: str) -> str:
    inside = ", ".join(f"{arm}=None" for arm in _EVENTS if arm != leave_out)
    return f"FORWARDERS = AgentSessionEventForwarders({inside})\n"


# What each file is and what a checker must name, or "" where all is well.
FILES = {
    "total": (table("llm", "tts", "stt", "interruption", "eot"), ""),
    "missing": (table("llm", "tts", "stt", "eot"), "interruption"),
    "extra": (table("llm", "tts", "stt", "interruption", "eot", "video"), "video"),
    "mistyped": (
        "def wrong(usage: pb.TTSModelUsage) -> str:\n    return usage.model\n\n\n"
        "TABLE = ModelUsageHandlers[str](\n"
        "    llm=wrong, tts=shown, stt=shown, interruption=shown, eot=shown\n)\n",
        "llm",
    ),
    "handler": (handler(), ""),
    "handler_missing": (handler("update_io"), "update_io"),
    "forwarders": (forwarders("session_closed"), "session_closed"),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("totality")
    for name, (text, _) in FILES.items():
        (folder / f"use_{name}.py").write_text(_HEAD + text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def mypy_output(files: Path) -> str:
    return generated_packages.mypy(sorted(files.glob("*.py")), [GENERATED], files / "cache")


@pytest.fixture(scope="module")
def pyright_output(files: Path) -> str:
    return generated_packages.pyright(sorted(files.glob("*.py")), [GENERATED], files / "pyright")


def errors(output: str, name: str) -> list[str]:
    """Returns what was said of one file: each error with the lines that explain it."""
    blocks = re.split(r"(?m)^(?=.*use_\w+\.py)", output)
    return [item for item in blocks if re.search(rf"use_{name}\.py:\d+.* error: ", item)]


@pytest.mark.parametrize("name", FILES)
def test_mypy_names_the_arm(name: str, mypy_output: str) -> None:
    _check(errors(mypy_output, name), FILES[name][1])


@pytest.mark.parametrize("name", FILES)
def test_pyright_names_the_arm(name: str, pyright_output: str) -> None:
    _check(errors(pyright_output, name), FILES[name][1])


def _check(errors: list[str], arm: str) -> None:
    if arm:
        assert len(errors) == 1
        assert f'"{arm}"' in errors[0] or f"{arm}" in errors[0].partition("error: ")[2]
    else:
        assert errors == []
