"""The private names of livekit-agents that the runtime uses, in the SDK that is installed."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

pytest.importorskip("livekit.agents")

import agent_session  # noqa: E402
from agent_session.livekit_agents import compatibility  # noqa: E402
from livekit.agents import AgentSession, JobContext  # noqa: E402
from livekit.agents.ipc import job_proc_lazy_main  # noqa: E402
from livekit.agents.simulation import SimulationContext  # noqa: E402
from livekit.agents.voice.agent_activity import AgentActivity  # noqa: E402
from livekit.agents.voice.remote_session import SessionHost  # noqa: E402

RUNNER = job_proc_lazy_main._JobProc

# Each private name that `compatibility` uses, and the class that has it.
PRIVATE_NAMES: dict[str, type] = {
    "_session_host": AgentSession,
    "_closing": AgentSession,
    "_closing_task": AgentSession,
    "_started": AgentSession,
    "_started_at": AgentSession,
    "_activity": AgentSession,
    "_next_activity": AgentSession,
    "_update_activity_atask": AgentSession,
    "_room_io": AgentSession,
    "_on_shutdown": JobContext,
    "_track_pending_task": JobContext,
    "_simulation_end_fnc": JobContext,
    "_shutdown_fut": RUNNER,
    "_begin_finalize": SimulationContext,
}

# The methods of the SDK's host that `HOST_METHOD_PREFIX` stands for, and their callers.
HOST_METHODS = ["_on_eot_prediction", "_on_amd_prediction"]

ROOT = Path(agent_session.__file__).parent


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _is_own(value: ast.expr) -> bool:
    return isinstance(value, ast.Name) and value.id in ("self", "cls")


def _foreign_private_names(tree: ast.AST) -> Iterator[str]:
    """The private attributes that the code uses of other objects than `self`, also by
    `getattr` and `setattr`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and not _is_own(node.value):
            yield node.attr
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id in ("getattr", "setattr", "hasattr", "delattr"):
                name = node.args[1]
                if isinstance(name, ast.Constant) and _is_private(str(name.value)):
                    yield str(name.value)


def _imports_livekit(tree: ast.AST) -> bool:
    return any(
        name.split(".")[0] == "livekit"
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or "" if not node.level else ""]
        )
    )


def _parse(source: ModuleType | type) -> ast.Module:
    return ast.parse(textwrap.dedent(inspect.getsource(source)))


def _members(cls: type) -> set[str]:
    """The names that a class defines, and those that its methods assign to `self`."""
    return set(dir(cls)) | {
        node.attr
        for node in ast.walk(_parse(cls))
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and _is_own(node.value)
    }


@pytest.mark.parametrize("name", PRIVATE_NAMES)
def test_the_sdk_has_each_private_name(name: str) -> None:
    cls = PRIVATE_NAMES[name]
    assert name in _members(cls), f"{cls.__module__}.{cls.__qualname__} has no {name} any more"


def test_the_table_lists_every_private_name_in_use() -> None:
    assert set(_foreign_private_names(_parse(compatibility))) == set(PRIVATE_NAMES)


def test_no_other_module_uses_private_names() -> None:
    trees = {path: ast.parse(path.read_text("utf-8")) for path in sorted(ROOT.rglob("*.py"))}
    modules = [path for path, tree in trees.items() if _imports_livekit(tree)]
    assert ROOT / "livekit_agents" / "session.py" in modules
    result = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in modules
        if path != Path(compatibility.__file__)
        for name in _foreign_private_names(trees[path])
    ]
    assert not result, f"private names of the SDK outside of compatibility.py: {result}"


@pytest.mark.parametrize("name", HOST_METHODS)
def test_the_sdk_reports_to_its_host_by_methods_with_the_prefix(name: str) -> None:
    assert name.startswith(compatibility.HOST_METHOD_PREFIX)
    assert hasattr(SessionHost, name), f"SessionHost has no {name} any more"


def test_the_shutdown_callback_refers_to_the_runner() -> None:
    """`runner_shutdown` finds the runner as `self` in the closure of the job's callback."""
    callbacks = [
        node
        for node in ast.walk(_parse(RUNNER))
        if isinstance(node, ast.FunctionDef) and node.name == "_on_ctx_shutdown"
    ]
    assert len(callbacks) == 1, "the runner has no callback _on_ctx_shutdown any more"
    used = {
        node.attr
        for node in ast.walk(callbacks[0])
        if isinstance(node, ast.Attribute) and _is_own(node.value)
    }
    assert "_shutdown_fut" in used, "_on_ctx_shutdown does not use self._shutdown_fut any more"


def test_an_activity_has_the_properties_of_its_model() -> None:
    assert isinstance(inspect.getattr_static(AgentActivity, "llm"), property)
    assert isinstance(inspect.getattr_static(AgentActivity, "scheduling_paused"), property)
