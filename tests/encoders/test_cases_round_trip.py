"""Every case protocol: messages and models go through encoders and decoders unchanged.

In: packages generated from tests/cases, and random values for each of their messages. Out:
`encode(decode(message)) == message`, `decode(encode(model)) == model`, and the same bytes
from an object, a mapping and a message filled in place.
"""

from __future__ import annotations

import dataclasses
from collections import UserDict
from collections.abc import Iterator
from types import MappingProxyType, SimpleNamespace
from typing import Any

import case_packages
import filling
import coders
import pytest
import random_messages
import walking
from case_packages import VALID
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from coders import Coder, Coders
from support import Package

Packages = dict[str, tuple[Package, Coders]]


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Packages:
    """Every case as a package, all in one folder."""
    root = tmp_path_factory.mktemp("cases")
    made = {name: case_packages.make(name, root / "in", root / "out") for name in VALID}
    return {name: (item, coders.coders(item)) for name, item in made.items()}


# Enough to meet each field set and unset; what is drawn is the same in each run.
FEW = settings(
    max_examples=15,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.parametrize("name", VALID)
def test_messages_come_back(packages: Packages, name: str) -> None:
    found = packages[name][1]
    for full_name, coder in found.by_name.items():

        @FEW
        @given(random_messages.messages(found, full_name))
        def check(message: Any) -> None:
            model = coder.decode(message)
            assert coder.encode(model) == message
            filled = coder.message()
            coder.fill(model, filled)
            assert filled == message

        check()


@pytest.mark.parametrize("name", VALID)
def test_models_come_back(packages: Packages, name: str) -> None:
    found = packages[name][1]
    for full_name, coder in found.by_name.items():

        @FEW
        @given(random_messages.models(found, full_name))
        def check(model: Any) -> None:
            assert coder.decode(coder.encode(model)) == model

        check()
