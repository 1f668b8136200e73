"""Changes to the small TypeScript SDK."""

from __future__ import annotations

from small_sdks import TYPESCRIPT_SDK

EVENTS = "src/voice/events.ts"


HOST = "src/voice/remote_session.ts"


SESSION = "src/voice/agent_session.ts"


def events(*lines: str) -> dict[str, str]:
    """Returns the small SDK's events file with lines appended."""
    return {EVENTS: TYPESCRIPT_SDK[EVENTS] + "\n".join(lines) + "\n"}


def changed(path: str, old: str, new: str) -> dict[str, str]:
    """Returns a file of the small SDK with one part replaced."""
    assert old in TYPESCRIPT_SDK[path]
    return {path: TYPESCRIPT_SDK[path].replace(old, new)}
