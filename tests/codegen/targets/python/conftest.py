"""Fixtures of the tests of the peer layer."""

from __future__ import annotations

import case_protocols
import pytest
from peer_case import PeerCase


@pytest.fixture(scope="session")
def peer_cases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PeerCase]:
    """The peers of the case protocols."""
    root = tmp_path_factory.mktemp("peers")
    names = ("peer_number", "peer_bytes")
    packages = {name: case_protocols.make(name, root / "in", root / "out") for name in names}
    return {name: PeerCase(name, package.module) for name, package in packages.items()}


@pytest.fixture(params=["peer_number", "peer_bytes"])
def peer_case(request: pytest.FixtureRequest, peer_cases: dict[str, PeerCase]) -> PeerCase:
    """The peers of each case protocol in turn."""
    return peer_cases[request.param]


@pytest.fixture
def number_case(peer_cases: dict[str, PeerCase]) -> PeerCase:
    """Peers with numbers as correlation ids."""
    return peer_cases["peer_number"]
