"""Reports folders of earlier runs that are no longer outputs.

Nothing in a codegen.toml says that an output was removed or renamed. A file in the cache lists
the folders that were generated with it; a folder leaves the list when its manifest is gone.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span
from sessiongen.output.cache import FOLDER, key_of
from sessiongen.output.writer import MANIFEST
from sessiongen.paths import display


def former_outputs(config: Config) -> list[Diagnostic]:
    """Returns a warning for each folder of an earlier run that is no longer an output."""
    return [
        Diagnostic(
            Span(display(config.root / name)),
            Rule.EXTRA_OUTPUT,
            f"no output of {config.path.name} generates this folder any more; it was not removed",
            f"remove it, or, if another configuration generates it, remove {FOLDER}",
            Severity.WARNING,
        )
        for name in _former(config)
    ]


def remember_outputs(config: Config) -> None:
    """Adds the output folders to the list; errors are ignored, as it is only a help."""
    names = sorted({*_names(config), *_former(config)})
    try:
        _file(config).write_text(json.dumps(names), encoding="utf-8")
    except OSError:
        pass


def _former(config: Config) -> list[str]:
    try:
        names = [str(name) for name in json.loads(_file(config).read_bytes())]
    except (OSError, ValueError, TypeError, RecursionError):
        return []
    current = _names(config)
    return [
        name for name in names if name not in current and (config.root / name / MANIFEST).is_file()
    ]


def _names(config: Config) -> set[str]:
    """Returns the output folders as they are listed."""
    return {_name(output.folder, config.root) for output in config.outputs}


def _name(folder: Path, root: Path) -> str:
    try:
        return Path(os.path.relpath(folder, root)).as_posix()
    except ValueError:  # on Windows, another drive
        return folder.as_posix()


def _file(config: Config) -> Path:
    return config.root / FOLDER / f"outputs-{key_of(config.path.name)}.json"
