"""Settings of all tests: the profiles of property tests, signals, and which tests are slow.

Property tests take the same inputs in every run, so that a failure is a fault of the code under
test. `make fuzz` takes the profile `explore`, with new inputs. Neither has a deadline, since the
machine may be busy.
"""

from __future__ import annotations

import signal
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile("steady")

# A shell without job control starts background jobs with SIGINT ignored, which the processes that
# tests start and interrupt would inherit.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

TESTS = Path(__file__).parent
# Tests that start many processes, run type checkers or generate many packages. `make test-quick`
# leaves them out.
SLOW = (
    "codegen/cli/test_entry_point.py",
    "codegen/cli/test_refusals.py",
    "codegen/frontend",
    "codegen/init/test_preset.py",
    "codegen/init/test_proposals_by_shape.py",
    "codegen/init/test_proposals_published.py",
    "codegen/init/test_scaffold.py",
    "codegen/init/test_scaffold_roles.py",
    "codegen/ir/test_enum_mapping.py",
    "codegen/output",
    "codegen/parity/test_behaviour.py",
    "codegen/parity/test_command.py",
    "codegen/parity/test_edited_sdks.py",
    "codegen/targets",
    "codegen/test_check.py",
    "codegen/test_counterparts.py",
    "codegen/test_internal_errors.py",
    "codegen/vocabulary/test_any_source.py",
    "codegen/vocabulary/test_protobuf_packages.py",
    "codegen/vocabulary/test_published.py",
    "docs",
    "end_to_end",
    "examples",
    "interop",
    "repository/test_action.py",
    "repository/test_background_run.py",
    "repository/test_contract_lint.py",
    "repository/test_install.py",
    "repository/test_pre_commit.py",
    "runtime/command/test_cli.py",
    "runtime/command/test_input_lines.py",
    "runtime/command/test_listen.py",
    "runtime/command/test_listen_json.py",
    "runtime/command/test_screen.py",
    "runtime/driver/test_session_processes.py",
    "runtime/driver/test_session_sdk_host.py",
    "runtime/host/test_host_processes.py",
    "runtime/livekit_agents/test_session_lifetime.py",
    "runtime/transport/room/test_interop.py",
    "runtime/transport/room/test_sessions.py",
    "runtime/transport/room/test_transport_pressure.py",
    "runtime/transport/test_tcp_processes.py",
)
# Fast tests of the Python target's code, although its folder is slow.
QUICK = (
    "codegen/targets/python/test_docstrings.py",
    "codegen/targets/python/test_events.py",
    "codegen/targets/python/test_naming.py",
    "codegen/targets/python/test_requests_and_client.py",
    "codegen/targets/python/test_values.py",
)


def _is_slow(place: Path) -> bool:
    """Returns whether a file of tests is slow."""
    path = place.relative_to(TESTS)
    return path.as_posix() not in QUICK and any(path.is_relative_to(slow) for slow in SLOW)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves slow files out before they are imported, which takes seconds."""
    left_out = config.getoption("markexpr") == "not slow" and collection_path.suffix == ".py"
    return True if left_out and _is_slow(collection_path) else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the slow tests."""
    for item in items:
        if _is_slow(item.path):
            item.add_marker(pytest.mark.slow)
