"""The command `agent-session`, also run as `python -m agent_session`."""

from __future__ import annotations

import sys

from .command.cli import main


def run() -> None:
    """Runs the command and exits with its status."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
