"""Computes the digests of definitions, for the readers of all languages."""

from __future__ import annotations

import hashlib

_DIGITS = 12


def digest(code: str) -> str:
    """Returns the digest of a definition's code as hexadecimal digits."""
    return hashlib.sha256(code.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
