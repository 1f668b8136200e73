"""Reads a TypeScript SDK with tree-sitter; nothing of it is run.

In: a Package and a Scope. Out: a Reading.
"""

from sessiongen.vocabulary.typescript.reader import read

__all__ = ["read"]
