"""Puts the code of this example into a checkout of livekit-agents.

Run as `python adopt.py CHECKOUT`, with the generated package in livekit/agents/_session_protocol.
Each edit replaces definitions of the SDK with code of the example; docs/livekit-agents.md explains
them. The edits find their definitions by name, so that they fit more than one version of the SDK.
Nothing is written unless all edits fit. Imports that nothing uses any more are left to ruff.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from adopt_tests import edited_tests

HERE = Path(__file__).parent
HOST, DRIVER, REQUESTS = "session_host.py", "remote_session.py", "session_requests.py"
PROTO, MODULE = "_proto.py", "voice/remote_session.py"

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
# The driver's methods, in the order of the example.
METHODS = (
    "get_chat_history",
    "get_agent_info",
    "get_framework_info",
    "get_session_state",
    "get_rtc_stats",
    "get_session_usage",
    "run",
    "update_io",
    "finalize_simulation",
)
# What _proto.py may have. Anything else in it would be lost without a word.
HELPERS = r"""(from|import|if) .*|["'].*|_\w+|ROLES|USAGE_VARIANTS|encode_\w+"""


@dataclass(frozen=True)
class Edit:
    """Replaces the statements of a body whose names match, or inserts text beside them.

    file: below livekit/agents.
    body: the class or function that has the statements, such as `SessionHost.aclose`; the module
        if it is empty.
    names: a regular expression for the names, see `statement_name`.
    place: `at` replaces the statements; `before` and `after` keep them.
    """

    file: str
    body: str
    names: str
    text: str = ""
    place: str = "at"


@dataclass(frozen=True)
class Replacement:
    """The lines of a file that an edit replaces, counted from 1. last < first if there are none."""

    file: str
    first: int
    last: int
    text: str

    def __str__(self) -> str:
        removed, added = self.last - self.first + 1, self.text.count("\n")
        return f"{self.file}:{self.first}: {removed} lines become {added}"


def edits() -> list[Edit]:
    """Returns the edits, in the order of docs/livekit-agents.md."""
    requests = code(REQUESTS, "Request", "Response") + "\n\n"
    requests += code(REQUESTS, "SessionRequests", "_finalize") + "\n\n"
    shared = code(DRIVER, "_TIMEOUT", "_UpdateIO", "_Response", "_Switches") + "\n\n"
    events = "RemoteSessionEventTypes = AgentSessionEventArm\n\n\n"
    verdict = "    from ..simulation import SimulationVerdict\n"
    return [
        Edit(PROTO, "", HELPERS, ENCODERS),
        Edit(MODULE, "", r"from \.\._proto import .*", IMPORTS),
        Edit(MODULE, "if TYPE_CHECKING", "from .agent_session import .*", verdict, "before"),
        Edit(MODULE, "", r"_[A-Z_]+_MAP"),
        Edit(MODULE, "", "SessionHost", requests, "before"),
        Edit(MODULE, "SessionHost", "register_session", _subscription()),
        Edit(MODULE, "SessionHost.aclose", "if .*_events_registered", UNSUBSCRIBE),
        Edit(MODULE, "SessionHost", "_send_event", code(HOST, "SessionHost._send")),
        Edit(MODULE, "SessionHost", r"_on_\w+", _detectors()),
        Edit(
            MODULE,
            "SessionHost",
            "_handle_request(_safe)?",
            code(HOST, "SessionHost._handle_request_safe"),
        ),
        Edit(
            MODULE,
            "",
            "RemoteSessionEventTypes",
            events + shared + code(DRIVER, "_switches", "_Requests"),
        ),
        Edit(
            MODULE,
            "RemoteSession",
            "__init__",
            "        self.requests = _Requests(self)\n",
            "after",
        ),
        Edit(MODULE, "RemoteSession", "_recv_loop", _loop()),
        Edit(
            MODULE,
            "RemoteSession",
            "|".join(METHODS),
            code(DRIVER, *(f"RemoteSession.{name}" for name in METHODS)),
        ),
    ]


def _subscription() -> str:
    names = "_unsubscribe", "register_session", "_forwarders", "_forwarder", "_forward"
    return code(HOST, *(f"SessionHost.{name}" for name in names))


def _detectors() -> str:
    return code(HOST, "SessionHost._on_amd_prediction", "SessionHost._on_eot_prediction")


def _loop() -> str:
    names = "_recv_loop", "_emit_event", "_fail_pending"
    return code(DRIVER, *(f"RemoteSession.{name}" for name in names))


def code(module: str, *names: str) -> str:
    """Returns definitions of a module, such as `Class.method`, with the names that the SDK uses."""
    text = (HERE / module).read_text(encoding="utf-8")
    lines = text.splitlines()
    code = ""
    for name in names:
        body, _, own = name.rpartition(".")
        first, last = _lines(statements(ast.parse(text), body, re.escape(own)))
        # Constants stay together.
        code += "\n" if code and first < last else ""
        code += "\n".join(lines[first - 1 : last]) + "\n"
    code = re.sub(r"\bpb\.", "agent_pb.", code)
    code = code.replace("remote_session.SessionTransport", "SessionTransport")
    return code.replace("from livekit.agents.", "from ..")


def statements(module: ast.Module, path: str, names: str) -> list[ast.stmt]:
    """Returns the statements of a body whose names match; they follow each other."""
    body: Sequence[ast.stmt] = module.body
    for part in path.split(".") if path else ():
        owner = next((node for node in body if statement_name(node) == part), None)
        if not isinstance(owner, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef, ast.If)):
            raise LookupError(f"has no {path}")
        body = owner.body
    within = f" in {path}" if path else ""
    matching = [at for at, node in enumerate(body) if re.fullmatch(names, statement_name(node))]
    if not matching:
        raise LookupError(f"has no {names}{within}")
    for node in body[matching[0] : matching[-1]]:
        if not re.fullmatch(names, statement_name(node)):
            raise LookupError(f"has {statement_name(node)} among {names}{within}")
    return list(body[matching[0] : matching[-1] + 1])


