"""Changes to the small Python SDK."""

from __future__ import annotations


from small_sdks import PYTHON_SDK

EVENTS = "voice/events.py"


HOST = "voice/remote_session.py"


SESSION = "voice/agent_session.py"


ROOT = "livekit/agents/"


EVENTS_PATH = ROOT + EVENTS


HOST_PATH = ROOT + HOST


def events(*lines: str) -> dict[str, str]:
    """Returns the small SDK's events file with lines appended."""
    return {EVENTS: PYTHON_SDK[EVENTS] + "\n".join(lines) + "\n"}


def host(old: str, new: str) -> dict[str, str]:
    """Returns the file of host and driver with one part replaced."""
    assert old in PYTHON_SDK[HOST]
    return {HOST: PYTHON_SDK[HOST].replace(old, new)}
