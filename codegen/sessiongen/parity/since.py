"""Finds what changed in the parity since a commit.

The comparison of that commit is made from its files, which are checked out into a temporary
folder. Everything inside the repository is taken from there: the configuration, the protocol,
vocabularies, gap files, and the sources of an SDK. What is outside of it is used as it is.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.parity.compare import Parity
from sessiongen.parity.matrix import Key, Row, Section, without_positions
from sessiongen.paths import display

_HELP = (
    "name a commit of the repository with this folder; a folder outside of a repository has no "
    "commits, and a shallow clone may lack one"
)

_T = TypeVar("_T")
# What a row shows: its label, and the text and the differences of each cell.
_RowContent = tuple[str, tuple[tuple[str, tuple[tuple[Key, bool], ...]], ...]]


@contextmanager
def checkout(ref: str, folder: Path) -> Iterator[Callable[[Path], Path]]:
    """Checks out a commit of the repository around a folder into a temporary folder.

    Yields a function that returns the path of a file or folder in that commit, or the path itself
    if it is outside of the repository.

    Raises:
        InputError: the folder is not in a repository, or the repository has no such commit.
    """
    top = Path(_git(folder, "rev-parse", "--show-toplevel"))
    commit = _git(
        folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{ref}^{{commit}}"
    )
    with tempfile.TemporaryDirectory() as name:
        copy = Path(name, "tree")
        index = {"GIT_INDEX_FILE": str(Path(name, "index"))}
        _git(top, "read-tree", commit, environment=index)
        _git(top, "checkout-index", "--all", f"--prefix={copy}/", environment=index)

        def in_commit(path: Path) -> Path:
            real = Path(os.path.realpath(path))
            return copy / real.relative_to(top) if real.is_relative_to(top) else path

        try:
            yield in_commit
        except InputError as error:
            raise InputError(_renamed(item, ref, copy, top) for item in error.diagnostics) from None


def changes(now: Parity, before: Parity, ref: str) -> Parity:
    """Returns a parity with only what changed: rows, diagnostics, and resolved findings."""
    earlier = Counter(map(_signature, before.diagnostics))
    diagnostics = [item for item in now.diagnostics if not _take(earlier, _signature(item))]
    keys = {item.key for item in now.findings.values()} | now.declared.keys()
    resolved = [item for item in before.findings.values() if item.key not in keys]
    sections = (_changed_rows(now, before, section) for section in now.sections)
    return replace(
        now,
        sections=tuple(section for section in sections if section.rows),
        diagnostics=diagnostics,
        since=ref,
        resolved=tuple(resolved),
    )


def _changed_rows(now: Parity, before: Parity, section: Section) -> Section:
    rows = (row for item in before.sections if item.title == section.title for row in item.rows)
    earlier = Counter(_content(before, row) for row in rows)
    changed = [row for row in section.rows if not _take(earlier, _content(now, row))]
    return section._replace(rows=tuple(changed))


def _content(parity: Parity, row: Row) -> _RowContent:
    """Returns what a row shows, without positions."""
    cells = (
        (cell.text, tuple((item.key, item.key in parity.declared) for item in cell.findings))
        for cell in row.cells
    )
    return row.label, tuple(cells)


def _signature(diagnostic: Diagnostic) -> tuple[str, str]:
    return diagnostic.rule.value, without_positions(diagnostic.message)


def _take(counter: Counter[_T], key: _T) -> bool:
    """Removes one occurrence of a key and returns whether there was one."""
    present = counter[key] > 0
    counter[key] -= present
    return present


def _git(folder: Path, *arguments: str, environment: dict[str, str] | None = None) -> str:
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(
            command,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise _error(folder, f"git could not be started: {error.strerror}") from None
    if done.returncode:
        reason = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise _error(folder, f"--since: {reason or 'there is no such commit'}")
    return os.fsdecode(done.stdout).removesuffix("\n")


def _error(folder: Path, fault: str) -> InputError:
    return InputError([Diagnostic(Span(display(folder)), Rule.USAGE, fault, _HELP)])


def _renamed(diagnostic: Diagnostic, ref: str, copy: Path, top: Path) -> Diagnostic:
    """Returns a fault of a checked out file with its path in the repository."""
    span = diagnostic.span
    path = Path(span.file)
    if not path.is_relative_to(copy):
        return diagnostic
    file = display(top / path.relative_to(copy))
    return replace(
        diagnostic, span=replace(span, file=file), message=f"at {ref}: {diagnostic.message}"
    )
