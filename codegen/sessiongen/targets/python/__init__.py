"""The Python target: a typed package from a protocol."""
