"""Checks that no peer process and no thread is left after the tests of a module."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import psutil
import pytest


@pytest.fixture(scope="module", autouse=True)
def nothing_is_left() -> Iterator[None]:
    threads, children = set(threading.enumerate()), set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= children
    assert set(threading.enumerate()) <= threads
