"""Reads a TypeScript SDK with tree-sitter; its code is never run."""

from sessiongen.vocabulary.typescript.reader import read

__all__ = ["read"]
