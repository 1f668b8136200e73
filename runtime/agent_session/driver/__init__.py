"""The driver side of a session."""

from .session import RemoteSession

__all__ = ["RemoteSession"]
