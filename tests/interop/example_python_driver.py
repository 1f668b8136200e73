"""The driver of examples/livekit-agents in place of the SDK's.

Run as `python example_python_driver.py`, or in a room with `URL TOKEN`.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import sdk_python_driver

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "livekit-agents"))

from remote_session import RemoteSession

if __name__ == "__main__":
    setattr(sdk_python_driver, "RemoteSession", RemoteSession)
    asyncio.run(sdk_python_driver.main(*sys.argv[1:]))
