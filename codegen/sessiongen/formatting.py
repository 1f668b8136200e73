"""Formatting: black over generated Python, as little of it as possible.

In: source texts. Out: the same, formatted. A text that was formatted before comes from
the cache; the others are shared out to child processes where that saves time.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

LINE_LENGTH = 100
# Below this many lines a second process costs more than it saves.
_WORTH_SHARING = 400


def format_all(texts: Sequence[str], cache: Path | None, salt: str) -> list[str]:
    """Return each text as black formats it.

    cache: a folder of texts formatted before, or None.
    salt: what besides the text the result depends on, black's version above all.
    """
    found = [_cached(text, cache, salt) for text in texts]
    missing = [index for index, text in enumerate(found) if text is None]
    for index, result in zip(missing, _format([texts[i] for i in missing]), strict=True):
        found[index] = result
    results = [text for text in found if text is not None]
    if cache is not None:
        _store(texts, results, cache, salt)
    return results


def _format(texts: list[str]) -> list[str]:
    lines = sum(text.count("\n") for text in texts)
    workers = min(os.cpu_count() or 1, len(texts), 4)
    if workers < 2 or lines < _WORTH_SHARING:
        return [format_text(text) for text in texts]
    # The longest first, so that the workers end together.
    order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
    with ProcessPoolExecutor(workers) as pool:
        done = dict(zip(order, pool.map(format_text, [texts[i] for i in order]), strict=True))
    return [done[index] for index in range(len(texts))]


def format_text(text: str) -> str:
    """Return a text as black formats it, for Python 3.10 and newer."""
    import black
    from black.mode import TargetVersion

    mode = black.Mode(line_length=LINE_LENGTH, target_versions={TargetVersion.PY310})
    return black.format_str(text, mode=mode)


def _key(text: str, salt: str) -> str:
    return hashlib.sha256(f"{salt}\0{LINE_LENGTH}\0{text}".encode()).hexdigest()


def _cached(text: str, cache: Path | None, salt: str) -> str | None:
    if cache is None:
        return None
    try:
        digest, _, result = (cache / _key(text, salt)).read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    # A torn or edited entry must not reach the output.
    return result if digest == hashlib.sha256(result.encode()).hexdigest() else None


def _store(texts: Sequence[str], results: Sequence[str], cache: Path, salt: str) -> None:
    """Keep this run's texts and drop all others, so that the cache stays small."""
    wanted = {_key(text, salt): result for text, result in zip(texts, results, strict=True)}
    cache.mkdir(parents=True, exist_ok=True)
    for old in cache.iterdir():
        if old.name not in wanted:
            old.unlink(missing_ok=True)
    for name, result in wanted.items():
        path = cache / name
        if not path.exists():
            digest = hashlib.sha256(result.encode()).hexdigest()
            path.write_text(f"{digest}\n{result}", encoding="utf-8", newline="\n")
