"""What the command cannot do."""

from __future__ import annotations


class Refusal(Exception):
    """The command cannot do what it was asked to; the text says why, in one line."""
