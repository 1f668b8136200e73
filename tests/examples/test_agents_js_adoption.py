"""The steps of docs/agents-js.md in a checkout of agents-js, on the sources that its package publishes.

The edits are made as the page says, with the code that it prints.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from interop_node import node_is_missing
from interop_typescript import AGENTS_JS, TYPESCRIPT_FOLDER, run_tool, settings, unformatted
from pages import ROOT, blocks, matches
from sessiongen_command import invoke

from sessiongen import vocabulary

PAGE = (ROOT / "docs" / "agents-js.md").read_text(encoding="utf-8")
SECTION = PAGE[PAGE.index("## In a checkout of agents-js") :]
SNIPPETS = [block.text for block in blocks(SECTION) if block.language == "typescript"]
SPDX = "// SPDX-FileCopyrightText: 2026 LiveKit, Inc.\n//\n// SPDX-License-Identifier: Apache-2.0\n"
GENERATED = "'../session_protocol/index.js'"
EDITED = ("src/proto.ts", "src/voice/remote_session.ts", "src/voice/session_requests.ts")


def example(name: str) -> str:
    text = (AGENTS_JS / "src" / name).read_text(encoding="utf-8")
    return text.replace("'./session_protocol/index.js'", GENERATED)


def replaced(text: str, *pairs: tuple[str, str]) -> str:
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def body(name: str, start: str) -> str:
    """Returns the code of a module of the example from a declaration on, without the SDK's bases."""
    text = example(name)
    return text[text.index(start) :].replace("override ", "").replace("voice.", "")


def statements(text: str, *names: str) -> str:
    """Returns the import statements of a module that import from one of some modules."""
    found = re.findall(r"^import (?:type )?[^;]*?from '[^']+';\n", text, re.M)
    return "".join(item for item in found if any(name in item for name in names))


def requests() -> str:
    text = replaced(example("session_requests.ts"), ("voice.AgentSession", "AgentSession"))
    text = text.replace("llm.", "")
    return SPDX + text.replace(statements(text, "'@livekit/agents'"), SNIPPETS[1])


def remote_session(before: str) -> str:
    """Returns the module with both classes, and the imports that it needs."""
    banner = "// " + "=" * 75 + "\n"
    head, _, tail = before.partition(f"{banner}// Enum maps\n")
    host = body("session_host.ts", "export class SessionHost")
    host = replaced(
        host[: host.index("/** Gives a session")],
        (" extends SessionHost", ""),
        ("    super(transport, audioInput, audioOutput);\n", ""),
    )
    driver = body("remote_session.ts", "const TIMEOUT_MS")
    pending, _, driver = driver.partition("/** The SDK's driver")
    kept = tail[tail.index("/** Error returned by") :]
    error, _, old = kept.partition("/** @experimental */\nexport class RemoteSession ")
    parameter = old[old.index("  async finalizeSimulation({") :]
    parameter = parameter[parameter.index("  }: {") : parameter.index("  }):") + len("  })")]
    room = old[old.index("  static fromRoom") : old.index("  async start()")]
    driver = re.sub(r"  \}: Parameters<[^>]*>\[0\]\)", lambda _: parameter, driver)
    driver = replaced(
        driver[driver.index("  readonly #transport") :],
        ("super(transport)", "super()"),
        ("emitEvent(this as AgentSessionEventEmitter, event)", "emitEvent(this, event)"),
        ("  async start()", f"{room}  async start()"),
    )
    types = head[head.index("/** @experimental */\nexport type RemoteSessionEventTypes") :]
    types = types[: types.index(banner)]
    head = head.replace(types, f"{SNIPPETS[2]}\n")
    extends = old[: old.index("{") + 1]
    used = (
        f"{head}{host}{pending}{error}/** @experimental */\nexport class RemoteSession {extends}\n"
    )
    return imported(used + driver)


def imported(text: str) -> str:
    """Returns a module with the generated names that it uses, without imports that it does not."""
    code = re.sub(r"^import [^;]*;\n", "", text, flags=re.M)
    declaration = re.compile(
        r"^export (?:async )?(class|const|function|interface|type) (\w+)", re.M
    )
    exported = {
        name: f"type {name}" if kind in {"interface", "type"} else name
        for path in (AGENTS_JS / "src" / "session_protocol").glob("*.ts")
        for kind, name in declaration.findall(path.read_text(encoding="utf-8"))
    }
    needed = [exported[name] for name in sorted(exported.keys() & set(re.findall(r"\w+", code)))]
    lines = []
    for item in re.findall(r"^import [^;]*;\n", text, re.M):
        listed = re.search(r"\{([^}]*)\}", item)
        names = [name.strip() for name in listed[1].split(",") if name.strip()] if listed else []
        kept = [name for name in names if re.search(rf"\b{name.split()[-1]}\b", code)]
        if listed is None or kept:
            lines.append(item.replace(listed[0], f"{{ {', '.join(kept)} }}") if listed else item)
    own = [
        f"import {{ {', '.join(needed)} }} from {GENERATED};\n",
        "import { SessionRequests } from './session_requests.js';\n",
    ]
    return SPDX + "".join([*lines, *own]) + code.removeprefix(SPDX)


