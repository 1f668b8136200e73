"""Formatting: a module cut into pieces comes out as black formats the whole.

In: generated modules and hand-made ones. Out: equality with black over the whole text,
and a cache that gives nothing but what black gave.
"""

from __future__ import annotations

import os
from pathlib import Path

import black
import pytest
from black.mode import TargetVersion
from hypothesis import given
from hypothesis import strategies as st

from sessiongen.targets.python import formatting

from sessiongen.targets.python import chunks
from sessiongen.targets.python.formatting import Formatter, format_text
from sessiongen.targets.python.layout import LINE_LENGTH

ROOT = Path(__file__).resolve().parents[4]
TYPED = sorted(
    path
    for path in (ROOT / "generated" / "python" / "agent_session_protocol").glob("*.py")
    if not path.name.endswith("_pb2.py")
)


def whole(text: str) -> str:
    mode = black.Mode(line_length=LINE_LENGTH, target_versions={TargetVersion.PY310})
    return black.format_str(text, mode=mode)


@pytest.mark.parametrize("path", TYPED, ids=lambda path: path.name)
def test_generated_modules_are_formatted(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert whole(text) == text


@pytest.mark.parametrize("path", TYPED, ids=lambda path: path.name)
@pytest.mark.parametrize("limit", [1, 20, 300])
def test_pieces_format_like_the_whole(
    path: Path, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunks, "LIMIT", limit)
    text = path.read_text(encoding="utf-8")
    cut = chunks.cut(text)
    assert chunks.join(cut, [format_text(piece.source) for piece in cut]) == text


@given(
    classes=st.lists(st.integers(0, 8), min_size=1, max_size=5),
    limit=st.integers(1, 40),
    decorated=st.booleans(),
)
def test_any_classes(classes: list[int], limit: int, decorated: bool) -> None:
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
        assert chunks.join(cut, [format_text(piece.source) for piece in cut]) == whole(text)


def test_the_cache_gives_what_black_gave(tmp_path: Path) -> None:
    cache = tmp_path / "cache.json"
    texts = ["x = {  'a':1}\n", "def f( ):\n  pass\n"]
    wanted = ['x = {"a": 1}\n', "def f():\n    pass\n"]
    for _ in range(2):
        with Formatter(cache, "1") as formatter:
            assert formatter.format(texts, [False, False]) == wanted
    torn = cache.read_bytes().replace(b"pass", b"evil")
    for data in (torn, torn[:20], b"", b"\xff"):
        cache.write_bytes(data)
        with Formatter(cache, "1") as formatter:
            assert formatter.format(texts, [False, False]) == wanted


def test_texts_come_back_in_order_from_any_number_of_children(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    texts = [f"x{index}=[{'1,' * (index * 7 % 5)}]\n" for index in range(11)]
    for most in (1, 2, 4):
        monkeypatch.setattr(formatting, "_MOST_WORKERS", most)
        with Formatter(None, "1") as formatter:
            assert len(formatter._children) == most
            assert formatter.format(texts, [False] * 11) == [whole(text) for text in texts]


def test_another_black_does_not_use_the_cache(tmp_path: Path) -> None:
    cache = tmp_path / "cache.json"
    with Formatter(cache, "1") as formatter:
        formatter.format(["x=1\n"], [False])
    before = cache.read_bytes()
    with Formatter(cache, "2") as formatter:
        assert formatter.format(["x=1\n"], [False]) == ["x = 1\n"]
    assert cache.read_bytes() != before


def test_of_a_text_that_is_laid_out_black_sees_the_imports_and_the_long_lines() -> None:
    short = "def f():\n    return {'a':1}\n"
    long = f"def g():\n    return [{', '.join(['100'] * 30)}]\n"
    text = f"import os,sys\n\n\n{short}\n\n{long}"
    with Formatter(None, "1") as formatter:
        [found] = formatter.format([text], [True])
    assert found == f"{whole('import os,sys')}\n\n{short}\n\n{whole(long)}"
    with Formatter(None, "1") as formatter:
        assert formatter.format([text], [False]) == [whole(text)]
