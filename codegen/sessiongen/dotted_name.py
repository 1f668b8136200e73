"""Dotted names of Python modules, as input and output keys hold them."""

from __future__ import annotations

from keyword import iskeyword
from unicodedata import normalize

DOTTED_NAME_HELP = "use letters, digits and underscores, parts joined by dots"


def is_dotted_name(name: str) -> bool:
    """Whether a name can stand in an import statement."""
    # Python reads names in their NFKC form, and would look for a module of another name.
    return all(
        part.isidentifier() and not iskeyword(part) and normalize("NFKC", part) == part
        for part in name.split(".")
    )
