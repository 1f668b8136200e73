"""The generator's own data files: templates, presets, and the .proto of the annotations.

They are inside the package in a wheel, and in the root folder of a checkout.
"""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_CHECKOUT = _PACKAGE.parent.parent


def templates_dir() -> Path:
    """Returns the folder of the templates, which has a subfolder for each target language."""
    packed = _PACKAGE / "templates"
    return packed if packed.is_dir() else _CHECKOUT / "templates"


def include_dir() -> Path:
    """Returns the include path under which `sessiongen/annotations.proto` is found."""
    packed = _PACKAGE / "include"
    return packed if packed.is_dir() else _CHECKOUT / "proto"


def presets_dir() -> Path:
    """Returns the folder of the presets. The folder of vocabularies is beside it."""
    packed = _PACKAGE / "presets"
    return packed if packed.is_dir() else _CHECKOUT / "presets"


def generator_files() -> list[Path]:
    """Returns the files of the generator that determine the output."""
    python = [path for path in _PACKAGE.rglob("*.py") if "__pycache__" not in path.parts]
    templates = list(templates_dir().rglob("*.j2"))
    return sorted(python) + sorted(templates) + [include_dir() / "sessiongen" / "annotations.proto"]
