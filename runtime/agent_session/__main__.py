"""The command `agent-session`, also as `python -m agent_session`.

Comes in: the arguments of the process. Goes out: what the verb prints, and its exit status.
"""

from __future__ import annotations

import sys

from .command.cli import main


def run() -> None:
    """Run the command, and end the process with its exit status."""
    sys.exit(main(sys.argv[1:]))


if __name__ == "__main__":
    run()
