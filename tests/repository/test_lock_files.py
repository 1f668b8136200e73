"""Lock files name packages by name, version and hash, and have no address."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LOCKS = sorted(
    path
    for pattern in (
        "requirements*.txt",
        "examples/*/package-lock.json",
        "tests/*/*/package-lock.json",
    )
    for path in ROOT.glob(pattern)
)


def test_every_kind_of_lock_file_is_checked() -> None:
    names = {path.name for path in LOCKS}
    assert {"requirements.txt", "requirements-dev.txt", "package-lock.json"} <= names


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_lock_file_has_hashes_and_no_address(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "sha256:" in text or '"integrity": "sha512-' in text
    assert "://" not in text and "--index-url" not in text
    assert '"resolved"' not in text and '"funding"' not in text
