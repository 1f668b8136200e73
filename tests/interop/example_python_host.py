"""The host of examples/livekit-agents in place of the SDK's: `python example_python_host.py [VERDICT]`.

`AgentSession.start` creates it, as it creates the SDK's own.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import sdk_python_host
from livekit.agents.voice import agent_session

sys.path.insert(0, str(Path(__file__).parents[2] / "examples" / "livekit-agents"))

from session_host import SessionHost

if __name__ == "__main__":
    setattr(agent_session, "SessionHost", SessionHost)
    asyncio.run(sdk_python_host.main(sys.argv[1] if len(sys.argv) > 1 else None))
