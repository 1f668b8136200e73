"""The adapter of livekit-agents: its sessions, jobs and console audio."""
