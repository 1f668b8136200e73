"""The script that puts the livekit-agents example into a checkout of the SDK."""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

import livekit.agents
import pytest
from sessiongen_command import ROOT

sys.path.insert(0, str(ROOT / "examples" / "livekit-agents"))

from adopt import MODULE, PROTO, adopt

# Tests as the SDK has them: they call private methods, and read a table of _proto.
HOST_TESTS = """\
from livekit.agents._proto import encode_metrics
from livekit.agents.voice.remote_session import (
    SessionHost,
    encode_chat_item,
    encode_session_usage,
)


async def test_all(host: SessionHost) -> None:
    host._on_error(encode_chat_item(None))
    host._on_user_state_changed(
        encode_session_usage(None)
    )
    await host._handle_request(encode_metrics(None))
    await host._handle_request_safe(None)
"""
USAGE_TESTS = """\
import pytest
from livekit.agents._proto import (
    USAGE_VARIANTS,
    encode_by_name,
    encode_session_usage,
)
from livekit.agents.metrics import AgentSessionUsage
from livekit.protocol.agent_pb import agent_session as agent_pb

pytestmark = pytest.mark.unit


@pytest.mark.parametrize("src_type,_,msg_type", USAGE_VARIANTS)
def test_all(src_type, msg_type):
    assert encode_by_name(msg_type, _saturated(src_type, msg_type)).provider
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """Returns the folder of a package with the modules that are edited, beside an empty `tests`."""
    package = Path(livekit.agents.__file__).parent
    for name in (PROTO, MODULE):
        path = tmp_path / "livekit-agents" / "livekit" / "agents" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(package / name, path)
    (tmp_path / "tests").mkdir()
    return tmp_path / "livekit-agents"


def module(checkout: Path, name: str = MODULE) -> Path:
    return checkout / "livekit" / "agents" / name


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_edits_find_their_lines_in_another_version(checkout: Path) -> None:
    path = module(checkout)
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    first_host_line = lines.index("class SessionHost:\n")
    # Another version has more lines, an event more, and a table of states more.
    lines[first_host_line:first_host_line] = ["NEW = 1\n", "\n", "\n"]
    text = "# A comment.\n" + "".join(lines)
    text = text.replace("_AGENT_STATE_MAP:", "_NEW_STATE_MAP = {1: 2}\n_AGENT_STATE_MAP:")
    handler = "    def _on_new_event(self, event: object) -> None: ...\n\n    def _on_error("
    path.write_text(text.replace("    def _on_error(", handler), encoding="utf-8")
    list(adopt(checkout))
    edited = path.read_text(encoding="utf-8")
    assert edited.startswith("# A comment.\n")
    assert "\nNEW = 1\n" in edited
    names = {
        getattr(node, "name", None) or ast.unparse(getattr(node, "target", node))
        for node in ast.walk(ast.parse(edited))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.AnnAssign))
    }
    assert {"SessionRequests", "_forward", "_Requests", "get_rtc_stats", "_drain"} <= names
    gone = "_on_new_event _on_error _send_event _handle_request _AGENT_STATE_MAP _NEW_STATE_MAP"
    assert not names.intersection(gone.split())


@pytest.mark.parametrize(
    ("name", "old", "new", "fault"),
    [
        (MODULE, "def _send_event(", "def _queue(", "has no _send_event in SessionHost"),
        (MODULE, "class RemoteSession(", "class Remote(", "has no RemoteSession"),
        (
            MODULE,
            "    def _on_error(",
            "    def other(self) -> None: ...\n\n    def _on_error(",
            r"has other among _on_\w+ in SessionHost",
        ),
        (PROTO, "ROLES = {", "def decode() -> None: ...\n\n\nROLES = {", "has decode among"),
        (PROTO, "ROLES = {", "KINDS = ROLES = {", "has KINDS among"),
    ],
)
def test_a_version_that_does_not_fit_is_refused(
    checkout: Path, name: str, old: str, new: str, fault: str
) -> None:
    change(module(checkout, name), old, new)
    before = {path: path.read_bytes() for path in checkout.rglob("*.py")}
    with pytest.raises(SystemExit) as refusal:
        list(adopt(checkout))
    assert f"{module(checkout, name)} {fault}" in str(refusal.value)
    assert {path: path.read_bytes() for path in checkout.rglob("*.py")} == before


def test_what_proto_has_at_its_end_is_not_lost(checkout: Path) -> None:
    path = module(checkout, PROTO)
    path.write_text(path.read_text("utf-8") + "\n\ndef decode() -> None: ...\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="has decode: it was edited before"):
        list(adopt(checkout))


def test_another_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="_proto.py does not exist: name the folder"):
        list(adopt(tmp_path))


def test_a_second_run_is_refused(checkout: Path) -> None:
    list(adopt(checkout))
    before = module(checkout).read_bytes()
    with pytest.raises(SystemExit, match="it was edited before"):
        list(adopt(checkout))
    assert module(checkout).read_bytes() == before


def test_private_names_in_tests_are_replaced(checkout: Path) -> None:
    tests = checkout.parent / "tests"
    (tests / "test_session_host.py").write_text(HOST_TESTS, encoding="utf-8")
    (tests / "test_chat_item_proto_coverage.py").write_text(USAGE_TESTS, encoding="utf-8")
    (tests / "test_remote_session.py").write_text("def test(host): host._send_event(1)\n", "utf-8")
    (tests / "test_other.py").write_text("def test(host): host._send_event(1)\n", "utf-8")
    report = list(adopt(checkout))
    assert [line for line in report if line.startswith("tests/")] == [
        "tests/test_remote_session.py: private names replaced",
        "tests/test_session_host.py: private names replaced",
        "tests/test_chat_item_proto_coverage.py: private names replaced",
    ]
    assert (tests / "test_remote_session.py").read_text() == "def test(host): host._send(1)\n"
    assert "_send_event" in (tests / "test_other.py").read_text()
    host = (tests / "test_session_host.py").read_text(encoding="utf-8")
    assert host.startswith(
        "from livekit.agents._proto import encode_chat_item, encode_metrics, encode_session_usage\n"
        "from livekit.agents.voice.remote_session import (\n    SessionHost,\n)\n"
    )
    assert 'host._forward("error", encode_chat_item(None))' in host
    assert 'host._forward("user_state_changed",\n        encode_session_usage(None)\n' in host
    assert "await host._handle_request_safe(encode_metrics(None))" in host
    assert "await host._handle_request_safe(None)" in host


def test_tests_without_private_names_are_left(checkout: Path) -> None:
    path = checkout.parent / "tests" / "test_session_host.py"
    path.write_text("def test(host): host.start()\n", encoding="utf-8")
    assert not [line for line in adopt(checkout) if line.startswith("tests/")]


def test_decorators_are_replaced_with_their_function(checkout: Path) -> None:
    path = module(checkout)
    change(path, "    def _send_event(", "    @functools.cache\n    def _send_event(")
    list(adopt(checkout))
    assert "functools.cache" not in path.read_text(encoding="utf-8")


def test_the_table_of_usage_classes_moves_to_the_tests(checkout: Path) -> None:
    path = checkout.parent / "tests" / "test_chat_item_proto_coverage.py"
    path.write_text(USAGE_TESTS, encoding="utf-8")
    list(adopt(checkout))
    text = path.read_text(encoding="utf-8")
    classes = "LLMModelUsage, TTSModelUsage, STTModelUsage, InterruptionModelUsage, EOTModelUsage"
    assert f"from livekit.agents.metrics import AgentSessionUsage, {classes}\n" in text
    assert "(EOTModelUsage, 'eot', agent_pb.EotModelUsage)" in ast.unparse(ast.parse(text))
    assert "assert _usage_payload(_saturated(src_type, msg_type)).provider" in text
    assert "encode_by_name" not in text
