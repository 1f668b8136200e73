"""The configuration file codegen.toml: reading, and positions of keys."""
