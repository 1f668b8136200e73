"""The generator's own data files: templates, and the .proto of the annotations.

A wheel has them inside the package; a checkout has them at its root.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent


def templates_dir() -> Path:
    """Return the folder that holds one folder of templates a target language."""
    packed = _PACKAGE / "templates"
    return packed if packed.is_dir() else _CHECKOUT / "templates"


def include_dir() -> Path:
    """Return the include path under which `sessiongen/annotations.proto` is found."""
    packed = _PACKAGE / "include"
    return packed if packed.is_dir() else _CHECKOUT / "proto"


def generator_files() -> list[Path]:
    """Return every file of the generator whose change can change the output."""
    python = [path for path in _PACKAGE.rglob("*.py") if "__pycache__" not in path.parts]
    templates = list(templates_dir().rglob("*.j2"))
    return sorted(python) + sorted(templates) + [include_dir() / "sessiongen" / "annotations.proto"]
