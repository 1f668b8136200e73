"""Tests of the arrangement of imports: as isort does, and without unused names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from sessiongen.targets.python.imports import arranged

MODULE = '''"""Docs that name Callable."""

from __future__ import annotations

import json
import a2z
from .values import build, Arm, GRACE, arm10, arm9
from livekit.protocol import agent
import asyncio
from .values import Arm, to_text
from collections.abc import Callable, Mapping
from . import x_pb2 as pb
from google.protobuf.message import Message
from a10 import b
from a9 import b as c

VALUES = (asyncio, a2z, build, Arm, GRACE, arm10, arm9, agent, to_text, Mapping, pb, Message, b, c)
'''
SORTED = '''"""Docs that name Callable."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import a2z
from a9 import b as c
from a10 import b
from google.protobuf.message import Message

from livekit.protocol import agent

from . import x_pb2 as pb
from .values import GRACE, Arm, arm9, arm10, build, to_text

VALUES = (asyncio, a2z, build, Arm, GRACE, arm10, arm9, agent, to_text, Mapping, pb, Message, b, c)
'''


def test_sections_order_and_unused_names() -> None:
    assert arranged(MODULE, ("livekit",)) == SORTED
    assert arranged(SORTED, ("livekit",)) == SORTED


def test_packages_of_other_projects_are_one_section() -> None:
    text = arranged(MODULE)
    assert (
        "from google.protobuf.message import Message\nfrom livekit.protocol import agent\n" in text
    )


def test_blank_lines_after_the_imports() -> None:
    start = "from __future__ import annotations\n\nfrom .a import unused\n\n\n"
    for code, blank in [("class A: ...\n", 2), ("@b\nclass A: ...\n", 2), ("A = 1\n", 1)]:
        text = arranged(f'"""Docs."""\n\n{start}{code}')
        expected = f"from __future__ import annotations\n{blank * chr(10)}{code}"
        assert text == f'"""Docs."""\n\n{expected}'


NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,4}", fullmatch=True).filter(
    lambda name: name.isidentifier() and name not in {"as", "if", "in", "is", "or", "not", "and"}
)


def test_ruff_agrees_with_the_order(tmp_path: Path) -> None:
    modules: list[str] = []

    @given(st.lists(st.tuples(NAMES, st.booleans(), NAMES), min_size=1, max_size=12))
    def write(imports: list[tuple[str, bool, str]]) -> None:
        lines = []
        for module, local, name in imports:
            lines.append(f"from {'.' if local else 'lib_'}{module} import {name}")
        used = ", ".join(dict.fromkeys(name for _, _, name in imports))
        start = "from __future__ import annotations\n\n"
        rest = "\n".join(lines) + f"\n\nprint({used})\n"
        modules.append(arranged(f'"""Docs."""\n\n{start}{rest}'))

    write()
    for index, text in enumerate(modules):
        (tmp_path / f"m{index}.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--isolated", "--quiet", "--select", "I"]
    options = ["--config", "lint.isort.combine-as-imports = true", "--line-length", "320"]
    done = subprocess.run([*command, *options, "."], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "" and len(modules) > 50