def statement_name(node: ast.stmt) -> str:
    """Returns the name that a statement defines; the text of its first line if it defines none."""
    if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
        return node.name
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0])
    if isinstance(node, ast.AnnAssign):
        return ast.unparse(node.target)
    return ast.unparse(node).splitlines()[0].rstrip(":")


def replacements(checkout: Path) -> list[Replacement]:
    """Returns the lines that the edits replace. Raises SystemExit if one does not fit."""
    return [_replacement(checkout, edit) for edit in edits()]


def _replacement(checkout: Path, edit: Edit) -> Replacement:
    path = checkout / "livekit" / "agents" / edit.file
    if not path.is_file():
        raise SystemExit(f"{path} does not exist: name the folder that contains livekit/agents")
    text = path.read_text(encoding="utf-8")
    try:
        module = ast.parse(text)
        nodes = statements(module, edit.body, edit.names)
        if edit.names == HELPERS and (
            others := [node for node in module.body if node not in nodes]
        ):
            raise LookupError(f"has {statement_name(others[0])}")
    except LookupError as error:
        raise SystemExit(
            f"{path} {error.args[0]}: it was edited before, or is of a version that this script"
            " does not know"
        ) from None
    first, last = _lines(nodes)
    if edit.place == "before":
        last = first - 1
    elif edit.place == "after":
        first = last + 1
    return Replacement(edit.file, first, last, edit.text)


def _lines(nodes: Sequence[ast.stmt]) -> tuple[int, int]:
    decorators: Sequence[ast.expr] = getattr(nodes[0], "decorator_list", ())
    last = nodes[-1].end_lineno
    assert last is not None
    return min([nodes[0].lineno, *(node.lineno for node in decorators)]), last


def adopt(checkout: Path) -> Iterator[str]:
    """Applies all edits, and yields a line about each."""
    wanted = replacements(checkout)
    files: dict[Path, list[str]] = {}
    # From the last to the first, so that the numbers of lines stay valid.
    for item in sorted(wanted, key=lambda item: item.first, reverse=True):
        path = checkout / "livekit" / "agents" / item.file
        if path not in files:
            files[path] = path.read_text(encoding="utf-8").splitlines(keepends=True)
        files[path][item.first - 1 : item.last] = item.text.splitlines(keepends=True)
    tests = edited_tests(checkout)
    for path, lines in files.items():
        path.write_text("".join(lines), encoding="utf-8")
    yield from map(str, wanted)
    for path, text in tests.items():
        path.write_text(text, encoding="utf-8")
        yield f"tests/{path.name}: private names replaced"


if __name__ == "__main__":
    print("\n".join(adopt(Path(sys.argv[1]))))
