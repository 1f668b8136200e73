"""Entry point of the command `sessiongen` and of `python -m sessiongen`."""

from __future__ import annotations

import os
import signal
import sys
from typing import IO

_HANDLER = signal.getsignal(signal.SIGINT)
if _HANDLER is signal.default_int_handler:
    # An interrupt while modules load has nothing to undo: it ends the process silently.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

try:
    from sessiongen.cli.main import main
except ModuleNotFoundError as error:
    if error.name not in ("click", "tomli"):
        raise
    print(
        f"sessiongen: the package {error.name!r} is not installed\n"
        '  help: in a checkout of this repository run `pip install -e ".[codegen]"`',
        file=sys.stderr,
    )
    sys.exit(2)


def run() -> None:
    """Run the command and exit with its status, or with 2 if its output cannot be written."""
    # From here on an interrupt is an exception, which the command handles.
    signal.signal(signal.SIGINT, _HANDLER)
    status: int | str | None
    try:
        status = main(prog_name="sessiongen", standalone_mode=True)
    except SystemExit as ended:
        status = ended.code
    except OSError as error:
        _discard(sys.stdout)
        status = _unwritable(error)
    sys.exit(_flushed(status))


def _flushed(status: int | str | None) -> int | str | None:
    """Write what is still buffered, so that a failure is reported and decides the status."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            # The reader, such as `head`, has seen enough.
            _discard(stream)
        except OSError as error:
            _discard(stream)
            status = _unwritable(error)
    return status


def _unwritable(error: OSError) -> int:
    """Report output that could not be written; a status of 1 would mean a finding."""
    try:
        print(f"sessiongen: cannot write the output: {error.strerror}", file=sys.stderr)
    except OSError:
        # stderr cannot be written either: the status remains.
        pass
    return 2


def _discard(stream: IO[str] | None) -> None:
    """Point a stream to the null device: the interpreter flushes it once more when it exits."""
    if stream is None:
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


if __name__ == "__main__":
    run()
