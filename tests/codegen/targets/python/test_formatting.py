"""Tests that modules are formatted as black formats them, with as little of black as possible."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import black
import pytest
from black.mode import TargetVersion
from hypothesis import given
from hypothesis import strategies as st

from sessiongen.check import check
from sessiongen.config.reader import load
from sessiongen.targets.python import chunks, formatting
from sessiongen.targets.python.formatting import Formatter, format_text
from sessiongen.targets.python.layout import LINE_LENGTH

ROOT = Path(__file__).resolve().parents[4]
TYPED = sorted(
    path
    for path in (ROOT / "generated" / "python" / "agent_session_protocol").glob("*.py")
    if not path.name.endswith("_pb2.py")
)
# A definition that only black can break.
FOR_BLACK = f"def f():\n    return {' + '.join(['100'] * 30)}\n"


def black_formatted(text: str) -> str:
    mode = black.Mode(line_length=LINE_LENGTH, target_versions={TargetVersion.PY310})
    return black.format_str(text, mode=mode)


@pytest.mark.parametrize("path", TYPED, ids=lambda path: path.name)
def test_generated_modules_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert black_formatted(text) == text


@pytest.mark.parametrize("config", ["codegen.toml", "examples/robot/codegen.toml"])
def test_the_protocols_of_this_repository_need_no_black(
    config: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise a line of generated code has a shape that `line_breaks` should know."""
    passed: list[str] = []

    def run_black(formatter: Formatter, texts: list[str], length: int) -> list[str]:
        passed.extend(texts)
        return texts

    monkeypatch.setattr(Formatter, "_run_black", run_black)
    check(load(ROOT / config), use_cache=False)
    assert not passed


@pytest.mark.parametrize("path", TYPED, ids=lambda path: path.name)
@pytest.mark.parametrize("limit", [1, 20, 300])
def test_chunks_format_like_the_whole(
    path: Path, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "LIMIT", limit)
    text = path.read_text(encoding="utf-8")
    cut = chunks.cut(text)
    assert chunks.join(cut, [format_text(chunk.source, LINE_LENGTH) for chunk in cut]) == text


@given(
    classes=st.lists(st.integers(0, 8), min_size=1, max_size=5),
    limit=st.integers(1, 40),
    decorated=st.booleans(),
)
def test_random_classes(classes: list[int], limit: int, decorated: bool) -> None:
    text = '"""Docs."""\nimport os\n'
    for index, methods in enumerate(classes):
        text += "@final\n" * decorated + f'class C{index}:\n    """Docs."""\n    x: int = {index}\n'
        for number in range(methods):
            text += "    @abstractmethod\n" * decorated
            text += f"    def m{number}(self,a:int,*,b:str)->None:\n        return  None\n"
        text += f"TABLE_{index} = {{ 'a':1 }}\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "LIMIT", limit)
        cut = chunks.cut(text)
        assert chunks.join(
            cut, [format_text(chunk.source, LINE_LENGTH) for chunk in cut]
        ) == black_formatted(text)


def test_cache_has_the_output_of_black(tmp_path: Path) -> None:
    cache = tmp_path / "cache.json"
    for _ in range(2):
        with Formatter(cache, "1") as formatter:
            assert formatter.format([FOR_BLACK], LINE_LENGTH) == [black_formatted(FOR_BLACK)]
    torn = cache.read_bytes().replace(b"100", b"200")
    for data in (torn, torn[:20], b"", b"\xff"):
        cache.write_bytes(data)
        with Formatter(cache, "1") as formatter:
            assert formatter.format([FOR_BLACK], LINE_LENGTH) == [black_formatted(FOR_BLACK)]


def test_cache_of_another_version_is_not_used(tmp_path: Path) -> None:
    cache = tmp_path / "cache.json"
    with Formatter(cache, "1") as formatter:
        formatter.format([FOR_BLACK], LINE_LENGTH)
    before = cache.read_bytes()
    with Formatter(cache, "2") as formatter:
        assert formatter.format([FOR_BLACK], LINE_LENGTH) == [black_formatted(FOR_BLACK)]
    assert cache.read_bytes() != before


def test_texts_come_back_in_order_from_any_number_of_workers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(formatting, "_CHARACTERS_PER_WORKER", 100)
    texts = [FOR_BLACK.replace("100", str(number)) for number in range(1000, 1011)]
    started: list[object] = []
    start = subprocess.Popen

    def popen(*arguments: Any, **options: Any) -> object:
        started.append(arguments)
        return start(*arguments, **options)

    monkeypatch.setattr(subprocess, "Popen", popen)
    for most in (1, 2, 4):
        monkeypatch.setattr(formatting, "_MAX_WORKERS", most)
        started.clear()
        with Formatter(None, "1") as formatter:
            assert formatter.format(texts, LINE_LENGTH) == [black_formatted(text) for text in texts]
            assert len(started) == most


def test_formatter_of_several_outputs(tmp_path: Path) -> None:
    """Each output has a line length of its own, and the cache keeps the texts of all."""
    cache = tmp_path / "cache.json"
    for _ in range(2):
        with Formatter(cache, "1") as formatter:
            for length in (100, 60, 100):
                mode = black.Mode(line_length=length, target_versions={TargetVersion.PY310})
                expected = black.format_str(FOR_BLACK, mode=mode)
                assert formatter.format([FOR_BLACK], length) == [expected]
    with Formatter(cache, "1") as formatter, pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess, "Popen", None)
        assert formatter.format([FOR_BLACK], 100) == formatter.format([FOR_BLACK], 60)


def test_only_definitions_with_lines_of_unknown_shape_are_passed_to_black(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    untouched = "def g():\n    return {'a':1}\n"
    with Formatter(None, "1") as formatter:
        [text] = formatter.format([f"{untouched}\n\n{FOR_BLACK}"], LINE_LENGTH)
    assert text == f"{untouched}\n\n{black_formatted(FOR_BLACK)}"
    monkeypatch.setattr(subprocess, "Popen", None)
    with Formatter(None, "1") as formatter:
        assert formatter.format([untouched, ""], LINE_LENGTH) == [untouched, ""]
