"""The command `init`: proposals for a protocol, presets, and the codegen.toml that it writes."""
