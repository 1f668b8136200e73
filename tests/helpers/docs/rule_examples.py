"""The examples of docs/rules.md: the files they start from, their edits and their commands.

`python tests/helpers/docs/rule_examples.py` runs every example and writes the outputs into the
page.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

from pages import ROOT, Block, blocks
from sessiongen_command import invoke

from sessiongen.vocabulary import commands
from sessiongen.vocabulary.fetch import fetch as fetch_published
from sessiongen.vocabulary.package import Package, open_package
from sessiongen.vocabulary.scope import Scope

PAGE = ROOT / "docs" / "rules.md"
_HEAD = re.compile(r"^### (SG\d+): (\w+)$", re.M)
_LINES = 6


@dataclass(frozen=True)
class Example:
    """One rule of the page: its id and name, the files it starts from, and its blocks."""

    rule: str
    name: str
    files: dict[str, str]
    steps: list[Block]
    text: str

    def outputs(self, folder: Path) -> list[tuple[str, str, str]]:
        """Runs the example; returns each command, the printed output, and the actual one."""
        for path, text in self.files.items():
            _write(folder / path, text)
        results = []
        with _published(folder):
            for block in self.steps:
                if block.language == "diff":
                    _edit(folder, block.text)
                for command, printed in block.runs():
                    results.append((command, printed, _run(folder, command)))
        return results


def examples() -> list[Example]:
    """Returns the examples of the page in its order."""
    text = PAGE.read_text(encoding="utf-8")
    parts = _HEAD.split(text)
    files = _files(parts[0])
    result = []
    for rule, name, body in zip(parts[1::3], parts[2::3], parts[3::3]):
        own, _, following = body.partition("\n## ")
        steps = [block for block in blocks(own) if block.language in ("diff", "console")]
        result.append(Example(rule, name, dict(files), steps, own))
        files.update(_files(following))
    return result


def _files(text: str) -> dict[str, str]:
    named = [block for block in blocks(text) if block.info.startswith("file=")]
    return {block.info.removeprefix("file="): block.text for block in named}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _edit(folder: Path, diff: str) -> None:
    """Replaces the lines marked `-` by those marked `+`; without the former, appends them."""
    head, _, body = diff.partition("\n")
    path = folder / head.removeprefix("--- ")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    for hunk in body.split("@@\n"):
        lines = hunk.splitlines()
        old, new = ("\n".join(line[1:] for line in lines if line.startswith(sign)) for sign in "-+")
        assert not old or text.count(old) == 1, (path, old)
        text = text.replace(old, new) if old else f"{text}{new}\n"
    _write(path, text)


def _run(folder: Path, command: str) -> str:
    program, *arguments = shlex.split(command)
    if program == "sessiongen":
        return invoke(folder, *arguments).all
    done = subprocess.run(command, shell=True, cwd=folder, capture_output=True, text=True)
    return done.stdout + done.stderr


@contextmanager
def _published(folder: Path) -> Iterator[None]:
    """Stands in for the registry: version 1.1 of the small SDK, from its folder."""

    def fetch(scope: Scope, version: str) -> Package:
        version_file = folder / "sdk" / "acme" / "version.py"
        version_file.write_text(f'__version__ = "{version}"\n', encoding="utf-8")
        return open_package(folder / "sdk", scope)

    def fetched(scope: Scope, version: str) -> Package:
        return fetch(scope, version) if version == "1.1" else fetch_published(scope, version)

    with (
        patch.object(commands, "newest", lambda _: "1.1"),
        patch.object(commands, "fetch", fetched),
    ):
        yield


def main() -> None:
    """Writes the outputs of all examples into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for example in examples():
        with tempfile.TemporaryDirectory() as folder:
            new = example.text
            for command, printed, output in example.outputs(Path(folder)):
                lines = output.rstrip().splitlines()
                rule = [n for n, line in enumerate(lines) if f"{example.rule}" in line]
                start = rule[0] if rule and len(lines) > _LINES else 0
                shown = lines[start : start + 2] if len(lines) > _LINES else lines
                if len(lines) > _LINES:
                    after = ["…"] if start + 2 < len(lines) else []
                    shown = [*(["…"] if start else []), *shown, *after]
                fresh = "".join(f"{line}\n" for line in shown)
                new = new.replace(f"$ {command}\n{printed}", f"$ {command}\n{fresh}")
            text = text.replace(example.text, new)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
