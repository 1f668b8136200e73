"""A checkout of livekit-agents after the steps of docs/livekit-agents.md.

Its host and its driver meet each other and the peers of this repository: the tests of
`test_interop_matrix.py`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import generated_packages
import interop_peers
import livekit.agents
import pytest
from interop_adopted import ADOPTION_PAGE, adopted
from interop_conversation import Conversation, run_conversation
from interop_peers import OURS, PYTHON_EXAMPLE
from sessiongen_command import ROOT
from test_interop_matrix import *

sys.path.insert(0, str(ROOT / "examples" / "livekit-agents"))

from adopt import replacements

PAIRS = [(PYTHON_EXAMPLE, PYTHON_EXAMPLE), (PYTHON_EXAMPLE, OURS), (OURS, PYTHON_EXAMPLE)]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return adopted(tmp_path_factory.mktemp("clone") / "livekit-agents")


@pytest.fixture(scope="module", params=PAIRS, ids=lambda pair: f"{pair[0]}_host-{pair[1]}_driver")
def conversation(request: pytest.FixtureRequest, checkout: Path) -> Iterator[Conversation]:
    host, driver = request.param
    with pytest.MonkeyPatch.context() as patch:
        # The programs of the SDK's own peers, with the adopted SDK.
        patch.setenv("PYTHONPATH", str(checkout))
        for role in ("host", "driver"):
            programs = interop_peers._PROGRAMS[role]
            patch.setitem(programs, PYTHON_EXAMPLE, f"sdk_python_{role}.py")
        with run_conversation(host, driver) as result:
            yield result


def test_type_checkers_accept_the_edited_modules(checkout: Path, tmp_path: Path) -> None:
    agents = checkout / "livekit" / "agents"
    paths = [agents / "_proto.py", agents / "voice/remote_session.py", agents / "_session_protocol"]
    errors = generated_packages.mypy(paths, [checkout], tmp_path).splitlines()
    # The SDK leaves out arguments of generic types.
    assert [line for line in errors if "error:" in line and "[type-arg]" not in line] == []


def test_the_page_names_the_edits() -> None:
    rows = re.findall(r"^\| `(\S+)` \| (\d+)–(\d+) \|", ADOPTION_PAGE, re.M)
    installed = replacements(Path(livekit.agents.__file__).parents[2])
    removed = [(item.file, item.first, item.last) for item in installed if item.last >= item.first]
    assert [(file, int(first), int(last)) for file, first, last in rows] == removed


def test_the_page_counts_the_lines(checkout: Path) -> None:
    files = [
        checkout / "livekit" / "agents" / name for name in ("_proto.py", "voice/remote_session.py")
    ]
    after = sum(path.read_text(encoding="utf-8").count("\n") for path in files)
    assert f"have 1,328 lines before and {after} after" in ADOPTION_PAGE
    requests = (ROOT / "examples" / "livekit-agents" / "session_requests.py").read_text("utf-8")
    lines = requests.partition("class SessionRequests")[2].rstrip("\n").count("\n") + 1
    assert f"`SessionRequests` ({lines} lines)" in ADOPTION_PAGE