def adopt(folder: Path) -> None:
    """Edits the sources of agents-js as the page says."""
    proto, session, handler = (folder / name for name in EDITED)
    proto.write_text(SPDX + SNIPPETS[0], encoding="utf-8")
    session.write_text(remote_session(session.read_text(encoding="utf-8")), encoding="utf-8")
    handler.write_text(requests(), encoding="utf-8")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources of the published package, with the settings of agents-js."""
    if reason := node_is_missing(TYPESCRIPT_FOLDER):
        pytest.skip(reason)
    folder = settings(tmp_path_factory.mktemp("checkout"))
    published = TYPESCRIPT_FOLDER / "node_modules" / "@livekit" / "agents"
    shutil.copytree(published / "src", folder / "src")
    shutil.copy(published / "package.json", folder / "package.json")
    config = json.loads((folder / "tsconfig.json").read_text(encoding="utf-8"))
    config["compilerOptions"] |= {"declaration": True, "noUnusedLocals": False}
    config["compilerOptions"] |= {"esModuleInterop": True, "noUnusedParameters": False}
    config["include"] = [*EDITED, "src/session_protocol/*.ts"]
    (folder / "tsconfig.json").write_text(json.dumps(config), encoding="utf-8")
    run_steps(folder)
    return folder


def run_steps(folder: Path) -> None:
    for block in blocks(SECTION):
        for command, printed in block.runs() if block.language == "console" else ():
            program, *arguments = shlex.split(command)
            if program == "sessiongen":
                outcome = invoke(folder, *arguments)
                # The preset has the facts of this package already.
                same = outcome.output.startswith(("nothing changed", "unchanged "))
                assert outcome.status == 0, outcome.all
                assert same or matches(printed, outcome.all), outcome.all


def test_the_adopted_modules_compile(checkout: Path) -> None:
    adopt(checkout)
    for name in EDITED:
        assert run_tool(checkout, "prettier", "--write", name)[0] == 0
    _, output = run_tool(checkout, "tsc", "--noEmit", "--project", ".")
    errors = [line for line in output.splitlines() if line.startswith("src/")]
    own = ("src/session_protocol/", *EDITED)
    assert [line for line in errors if line.startswith(own)] == []
    assert unformatted(checkout, *EDITED, "src/session_protocol/*.ts") == []


def test_the_adopted_modules_are_read(checkout: Path) -> None:
    """The vocabulary has the host and the driver, and the same modules are generated from it."""
    folder = checkout / "src" / "session_protocol"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    outcome = invoke(checkout, "vocabulary", "update", "--js-path", ".")
    assert outcome.status == 0, outcome.all
    read = vocabulary.load(checkout / "vocabularies" / "agents-js.json")
    assert read.host is not None and read.driver is not None and read.generated is not None
    assert len(read.host.answers) == 10 and len(read.host.forwards) >= 12
    sent = {item.arm: item.method for item in read.driver.sends}
    assert len(sent) == 8 and sent["run_input"] == "sendMessage"
    assert {item.arm for item in read.envelope_uses} >= {"request", "response", "event"}
    assert invoke(checkout, "generate", "--quiet", "--no-cache").status == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_page_counts_the_lines_that_are_left(checkout: Path) -> None:
    """The page counts them in a checkout whose proto.ts lacks a function."""
    [block] = [item for item in blocks(SECTION) if "--numstat" in item.text]
    rows = {
        Path(path).name: (int(added), int(deleted))
        for added, deleted, path in re.findall(r"^(\d+)\t(\d+)\t(\S+)$", block.text, re.M)
    }
    published = TYPESCRIPT_FOLDER / "node_modules" / "@livekit" / "agents" / "src"
    name = EDITED[1]
    command = ["git", "diff", "--no-index", "--numstat", "--no-renames"]
    old = published / Path(name).relative_to("src")
    done = subprocess.run(
        [*command, str(old), str(checkout / name)], capture_output=True, text=True
    )
    assert tuple(map(int, done.stdout.split()[:2])) == rows["remote_session.ts"]
    handler = (checkout / EDITED[2]).read_text(encoding="utf-8")
    assert (handler.count("\n"), 0) == rows["session_requests.ts"]
    overrides = (ROOT / "overrides" / "agent_session.ts").read_text(encoding="utf-8")
    assert (overrides.count("\n"), 0) == rows["agent_session.ts"]
