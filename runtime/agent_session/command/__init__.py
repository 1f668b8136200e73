"""The command `agent-session`: shows the events of agents and sends requests to them.

Only the subcommand `demo` has a dependency that the package does not have: livekit-agents.
"""
