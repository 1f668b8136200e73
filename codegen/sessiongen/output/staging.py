"""Writes the changes of all outputs, or none of them.

The files of every output are written to staging folders before the first one is moved into
place, so that a folder that cannot be written leaves all outputs as they were. If the run is
killed while it moves files, each file is either old or new.
"""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Severity, Span
from sessiongen.output.writer import MANIFEST, Difference, Plan
from sessiongen.paths import display

STAGING = ".sessiongen-staging-"
# The suffix of the copy of a file that was edited by hand.
EDITED = ".edited"


def write(plans: Sequence[Plan]) -> list[Diagnostic]:
    """Applies the plans of all outputs; returns a warning for each file that was edited by hand.

    The manifest of an output is moved last. The edited text of a file is copied to another file
    beside it.

    Raises:
        InputError: a folder cannot be written. It has the warnings of the outputs before it, if
            they were written.
    """
    warnings: list[Diagnostic] = []
    folder = Path()
    try:
        for plan in plans:
            folder = plan.folder.path
            _stage(plan)
        for plan in plans:
            folder = plan.folder.path
            warnings += _apply(plan)
    except OSError as error:
        raise InputError([*warnings, _write_fault(folder, error)]) from None
    finally:
        for plan in plans:
            shutil.rmtree(_staging(plan.folder.path), ignore_errors=True)
    return warnings


def _staging(folder: Path) -> Path:
    return folder / f"{STAGING}{os.getpid()}"


def _texts(plan: Plan) -> dict[str, str]:
    """Returns the files to write, with the manifest last."""
    texts = {item.path: item.expected for item in plan.changes if item.expected is not None}
    if MANIFEST in texts:
        texts[MANIFEST] = texts.pop(MANIFEST)
    return texts


def _stage(plan: Plan) -> None:
    """Writes the files of an output to its staging folder."""
    folder = plan.folder.path
    folder.mkdir(parents=True, exist_ok=True)
    _remove_stale_staging(folder)
    staging = _staging(folder)
    texts = _texts(plan)
    if texts:
        staging.mkdir()
    for name, text in texts.items():
        (staging / name).parent.mkdir(parents=True, exist_ok=True)
        (staging / name).write_text(text, encoding="utf-8", newline="\n")
        (folder / name).parent.mkdir(parents=True, exist_ok=True)


def _apply(plan: Plan) -> list[Diagnostic]:
    """Moves the staged files of an output into place; returns its warnings."""
    folder = plan.folder.path
    backups = [(_backup(folder, item), item) for item in plan.edited]
    with _signals_blocked():
        for item in plan.changes:
            if item.expected is None:
                (folder / item.path).unlink(missing_ok=True)
        for name in _texts(plan):
            os.replace(_staging(folder) / name, folder / name)
    warnings = [_edited_warning(folder, item, backup) for backup, item in backups]
    return warnings + [_preserved_warning(folder, item) for item in plan.preserved]


def _write_fault(folder: Path, error: OSError) -> Diagnostic:
    path = Path(error.filename or folder)
    reason, help_ = error.strerror, "make the folder writable and run generate again"
    if isinstance(error, FileExistsError | NotADirectoryError):
        if path.is_symlink() and not path.exists():
            reason = "it is a link to nothing"
        help_ = "move away what is in its place, or set another output.path in codegen.toml"
    fault = f"cannot write {display(path)}: {reason}"
    return Diagnostic(Span(display(folder)), Rule.OUTPUT, fault, f"{help_}; no file was lost")


def _backup(folder: Path, item: Difference) -> Path:
    """Copies an edited file to an unused name beside it, and returns the new path."""
    path = folder / f"{item.path}{EDITED}"
    number = 1
    while os.path.lexists(path):
        number += 1
        path = folder / f"{item.path}{EDITED}.{number}"
    shutil.copyfile(folder / item.path, path)
    return path


def _edited_warning(folder: Path, item: Difference, backup: Path) -> Diagnostic:
    return Diagnostic(
        Span(display(folder / item.path)),
        Rule.EDITED,
        f"this generated file was edited by hand; the edited text is now in {display(backup)}",
        "change the protocol, the templates or the overrides instead, and remove that file",
        Severity.WARNING,
    )


def _preserved_warning(folder: Path, difference: Difference) -> Diagnostic:
    return Diagnostic(
        Span(display(folder / difference.path)),
        Rule.EXTRA_OUTPUT,
        "this file is no longer generated, but it was edited by hand; it was not removed",
        "remove it by hand if nothing in it is needed",
        Severity.WARNING,
    )


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Blocks signals that end the process until the end of the block."""
    # Windows cannot block signals.
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(
        signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
    )
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _remove_stale_staging(folder: Path) -> None:
    """Removes the staging folders of runs that were killed."""
    for path in folder.glob(f"{STAGING}*"):
        pid = path.name.removeprefix(STAGING)
        # In a container, each run may have the same process id.
        stale = not (pid.isdecimal() and _alive(int(pid))) or int(pid) == os.getpid()
        if stale and path.is_dir():
            shutil.rmtree(path, ignore_errors=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
