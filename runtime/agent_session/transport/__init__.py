"""Transports: carry messages between two peers over TCP, memory or a LiveKit room."""

from .base import Receiver, SessionTransport

__all__ = ["Receiver", "SessionTransport"]
