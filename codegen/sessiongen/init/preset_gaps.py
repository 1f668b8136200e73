"""Makes the gap file of a preset: the declared gaps that hold for the new configuration.

The gaps of this repository compare its contract with several SDKs. A preset has one SDK, and may
have published messages in place of the contract, under another package name and without the newest
arms. A gap whose difference does not exist there would be reported as outdated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

import tomli

from sessiongen.parity.gaps import covers_pair
from sessiongen.parity.matrix import Finding

# The package of an element, such as `acme.v1.` in `enum acme.v1.State`.
_PACKAGE = re.compile(r"\b(?:[a-z]\w*\.)+(?=[A-Z])")


def gaps_for(findings: Iterable[Finding], texts: Iterable[str]) -> str:
    """Returns the gaps in the texts of gap files that cover findings, as the text of a gap file."""
    by_key = {_key(item.id, item.state): item for item in findings}
    entries = []
    for gap in (item for text in texts for item in tomli.loads(text)["gaps"]):
        keys = [_key(*pair) for pair in gap["covers"].items()]
        covered = [by_key.pop(key) for key in keys if key in by_key]
        if covered:
            entries.append(_entry(gap, covered))
    return "\n".join(entries)


def _key(difference_id: str, state: str) -> tuple[str, str]:
    """Returns what is equal for a difference of the same elements in another package."""
    return _PACKAGE.sub("", difference_id), _PACKAGE.sub("", state)


def _entry(gap: dict[str, Any], covered: Iterable[Finding]) -> str:
    head = "".join(
        f"{key} = {json.dumps(gap[key], ensure_ascii=False)}\n"
        for key in ("kind", "reason", "issue")
        if key in gap
    )
    covers = "".join(f"{covers_pair(item)}\n" for item in covered)
    return f"[[gaps]]\n{head}\n[gaps.covers]\n{covers}"
