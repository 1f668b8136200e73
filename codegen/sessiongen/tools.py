"""Tool versions: what, besides the input, the output depends on.

In: the installed distributions. Out: name to version, and a digest of the generator's
own files, which change without a version in a checkout.
"""

from __future__ import annotations

import hashlib
from importlib import metadata

from sessiongen import __version__
from sessiongen.resources import generator_files

SHAPING = ("black", "grpcio-tools", "jinja2", "mypy-protobuf")


def versions() -> dict[str, str]:
    """Return the version of each tool that shapes the output, this one included."""
    found = {"sessiongen": __version__}
    for name in SHAPING:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found


def generator_digest() -> str:
    """Return a digest of the generator's code and templates."""
    digest = hashlib.sha256()
    for path in generator_files():
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n"))
    return digest.hexdigest()
