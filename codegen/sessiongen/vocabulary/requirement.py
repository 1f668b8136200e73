"""Reads which version of its protobuf package an SDK requires.

The requirement is in the metadata of a wheel, in pyproject.toml or in package.json.
"""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath

from sessiongen.vocabulary.model import Place, Requirement
from sessiongen.vocabulary.package import METADATA_FILES, Package

# A bound below: `>=1.2`, `==1.2`, `^1.2`, or a version alone.
_MINIMUM = re.compile(r"(?:^|>=|==|~=|\^|~|[\s,(])\s*v?(\d[\w.]*)")


def requirement(package: Package, distribution: str) -> Requirement | None:
    """Returns the requirement of a package for a distribution, or None if none is stated."""
    for file in sorted(package.files, key=lambda name: (name.count("/"), name)):
        if PurePosixPath(file).name not in METADATA_FILES:
            continue
        text = package.files[file].decode("utf-8", errors="replace")
        stated = _stated(PurePosixPath(file).name, text, distribution)
        if stated is not None:
            line = text[: stated[1]].count("\n") + 1
            return Requirement(distribution, stated[0], _minimum(stated[0]), Place(file, line))
    return None


def _stated(name: str, text: str, distribution: str) -> tuple[str, int] | None:
    """Returns the versions that a file requires, and where it says so."""
    if name == "package.json":
        return _npm(text, distribution)
    escaped = re.escape(distribution)
    if name == "pyproject.toml":
        pattern = rf"""["']{escaped}(?![\w.-])(?:\[[^]]*\])?\s*([^"';]*)"""
    else:
        pattern = rf"^Requires-Dist: *{escaped}(?![\w.-])(?:\[[^]]*\])? *([^\n;]*)"
    match = re.search(pattern, text, re.MULTILINE)
    return (match.group(1).strip().strip("()"), match.start()) if match else None


def _npm(text: str, distribution: str) -> tuple[str, int] | None:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    for key in ("dependencies", "peerDependencies"):
        packages = data.get(key) if isinstance(data, dict) else None
        if isinstance(packages, dict) and isinstance(packages.get(distribution), str):
            return packages[distribution], max(text.find(f'"{distribution}"'), 0)
    return None


def _minimum(versions: str) -> str:
    """Returns the lowest version that is allowed, or "" if there is no such bound."""
    for part in versions.split(","):
        match = None if re.match(r"\s*(<|!=)", part) else _MINIMUM.search(part)
        if match is not None:
            return match.group(1)
    return ""
