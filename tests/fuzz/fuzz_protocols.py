"""Generates Python from random protocols and uses it: `python fuzz_protocols.py [COUNT [SEED]]`.

It fails if a protocol ends with a traceback, if a generated file does not parse or import, or if an
arm is not dispatched, answered, sent and delivered as the descriptors say.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import random_protocols


def fuzz(count: int, first: int) -> int:
    """Checks `count` seeds from `first` on; returns how many protocols were generated."""
    generated = 0
    for seed in range(first, first + count):
        with tempfile.TemporaryDirectory() as folder:
            try:
                generated += random_protocols.check(seed, Path(folder))
            except BaseException:
                print(f"the seed {seed} failed", file=sys.stderr)
                raise
    return generated


if __name__ == "__main__":
    arguments = [int(item) for item in sys.argv[1:]]
    count = arguments[0] if arguments else 1000
    first = arguments[1] if len(arguments) > 1 else 0
    print(f"{fuzz(count, first)} of {count} protocols generated and used, the others refused")
