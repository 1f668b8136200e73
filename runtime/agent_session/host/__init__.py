"""The agent side of a session."""

from .host import SessionHost

__all__ = ["SessionHost"]
