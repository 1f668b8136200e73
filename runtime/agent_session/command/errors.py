"""The error of the command."""

from __future__ import annotations


class CommandError(Exception):
    """The command cannot run. The text is one line for the user."""
