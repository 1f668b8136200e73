"""Child processes: Python programs that see nothing of the working directory.

In: the name of a module or a piece of code. Out: the command that runs it. Python puts the
working directory first on a child's path; a `black.py` there is not the black that is meant.
"""

from __future__ import annotations

import sys

_CLEAN = "import sys; sys.path[:] = [entry for entry in sys.path if entry]\n"
_MODULE = "import runpy; runpy.run_module({!r}, run_name='__main__', alter_sys=True)"


def module(name: str, *arguments: str) -> list[str]:
    """Return the command that runs a module as a program."""
    return code(_MODULE.format(name), *arguments)


def code(text: str, *arguments: str) -> list[str]:
    """Return the command that runs a piece of code."""
    return [sys.executable, "-c", _CLEAN + text, *arguments]
