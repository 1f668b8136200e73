"""The vectors target: messages with their bytes and JSON, to test any implementation with."""
