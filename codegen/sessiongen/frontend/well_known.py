"""The .proto files whose Python modules are part of protobuf.

Other files below google/protobuf/, such as features of other languages, belong to the protocol.
"""

from __future__ import annotations

from functools import lru_cache
from importlib.util import find_spec

PREFIX = "google/protobuf/"


@lru_cache(maxsize=None)
def is_well_known(file: str) -> bool:
    """Whether the Python module of a .proto file is part of protobuf."""
    if not file.startswith(PREFIX):
        return False
    package, name = module(file)
    try:
        return find_spec(f"{package}.{name}") is not None
    except ModuleNotFoundError:
        return False


def module(file: str) -> tuple[str, str]:
    """Returns the package and the name of the module of a well-known file."""
    package, _, name = file.removesuffix(".proto").replace("/", ".").rpartition(".")
    return package, f"{name}_pb2"
