"""The command `sessiongen`, also as `python -m sessiongen`.

In: the arguments of the process. Out: what the verb prints, and its exit status.
"""

from __future__ import annotations

import signal
import sys

_HANDLER = signal.getsignal(signal.SIGINT)
if _HANDLER is signal.default_int_handler:
    # An interrupt while modules load has nothing to undo: it ends the process, unseen.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

try:
    from sessiongen.cli.main import main
except ModuleNotFoundError as error:
    if error.name not in ("click", "tomli"):
        raise
    print('sessiongen needs its tools: pip install "agent-session[codegen]"', file=sys.stderr)
    sys.exit(2)


def run() -> None:
    """Run the command; from here on an interrupt is an exception that it handles."""
    signal.signal(signal.SIGINT, _HANDLER)
    try:
        main(prog_name="sessiongen")
    except OSError as error:
        # What was found could not be shown; a status of 1 would say that it was drift.
        print(f"sessiongen: cannot write the output: {error.strerror}", file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    run()
