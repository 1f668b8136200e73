"""Formats generated Python with black, in subprocesses.

Texts that were formatted before come from the cache. The others are divided among subprocesses,
which load black while this process still compiles the protocol. Run as a module, this is such a
subprocess: it reads texts as JSON and writes the formatted texts as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from sessiongen.output import subprocesses

from sessiongen.targets.python import chunks
from sessiongen.targets.python.layout import LINE_LENGTH, short

_MOST_WORKERS = 4
_COLLECT_LINES = 1500


class Formatter:
    """Formats texts in child processes, which end with the `with` block.

    cache: a file of texts formatted before, or None.
    salt: what besides the text the result depends on, black's version above all.
    """

    def __init__(self, cache: Path | None, salt: str) -> None:
        self._cache = cache
        self._salt = salt
        self._children: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Formatter:
        command = subprocesses.module("sessiongen.targets.python.formatting")
        for _ in range(min(os.cpu_count() or 1, _MOST_WORKERS)):
            pipe = subprocess.PIPE
            child = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
            self._children.append(child)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for child in self._children:
            child.kill()
            for pipe in (child.stdin, child.stdout, child.stderr):
                if pipe is not None:
                    pipe.close()
            child.wait()

    def format(self, texts: Sequence[str], laid_out: Sequence[bool]) -> list[str]:
        """Return each text as black formats it.

        laid_out: whether a text is as black leaves it, but for its imports and what has a
            long line.

        Raises:
            RuntimeError: black refuses a text, which is a fault of the generator.
        """
        cut = [
            chunks.cut(text, 1 if settled else chunks.LIMIT)
            for text, settled in zip(texts, laid_out, strict=True)
        ]
        sources = list(
            dict.fromkeys(
                piece.source
                for parts, settled in zip(cut, laid_out, strict=True)
                for index, piece in enumerate(parts)
                if not (settled and index and short(piece.source))
            )
        )
        known = _load(self._cache, self._salt)
        done = {source: known[_key(source)] for source in sources if _key(source) in known}
        missing = [source for source in sources if source not in done]
        done.update(zip(missing, self._shared(missing), strict=True))
        _store(self._cache, self._salt, {_key(source): done[source] for source in sources})
        return [
            chunks.join(parts, [done.get(piece.source, piece.source) for piece in parts])
            for parts in cut
        ]

    def _shared(self, texts: list[str]) -> list[str]:
        """Format texts in the children, each with a like share of characters."""
        shares: list[list[int]] = [[] for _ in self._children]
        loads = [0] * len(shares)
        for index in sorted(range(len(texts)), key=lambda i: -len(texts[i])):
            least = loads.index(min(loads))
            shares[least].append(index)
            loads[least] += len(texts[index])
        for child, share in zip(self._children, shares, strict=True):
            assert child.stdin is not None
            child.stdin.write(json.dumps([texts[index] for index in share]).encode())
            child.stdin.close()
        done: dict[int, str] = {}
        for child, share in zip(self._children, shares, strict=True):
            done.update(zip(share, _collect(child), strict=True))
        return [done[index] for index in range(len(texts))]


def _collect(child: subprocess.Popen[bytes]) -> list[str]:
    assert child.stdout is not None and child.stderr is not None
    output, said = child.stdout.read(), child.stderr.read()
    if child.wait() != 0:
        raise RuntimeError(f"black refused generated code: {said.decode(errors='replace')[-2000:]}")
    result: list[str] = json.loads(output)
    return result


def format_text(text: str) -> str:
    """Return a text as black formats it, for Python 3.10 and newer."""
    import black
    from black.mode import TargetVersion

    mode = black.Mode(line_length=LINE_LENGTH, target_versions={TargetVersion.PY310})
    return black.format_str(text, mode=mode)


def _key(source: str) -> str:
    return hashlib.sha256(source.encode()).hexdigest()


def _load(cache: Path | None, salt: str) -> dict[str, str]:
    """Return the texts formatted before; none if the file is torn or was edited."""
    if cache is None:
        return {}
    try:
        digest, _, data = cache.read_bytes().partition(b"\n")
        if digest.decode() != _seal(data, salt):
            return {}
        known: dict[str, str] = json.loads(data)
    except (OSError, ValueError):
        return {}
    return known


def _store(cache: Path | None, salt: str, texts: dict[str, str]) -> None:
    """Keep this run's texts and drop all others, so that the cache stays small.

    Texts that cannot be kept cost the next run time and nothing else.
    """
    if cache is None:
        return
    data = json.dumps(texts).encode()
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_bytes(f"{_seal(data, salt)}\n".encode() + data)
    except OSError:
        pass


def _seal(data: bytes, salt: str) -> str:
    return hashlib.sha256(f"{salt}\0{LINE_LENGTH}\0".encode() + data).hexdigest()


def _child() -> None:
    import gc

    format_text("")
    texts: list[str] = json.loads(sys.stdin.buffer.read() or b"[]")
    # black's trees live for one text each: collecting while they grow costs a tenth of
    # the time, never collecting keeps them all.
    gc.disable()
    done, lines = [], 0
    for text in texts:
        done.append(format_text(text))
        lines += text.count("\n")
        if lines > _COLLECT_LINES:
            gc.collect()
            lines = 0
    sys.stdout.buffer.write(json.dumps(done).encode())


if __name__ == "__main__":
    _child()
