"""Command lines of Python subprocesses that run without the working directory on `sys.path`.

Otherwise a file such as `black.py` in the working directory would hide the module of that name.
"""

from __future__ import annotations

import sys

_REMOVE_WORKING_DIRECTORY = "import sys; sys.path[:] = [entry for entry in sys.path if entry]\n"
_MODULE = "import runpy; runpy.run_module({!r}, run_name='__main__', alter_sys=True)"


def module(name: str, *arguments: str) -> list[str]:
    """Returns the command that runs a module as a program."""
    return code(_MODULE.format(name), *arguments)


def code(text: str, *arguments: str) -> list[str]:
    """Returns the command that runs a piece of code."""
    return [sys.executable, "-c", _REMOVE_WORKING_DIRECTORY + text, *arguments]
