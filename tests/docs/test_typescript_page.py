"""The TypeScript blocks of docs/typescript.md compile, in their order, with the generated modules."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from interop_typescript import GENERATED, run_tool, settings, typescript_is_missing
from pages import ROOT, blocks

# What the blocks take for granted.
GIVEN = """\
declare const session: voice.AgentSession;
declare const transport: voice.SessionTransport;
"""


def rest(module: str, table: str, written: str, line: str) -> str:
    """Returns a line for each member of a declaration that a block leaves out."""
    text = (GENERATED / module).read_text(encoding="utf-8")
    body = re.search(rf"export (?:interface|const) {table}\b.*?\n}}", text, re.S)
    assert body is not None
    names = re.findall(r"^  (\w+)[(:]", body.group(), re.M)
    left = [name for name in names if not re.search(rf"^ +{name}[(:]", written, re.M)]
    assert len(names) > len(left) > 0
    return "\n".join(line.format(name) for name in left)


def test_the_blocks_compile(tmp_path: Path) -> None:
    if reason := typescript_is_missing():
        pytest.skip(reason)
    page = (ROOT / "docs" / "typescript.md").read_text(encoding="utf-8")
    host, events, driver = (item.text for item in blocks(page) if item.language == "typescript")
    method = "{0}!: protocol.SessionRequestHandler['{0}'];"
    methods = rest("requests.ts", "SessionRequestHandler", host, method)
    decisions = rest("events.ts", "SDK_EVENTS", events, "{}: null,")
    host, count = re.subn(r"// … a method for each further request", methods, host)
    events, other = re.subn(r"// … a decision for each further event", decisions, events)
    assert (count, other) == (1, 1)
    imports, _, code = host.partition("\n\n")
    text = "\n".join([imports, GIVEN, code, events, driver])
    # Nothing of the page is used in the module itself.
    text = re.sub(r"^(const|async function)\b", r"export \1", text, flags=re.M)
    folder = settings(tmp_path)
    shutil.copytree(GENERATED, folder / "generated")
    (folder / "page.ts").write_text(text, encoding="utf-8")
    config = json.loads((folder / "tsconfig.json").read_text(encoding="utf-8"))
    config["include"] = ["page.ts"]
    (folder / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
    assert run_tool(folder, "tsc", "--noEmit", "--project", ".") == (0, "")
