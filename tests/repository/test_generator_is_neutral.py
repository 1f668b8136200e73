"""Tests that the generator names no SDK; SDKs are described in configuration files."""

from __future__ import annotations

import json
import re
from pathlib import Path

import tomli

ROOT = Path(__file__).resolve().parents[2]
# Names of SDKs and their modules, which code and comments must not contain.
SDK = re.compile(
    r"livekit|AgentSession|SessionHost|RemoteSession|SessionTransport"
    r"|remote_session|voice[./]|agents[-_]js|rtc[-_]node",
    re.IGNORECASE,
)


def sdk_classes() -> re.Pattern[str]:
    """Returns a pattern for the names of the SDKs' classes and enums, as the vocabularies list them.

    Names of one word, such as `Message`, are left out, since they are words of other languages too.
    """
    names: set[str] = set()
    for path in (ROOT / "vocabularies").glob("*.json"):
        facts = json.loads(path.read_text(encoding="utf-8"))
        for section in ("enums", "records", "unions"):
            if "sdk" in facts:
                names.update(fact["name"].partition(".")[0] for fact in facts[section])
    for path in (ROOT / "vocabularies").glob("*.scope.toml"):
        scope = tomli.loads(path.read_text(encoding="utf-8"))
        names.update(name.partition(".")[0] for name in scope["required"])
    several_words = sorted(
        name
        for name in names
        if re.fullmatch(r"[A-Z]+[a-z0-9]+(?:[A-Z]+[a-z0-9]+)+|[A-Z]{2,}[a-z0-9]+", name)
    )
    assert {"AgentState", "ChatItem", "ChatMessage", "ShutdownReason"} <= set(several_words)
    return re.compile(rf"\b(?:{'|'.join(several_words)})\b")


def test_generator_names_no_sdk() -> None:
    paths = [
        path
        for folder in ("codegen", "templates")
        for path in sorted((ROOT / folder).rglob("*"))
        if path.suffix in (".py", ".j2", ".toml", ".proto")
    ]
    assert len(paths) > 100
    classes = sdk_classes()
    matches = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if SDK.search(line) or classes.search(line)
    ]
    assert matches == []
