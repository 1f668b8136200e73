"""Formats paths for messages."""

from __future__ import annotations

import os
from pathlib import Path


def display(path: Path) -> str:
    """Returns a path for a message: relative if it is below the working directory."""
    try:
        full, here = os.path.abspath(path), os.getcwd()
    except FileNotFoundError:
        # The working directory was removed.
        return path.as_posix()
    if full.startswith(here.rstrip(os.sep) + os.sep):
        return Path(full).relative_to(here).as_posix()
    return Path(full).as_posix()
