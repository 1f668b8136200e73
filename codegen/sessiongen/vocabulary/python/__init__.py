"""Reads a Python SDK with `ast`; its code is never imported or run."""

from sessiongen.vocabulary.python.reader import read

__all__ = ["read"]
