"""The configuration file codegen.toml: reading, positions of keys, and `init`."""
