"""Tool versions: what, besides the input, the output depends on.

In: the installed distributions. Out: name to version, and a digest of the generator's
own files, which change without a version in a checkout.
"""

from __future__ import annotations

import hashlib
import os
import sys

from sessiongen import __version__
from sessiongen.resources import generator_files

SHAPING = ("black", "grpcio-tools", "jinja2", "mypy-protobuf")
_METADATA = ".dist-info"


def versions() -> dict[str, str]:
    """Return the version of each tool that shapes the output, this one included.

    Read off the names of the installed metadata folders: importlib.metadata alone would
    take a fifth of a run that has nothing to do.
    """
    found: dict[str, str] = {}
    for folder in sys.path:
        for name, version in _distributions(folder):
            if name in SHAPING:
                found.setdefault(name, version)
    return {"sessiongen": __version__, **{n: found.get(n, "not installed") for n in SHAPING}}


def _distributions(folder: str) -> list[tuple[str, str]]:
    """Return (name, version) of each distribution whose metadata lies in a folder."""
    try:
        entries = os.listdir(folder)
    except OSError:
        return []
    stems = [item.removesuffix(_METADATA) for item in entries if item.endswith(_METADATA)]
    pairs = [stem.partition("-") for stem in stems]
    return [(name.lower().replace("_", "-"), version) for name, _, version in pairs]


def generator_digest() -> str:
    """Return a digest of the generator's code and templates."""
    digest = hashlib.sha256()
    for path in generator_files():
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()
