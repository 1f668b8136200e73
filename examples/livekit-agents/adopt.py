"""Puts the code of this example into a checkout of livekit-agents 1.8.9.

Run as `python adopt.py CHECKOUT`, with the generated package in livekit/agents/_session_protocol.
Each edit replaces lines of the SDK with code of the example; docs/livekit-agents.md explains them.
The imports that nothing uses any more are left to ruff.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
HOST, DRIVER, REQUESTS = "session_host.py", "remote_session.py", "session_requests.py"

IMPORTS = """\
import inspect
from collections.abc import Callable, Mapping
from typing import TypeVar

from google.protobuf.json_format import MessageToDict

from .._session_protocol import encoders
from .._session_protocol.client import SessionRequestClient
from .._session_protocol.dispatch import AgentSessionEventArm
from .._session_protocol.encoders import fill_agent_session_event
from .._session_protocol.errors import RequestError
from .._session_protocol.events import AgentSessionEventForwarders, emit_event, subscribe
from .._session_protocol.requests import SessionRequestHandler, answer
"""
ENCODERS = '''\
"""The SDK's own types as messages of the agent session protocol."""

from ._session_protocol.encoders import (
    encode_agent_session_usage as encode_session_usage,
    encode_chat_context_chat_item as encode_chat_item,
    encode_metrics_report as encode_metrics,
)

__all__ = ["encode_chat_item", "encode_metrics", "encode_session_usage"]
'''
UNSUBSCRIBE = """\
        if self._unsubscribe is not None:
            self._unsubscribe()
            self._unsubscribe = None
"""


@dataclass(frozen=True)
class Edit:
    """Replaces lines of a file. start: what the first of them begins with."""

    file: str
    first: int
    last: int
    start: str
    text: str = ""


def code(module: str, *names: str) -> str:
    """Returns definitions of a module, such as `Class.method`, with the names that the SDK uses."""
    text = (HERE / module).read_text(encoding="utf-8")
    parts = [_definition(text, ast.parse(text).body, name.split(".")) for name in names]
    code = "\n\n".join(parts)
    code = re.sub(r"\bpb\.", "agent_pb.", code).replace(
        "remote_session.SessionTransport", "SessionTransport"
    )
    return code.replace("from livekit.agents.", "from ..") + "\n"


def _definition(text: str, body: Sequence[ast.stmt], path: Sequence[str]) -> str:
    for node in body:
        names = [getattr(node, "name", "")]
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [ast.unparse(target) for target in targets]
        if path[0] in names:
            if len(path) > 1:
                assert isinstance(node, ast.ClassDef)
                return _definition(text, node.body, path[1:])
            return "\n".join(text.splitlines()[node.lineno - 1 : node.end_lineno])
    raise LookupError(".".join(path))


def edits() -> list[Edit]:
    """Returns the edits of the modules, in the order of their lines."""
    host = [f"SessionHost.{name}" for name in ("_unsubscribe", "register_session")]
    host += [f"SessionHost.{name}" for name in ("_forwarders", "_forwarder", "_forward")]
    detectors = [f"SessionHost.{name}" for name in ("_on_amd_prediction", "_on_eot_prediction")]
    loop = [f"RemoteSession.{name}" for name in ("_recv_loop", "_emit_event", "_fail_pending")]
    methods = "get_chat_history get_agent_info get_framework_info get_session_state get_rtc_stats "
    methods += "get_session_usage run update_io finalize_simulation"
    driver = [f"RemoteSession.{name}" for name in methods.split()]
    shared = code(DRIVER, "_TIMEOUT", "_UpdateIO", "_Response", "_Switches")
    events = "RemoteSessionEventTypes = AgentSessionEventArm\n\n\n"
    requests = code(REQUESTS, "Request", "Response") + "\n\n"
    module = "voice/remote_session.py"
    return [
        Edit("_proto.py", 1, 130, '"""Mapping between', ENCODERS),
        Edit(module, 18, 18, "from .._proto import", IMPORTS),
        Edit(module, 54, 53, "from ..cli", "    from ..simulation import SimulationVerdict\n"),
        Edit(module, 276, 310, "_AGENT_STATE_MAP"),
        Edit(
            module,
            336,
            335,
            "class SessionHost",
            requests + code(REQUESTS, "SessionRequests", "_finalize") + "\n\n",
        ),
        Edit(module, 358, 372, "def register_session", code(HOST, *host)),
        Edit(module, 389, 402, "if self._session and", UNSUBSCRIBE),
        Edit(module, 459, 468, "def _send_event"),
        Edit(module, 480, 692, "def _on_agent_state_changed", code(HOST, *detectors)),
        Edit(
            module,
            694,
            959,
            "async def _handle_request_safe",
            code(HOST, "SessionHost._handle_request_safe"),
        ),
        Edit(
            module,
            962,
            972,
            "RemoteSessionEventTypes",
            events + shared + "\n\n" + code(DRIVER, "_switches", "_Requests"),
        ),
        Edit(module, 982, 981, "", "        self.requests = _Requests(self)\n"),
        Edit(module, 1009, 1026, "async def _recv_loop", code(DRIVER, *loop)),
        Edit(module, 1102, 1198, "async def get_chat_history", code(DRIVER, *driver)),
    ]


def adopt(checkout: Path) -> list[str]:
    """Applies all edits, and returns a line about each."""
    files: dict[Path, list[str]] = {}
    report: list[str] = []
    # From the last to the first, so that the numbers of lines stay valid.
    for edit in reversed(edits()):
        path = checkout / "livekit" / "agents" / edit.file
        if path not in files:
            files[path] = path.read_text(encoding="utf-8").splitlines(keepends=True)
        lines = files[path]
        if not lines[edit.first - 1].strip().startswith(edit.start):
            raise SystemExit(f"{path}:{edit.first} does not begin with {edit.start!r}: not 1.8.9")
        lines[edit.first - 1 : edit.last] = edit.text.splitlines(keepends=True)
        removed, added = edit.last - edit.first + 1, edit.text.count("\n")
        report.insert(0, f"{edit.file}:{edit.first}: {removed} lines become {added}")
    for path, lines in files.items():
        path.write_text("".join(lines), encoding="utf-8")
    return report


if __name__ == "__main__":
    print("\n".join(adopt(Path(sys.argv[1]))))
