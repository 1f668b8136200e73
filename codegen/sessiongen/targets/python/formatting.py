"""Formats generated Python as black does, and runs black only if necessary.

Most modules do not need black: templates write the form of black, and `line_breaks` breaks long
lines. A definition with a long line of an unknown shape is passed to black, in
subprocesses. Run as a module, this is such a subprocess: it reads texts as JSON and writes the
formatted texts as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from sessiongen import subprocesses
from sessiongen.targets.python import chunks, line_breaks

_MAX_WORKERS = 4
# The characters that black formats in about twice the time in which it is loaded.
_CHARACTERS_PER_WORKER = 32_000
_COLLECT_LINES = 1500


class Formatter:
    """Formats texts. Subprocesses that still run end with the `with` block.

    cache: a file of texts that black formatted before, or None.
    salt: the version of black, as a cached result depends on it.
    """

    def __init__(self, cache: Path | None, salt: str) -> None:
        self._cache = cache
        self._salt = salt
        self._workers: list[subprocess.Popen[bytes]] = []
        # The texts of the cache, and those that this run formatted or took from it.
        self._known: dict[str, str] = {}
        self._used: dict[str, str] = {}

    def __enter__(self) -> Formatter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._end_workers()

    def _end_workers(self) -> None:
        for worker in self._workers:
            worker.kill()
            for pipe in (worker.stdin, worker.stdout, worker.stderr):
                if pipe is not None:
                    pipe.close()
            worker.wait()
        self._workers.clear()

    def format(self, texts: Sequence[str], length: int) -> list[str]:
        """Returns each module as black formats it; only its long lines differ from that.

        length: the line length.

        Raises:
            RuntimeError: black rejects a text, which is a bug of the generator.
        """
        modules = [chunks.cut(text) for text in texts]
        sources = dict.fromkeys(chunk.source for module in modules for chunk in module)
        broken = {source: line_breaks.broken(source, length) for source in sources}
        for_black = [source for source, text in broken.items() if text is None]
        if not self._known:
            self._known = _load(self._cache, self._salt)
        keys = {source: _key(source, length) for source in for_black}
        done = {source: self._known[key] for source, key in keys.items() if key in self._known}
        missing = [source for source in for_black if source not in done]
        done.update(zip(missing, self._run_black(missing, length), strict=True))
        self._used.update((keys[source], text) for source, text in done.items())
        _store(self._cache, self._salt, self._used)
        done.update((source, text) for source, text in broken.items() if text is not None)
        return [chunks.join(module, [done[chunk.source] for chunk in module]) for module in modules]

    def _run_black(self, texts: list[str], length: int) -> list[str]:
        """Formats texts in subprocesses, with about the same number of characters in each."""
        if not texts:
            return []
        self._start_workers(sum(map(len, texts)))
        shares: list[list[int]] = [[] for _ in self._workers]
        loads = [0] * len(shares)
        for index in sorted(range(len(texts)), key=lambda i: -len(texts[i])):
            least = loads.index(min(loads))
            shares[least].append(index)
            loads[least] += len(texts[index])
        for worker, share in zip(self._workers, shares, strict=True):
            assert worker.stdin is not None
            work = {"length": length, "texts": [texts[index] for index in share]}
            worker.stdin.write(json.dumps(work).encode())
            worker.stdin.close()
        done: dict[int, str] = {}
        for worker, share in zip(self._workers, shares, strict=True):
            done.update(zip(share, _collect(worker), strict=True))
        self._end_workers()
        return [done[index] for index in range(len(texts))]

    def _start_workers(self, characters: int) -> None:
        """Starts subprocesses: at most one per core, and only as many as the work needs."""
        command = subprocesses.module("sessiongen.targets.python.formatting")
        pipe = subprocess.PIPE
        worth = 1 + characters // _CHARACTERS_PER_WORKER
        for _ in range(min(os.cpu_count() or 1, _MAX_WORKERS, worth)):
            worker = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
            )
            self._workers.append(worker)


def _collect(worker: subprocess.Popen[bytes]) -> list[str]:
    assert worker.stdout is not None and worker.stderr is not None
    output, errors = worker.stdout.read(), worker.stderr.read()
    if worker.wait() != 0:
        message = errors.decode(errors="replace")[-2000:]
        raise RuntimeError(f"black rejected generated code: {message}")
    result: list[str] = json.loads(output)
    return result


def format_text(text: str, length: int) -> str:
    """Returns a text as black formats it, for Python 3.10 and newer."""
    import black
    from black.mode import TargetVersion

    mode = black.Mode(line_length=length, target_versions={TargetVersion.PY310})
    return black.format_str(text, mode=mode)


def _key(source: str, length: int) -> str:
    return hashlib.sha256(f"{length}\0{source}".encode()).hexdigest()


def _load(cache: Path | None, salt: str) -> dict[str, str]:
    """Returns the cached texts; {} if the file is damaged or was edited."""
    if cache is None:
        return {}
    try:
        digest, _, data = cache.read_bytes().partition(b"\n")
        if digest.decode() != _checksum(data, salt):
            return {}
        known: dict[str, str] = json.loads(data)
    except (OSError, ValueError):
        return {}
    return known


def _store(cache: Path | None, salt: str, texts: Mapping[str, str]) -> None:
    """Stores the texts of this run and no others, so that the cache stays small.

    Errors are ignored, as the cache only saves time.
    """
    if cache is None:
        return
    data = json.dumps(texts).encode()
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        cache.write_bytes(f"{_checksum(data, salt)}\n".encode() + data)
    except OSError:
        pass


def _checksum(data: bytes, salt: str) -> str:
    return hashlib.sha256(f"{salt}\0".encode() + data).hexdigest()


def _run_worker() -> None:
    import gc

    # Loads black before there is work.
    format_text("", 1)
    work = json.loads(sys.stdin.buffer.read() or b'{"texts": []}')
    # The syntax trees of black are garbage after each text. Automatic collection takes a tenth
    # of the time, and without any collection all trees stay in memory.
    gc.disable()
    done, lines = [], 0
    for text in work["texts"]:
        done.append(format_text(text, work["length"]))
        lines += text.count("\n")
        if lines > _COLLECT_LINES:
            gc.collect()
            lines = 0
    sys.stdout.buffer.write(json.dumps(done).encode())


if __name__ == "__main__":
    _run_worker()
