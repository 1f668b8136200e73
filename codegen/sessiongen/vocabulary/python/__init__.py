"""Reads a Python SDK with `ast`; nothing of it is imported or run.

In: a Package and a Scope. Out: a Reading.
"""

from sessiongen.vocabulary.python.reader import read

__all__ = ["read"]
