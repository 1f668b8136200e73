"""How the packages of each language are laid out."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path


class PackageLayout(ABC):
    """The layout of the packages of a language. Packages are named as in its sources."""

    @abstractmethod
    def root_file(self, package: str) -> str:
        """Returns the file by which a package is found, relative to the folder of its paths."""

    @abstractmethod
    def is_root_file(self, data: bytes, package: str) -> bool:
        """Whether a file with the name of the root file is that of a package."""

    def base_of(self, path: Path, package: str) -> Path | None:
        """Returns the folder of the package's paths if `path` is the package's own folder below it."""
        return None


class _PythonLayout(PackageLayout):
    def root_file(self, package: str) -> str:
        return package.replace(".", "/") + "/__init__.py"

    def is_root_file(self, data: bytes, package: str) -> bool:
        return True

    def base_of(self, path: Path, package: str) -> Path | None:
        parts = tuple(package.split("."))
        absolute = path.absolute()
        return absolute.parents[len(parts) - 1] if absolute.parts[-len(parts) :] == parts else None


class _NpmLayout(PackageLayout):
    def root_file(self, package: str) -> str:
        return "package.json"

    def is_root_file(self, data: bytes, package: str) -> bool:
        try:
            manifest = json.loads(data)
        except (ValueError, RecursionError):
            return False
        return isinstance(manifest, dict) and manifest.get("name") == package


# By the language of a `PackageSource`.
LAYOUTS: Mapping[str, PackageLayout] = {"python": _PythonLayout(), "typescript": _NpmLayout()}
