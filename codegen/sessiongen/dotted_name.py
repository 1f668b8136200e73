"""Dotted names of Python modules."""

from __future__ import annotations

from keyword import iskeyword
from unicodedata import normalize

DOTTED_NAME_HELP = "use letters, digits and underscores, with dots between the parts"


def is_dotted_name(name: str) -> bool:
    """Whether a name is valid in an import statement."""
    # Python normalizes names to NFKC, and would import a module with another name.
    return all(
        part.isidentifier() and not iskeyword(part) and normalize("NFKC", part) == part
        for part in name.split(".")
    )
