"""The command `agent-session`: watch and drive an agent by hand, or see how that looks.

It needs nothing but what the package needs; `demo` needs livekit-agents, for its agent.
"""
