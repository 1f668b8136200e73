"""What all tests of the command share: it formats in one child, where it runs in this process.

A run starts a child for each core, each of which loads black, and the tests keep every core
busy as it is. Runs in processes of their own, and test_formatting.py, have as many as ever.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec


import pytest


@pytest.fixture(autouse=True, scope="module")
def one_formatting_child(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        # Behaviour is tested where there is no generator, too (test_interpreters.py).
        if request.path.name != "test_formatting.py" and find_spec("sessiongen"):
            patch.setattr("sessiongen.formatting._MOST_WORKERS", 1)
        yield
