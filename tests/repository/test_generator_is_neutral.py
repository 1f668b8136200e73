"""Tests that the generator names no SDK; SDKs are described in configuration files."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# Names of SDKs, their classes and modules, which code and comments must not contain.
SDK = re.compile(
    r"livekit|AgentSession|SessionHost|RemoteSession|SessionTransport"
    r"|remote_session|voice[./]|agents[-_]js|rtc[-_]node",
    re.IGNORECASE,
)


def test_generator_names_no_sdk() -> None:
    paths = [
        path
        for folder in ("codegen", "templates")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".j2", ".toml", ".proto")
    ]
    assert len(paths) > 100
    matches = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if SDK.search(line)
    ]
    assert matches == []
