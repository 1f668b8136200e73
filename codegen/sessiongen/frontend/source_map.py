"""Maps the positions that protoc reports to positions in source files.

protoc counts lines and columns from 0, columns in bytes, and moves a tab to the next multiple
of eight. A Span counts from 1, columns in characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sessiongen.diagnostics import Span
from sessiongen.paths import display

_TAB_WIDTH = 8
_BOM = b"\xef\xbb\xbf"


@dataclass
class SourceMap:
    """Finds the file behind an import name on the include paths and reads its lines.

    origin: the file to name in a diagnostic if a descriptor has no source file.
    aliases: the import name of the file that has the source of a descriptor, where they differ.
    """

    include: tuple[Path, ...]
    origin: Path | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    _cache: dict[str, tuple[str, list[bytes]] | None] = field(default_factory=dict)

    def locate(self, name: str) -> Path | None:
        """Returns the first file of this import name on the include paths."""
        for folder in self.include:
            path = folder / self.aliases.get(name, name)
            if path.is_file():
                return path
        return None

    def span(self, name: str, line: int = 0, column: int = 0) -> Span:
        """Returns the position for a zero-based line and column of protoc."""
        # Each file is read once: every element has a span, and files have thousands of elements.
        if name not in self._cache:
            self._cache[name] = self._read_file(name)
        known = self._cache[name]
        if known is None:
            shown = f"{display(self.origin)}#{name}" if self.origin else name
            return Span(shown, line + 1, column + 1)
        shown, lines = known
        text = lines[line] if line < len(lines) else b""
        return Span(shown, line + 1, characters(text, column) + 1)

    def _read_file(self, name: str) -> tuple[str, list[bytes]] | None:
        """Returns the shown path and the lines of a file."""
        path = self.locate(name)
        if path is None:
            return None
        try:
            data = path.read_bytes()
        except OSError:
            data = b""
        return display(path), data.split(b"\n")


def characters(line: bytes, column: int) -> int:
    """Returns how many characters of a line precede protoc's zero-based column."""
    position = 0
    end = 0
    for byte in line:
        if position >= column:
            break
        position += _TAB_WIDTH - position % _TAB_WIDTH if byte == 9 else 1
        end += 1
    return len(line[:end].removeprefix(_BOM).decode("utf-8", errors="replace"))
