"""The transport over the byte streams of a LiveKit room."""
