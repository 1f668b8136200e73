"""Versions of the tools and of the generator, on which the output depends."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Collection

from sessiongen.resources import generator_files

_METADATA = ".dist-info"


def installed(names: Collection[str]) -> dict[str, str]:
    """Returns the version of each distribution, or "not installed".

    The versions are read from the names of the installed metadata folders: importlib.metadata
    would take a fifth of the time of an unchanged run.
    """
    versions: dict[str, str] = {}
    for folder in sys.path:
        for name, version in _distributions(folder):
            if name in names:
                versions.setdefault(name, version)
    return {name: versions.get(name, "not installed") for name in names}


def _distributions(folder: str) -> list[tuple[str, str]]:
    """Returns (name, version) of each distribution whose metadata is in a folder."""
    try:
        entries = os.listdir(folder)
    except OSError:
        return []
    stems = [item.removesuffix(_METADATA) for item in entries if item.endswith(_METADATA)]
    pairs = [stem.partition("-") for stem in stems]
    return [(name.lower().replace("_", "-"), version) for name, _, version in pairs]


def generator_digest() -> str:
    """Returns a digest of the generator's code and templates.

    In a checkout, they can change without a change of the version.
    """
    digest = hashlib.sha256()
    for path in generator_files():
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()
