"""Entry point of the command `sessiongen` and of `python -m sessiongen`."""

from __future__ import annotations

import os
import signal
import sys
from typing import IO

_INTERRUPT_HANDLER = signal.getsignal(signal.SIGINT)
if _INTERRUPT_HANDLER is signal.default_int_handler:
    # While modules are imported, an interrupt ends the process without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)

try:
    from sessiongen.cli.main import main
    from sessiongen.cli.options import CLOSED_PIPE
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
    """Runs the command and exits with its status, or with 2 if its output cannot be written."""
    # From here on an interrupt raises KeyboardInterrupt, which the command handles.
    signal.signal(signal.SIGINT, _INTERRUPT_HANDLER)
    status: int | str | None
    try:
        status = main(prog_name="sessiongen", standalone_mode=True)
    except SystemExit as error:
        status = error.code
    except OSError as error:
        _discard(sys.stdout)
        status = _report_write_error(error)
    sys.exit(_flush(status))


def _flush(status: int | str | None) -> int | str | None:
    """Flushes the output streams; returns the status, or another one if that fails."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except BrokenPipeError:
            _discard(stream)
            status = CLOSED_PIPE
        except OSError as error:
            _discard(stream)
            status = _report_write_error(error)
    return status


def _report_write_error(error: OSError) -> int:
    """Reports that output could not be written; returns the status 2, as 1 means a finding."""
    try:
        print(f"sessiongen: cannot write the output: {error.strerror}", file=sys.stderr)
    except OSError:
        # stderr cannot be written either; only the status reports the error.
        pass
    return 2


def _discard(stream: IO[str] | None) -> None:
    """Redirects a stream to the null device, because the interpreter flushes it again at exit."""
    if stream is None:
        return
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


if __name__ == "__main__":
    run()
