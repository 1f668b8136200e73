"""The .proto files whose messages come with protobuf itself.

Other files below google/protobuf/ (features of other languages) belong to the protocol.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec

PREFIX = "google/protobuf/"


@lru_cache(maxsize=None)
def shipped(file: str) -> bool:
    """Whether protobuf has a module for a proto file."""
    if not file.startswith(PREFIX):
        return False
    package, name = module(file)
    try:
        return find_spec(f"{package}.{name}") is not None
    except ModuleNotFoundError:
        return False


def module(file: str) -> tuple[str, str]:
    """Return the package and the name of a shipped file's module."""
    package, _, name = file.removesuffix(".proto").replace("/", ".").rpartition(".")
    return package, f"{name}_pb2"
