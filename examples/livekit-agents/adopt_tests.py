"""Edits of livekit-agents' own tests, which use private names that the adoption replaces.

The tests are in `tests` of a clone of livekit/agents, beside the folder of the package. A package
without its tests needs no edit.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

# For each module: patterns, and what replaces them.
REPLACED = {
    "test_remote_session.py": [(r"\bhost\._send_event\(", "host._send(")],
    "test_session_host.py": [
        # A call whose arguments are in the next lines has no blank after the comma.
        (r"\bhost\._on_(\w+)\((?=\n)", r'host._forward("\1",'),
        (r"\bhost\._on_(\w+)\(", r'host._forward("\1", '),
        (r"\bhost\._handle_request\(", "host._handle_request_safe("),
        # The host no longer imports these for itself.
        (r"^    encode_(chat_item|session_usage),\n", ""),
        (
            r"^(from livekit\.agents\._proto import) encode_metrics$",
            r"\1 encode_chat_item, encode_metrics, encode_session_usage",
        ),
    ],
    "test_chat_item_proto_coverage.py": [
        (r"^    (USAGE_VARIANTS|encode_by_name),\n", ""),
        (
            r"\bencode_by_name\(msg_type, (_saturated\(src_type, msg_type\))\)",
            r"_usage_payload(\1)",
        ),
    ],
}
USAGE = """

def _usage_payload(usage: Any) -> Message:
    [encoded] = encode_session_usage(AgentSessionUsage(model_usage=[usage])).model_usage
    variant = encoded.WhichOneof("usage")
    assert variant is not None
    payload: Message = getattr(encoded, variant)
    return payload
"""


def edited_tests(checkout: Path) -> dict[Path, str]:
    """Returns the new text of each test module that the adoption changes; none without tests."""
    folder = checkout.resolve().parent / "tests"
    variants = usage_variants(checkout / "livekit" / "agents" / "_proto.py")
    edited: dict[Path, str] = {}
    for name, replaced in REPLACED.items():
        if (path := folder / name).is_file():
            text = path.read_text(encoding="utf-8")
            changed = _edited(text, replaced)
            if "_usage_payload" in changed:
                changed = _with_variants(changed, variants)
            if changed != text:
                edited[path] = changed
    return edited


def usage_variants(proto: Path) -> str:
    """Returns the table of usage classes, which only tests use after the adoption."""
    text = proto.read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "USAGE_VARIANTS":
            segment = ast.get_source_segment(text, node)
            assert segment is not None
            return re.sub(r"\b_pb\.", "agent_pb.", segment)
    return ""


def _edited(text: str, replaced: list[tuple[str, str]]) -> str:
    for pattern, replacement in replaced:
        text = re.sub(pattern, replacement, text, flags=re.MULTILINE)
    return text


def _with_variants(text: str, variants: str) -> str:
    """Adds the table behind the marker of the module, and the import of its classes."""
    classes = re.findall(r"\((\w+),", variants)
    imported = f"from livekit.agents.metrics import {', '.join(['AgentSessionUsage', *classes])}"
    text = text.replace("from livekit.agents.metrics import AgentSessionUsage", imported)
    marker = "pytestmark = pytest.mark.unit\n"
    return text.replace(marker, f"{marker}\n{variants}\n{USAGE}", 1)
