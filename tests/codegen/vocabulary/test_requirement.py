"""Tests of reading which protobuf package an SDK requires."""

from __future__ import annotations

from pathlib import Path

import pytest
from scopes import PYTHON

from sessiongen.vocabulary.model import Place, Requirement
from sessiongen.vocabulary.package import Package, open_package
from sessiongen.vocabulary.requirement import requirement

METADATA = """\
Metadata-Version: 2.4
Requires-Dist: livekit-protocol-tools>=9
Requires-Dist: {}; python_version > '3.9'
"""


@pytest.mark.parametrize(
    ("stated", "versions", "minimum"),
    [
        ("livekit-protocol<2,>=1.1.28", "<2,>=1.1.28", "1.1.28"),
        ("livekit-protocol (>=1.1)", ">=1.1", "1.1"),
        ("livekit-protocol==1.2.3", "==1.2.3", "1.2.3"),
        ("livekit-protocol~=1.4.0rc1", "~=1.4.0rc1", "1.4.0rc1"),
        ("livekit-protocol[grpc]>=1", ">=1", "1"),
        ("livekit-protocol<2,!=1.5", "<2,!=1.5", ""),
        ("livekit-protocol", "", ""),
    ],
)
def test_metadata_of_a_wheel(stated: str, versions: str, minimum: str) -> None:
    file = "livekit_agents-1.dist-info/METADATA"
    package = Package("sdk", {file: METADATA.format(stated).encode()})
    expected = Requirement("livekit-protocol", versions, minimum, Place(file, 3))
    assert requirement(package, "livekit-protocol") == expected


@pytest.mark.parametrize(
    ("text", "minimum"),
    [
        ('{\n "dependencies": {"@livekit/protocol": "^1.50.4"}}', "1.50.4"),
        ('{\n "peerDependencies": {"@livekit/protocol": "~1.2"}}', "1.2"),
        ('{\n "dependencies": {"@livekit/protocol": "1.2.3"}}', "1.2.3"),
        ('{\n "dependencies": {"@livekit/protocol": "workspace:*"}}', ""),
    ],
)
def test_package_json(text: str, minimum: str) -> None:
    package = Package("sdk", {"package.json": text.encode()})
    result = requirement(package, "@livekit/protocol")
    assert result is not None and result.minimum == minimum
    assert result.place == Place("package.json", 2)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"dependencies": []}', "[" * 100_000])
def test_no_requirement(text: str) -> None:
    package = Package("sdk", {"package.json": text.encode()})
    assert requirement(package, "@livekit/protocol") is None


def test_folder_of_a_checkout_and_of_an_installation(tmp_path: Path) -> None:
    root = tmp_path / "livekit/agents"
    root.mkdir(parents=True)
    (root / "__init__.py").write_text("")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = [\n    "livekit-protocol>=1.1.21,<2",\n]\n'
    )
    result = requirement(open_package(tmp_path, PYTHON), "livekit-protocol")
    assert result is not None
    assert (result.minimum, str(result.place)) == ("1.1.21", "pyproject.toml:3")
    (tmp_path / "pyproject.toml").unlink()
    metadata = tmp_path / "livekit_agents-1.0.dist-info/METADATA"
    metadata.parent.mkdir()
    metadata.write_text(METADATA.format("livekit-protocol>=1.1.22"))
    result = requirement(open_package(tmp_path, PYTHON), "livekit-protocol")
    assert result is not None and result.minimum == "1.1.22"
