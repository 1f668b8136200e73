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
    "codegen/init/test_preset.py",
    "codegen/init/test_proposals_published.py",
    "codegen/parity/test_edited_sdks.py",
    "codegen/vocabulary/test_protobuf_packages.py",
    "runtime/livekit_agents/test_session_lifetime.py",
    "codegen/cli/test_refusals.py",
    "codegen/frontend",
    "codegen/ir/test_enum_mapping.py",
    "codegen/output",
    "codegen/targets",
    "codegen/test_check.py",
    "codegen/vocabulary/test_any_source.py",
    "codegen/vocabulary/test_published.py",
    "docs",
    "end_to_end",
    "examples",
    "interop",
    "repository/test_action.py",
    "repository/test_background_run.py",
    "repository/test_install.py",
    "repository/test_pre_commit.py",
    "runtime/command/test_cli.py",
    "runtime/command/test_input_lines.py",
    "runtime/command/test_listen.py",
    "runtime/command/test_screen.py",
    "runtime/driver/test_session_processes.py",
    "runtime/driver/test_session_sdk_host.py",
    "runtime/host/test_host_processes.py",
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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks the slow tests."""
    for item in items:
        path = item.path.relative_to(TESTS)
        quick = path.as_posix() in QUICK
        if not quick and any(path.is_relative_to(place) for place in SLOW):
            item.add_marker(pytest.mark.slow)
