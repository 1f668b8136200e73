"""The cache: whether a run would find anything to do.

In: a Config. Out: a state of all inputs and outputs; where it equals the state that the
last run kept, the run is over before protoc or black are loaded. Lives beside
codegen.toml, is ignored by git, and may be deleted at any time.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from sessiongen import resources, tools
from sessiongen.config import Config
from sessiongen.outputs import MANIFEST, load_manifest

FOLDER = ".sessiongen-cache"


class Cache:
    """The state of the last run that succeeded, and a store of formatted texts."""

    def __init__(self, config: Config, versions: dict[str, str]) -> None:
        self._config = config
        self._folder = config.root / FOLDER
        # Several configurations may lie in one folder.
        key = hashlib.sha256(config.path.name.encode()).hexdigest()[:16]
        self._state = self._folder / f"state-{key}.json"
        self.texts = self._folder / f"formatted-{key}"
        self._fixed = {
            "versions": versions,
            "generator": tools.generator_digest(),
            "input": repr(config.input),
            "config": hashlib.sha256(config.text.encode()).hexdigest(),
        }

    def fresh(self) -> list[str] | None:
        """Return the generated files' names if neither inputs nor outputs have changed."""
        if self._config.input.messages is not None:
            # An installed module has no files that could be named before it is imported.
            return None
        try:
            kept = json.loads(self._state.read_bytes())
            names = [str(name) for name in kept["inputs"]]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        current = self._current(names)
        return sorted(current["outputs"]) if current == kept else None

    def keep(self, inputs: list[str]) -> None:
        """Remember the present state; `inputs` are import names or the descriptor set.

        A state that cannot be kept costs the next run time and nothing else.
        """
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            (self._folder / ".gitignore").write_text("*\n", encoding="utf-8")
            state = json.dumps(self._current(inputs), indent=1)
            self._state.write_text(state, encoding="utf-8")
        except OSError:
            pass

    def _current(self, names: list[str]) -> dict[str, Any]:
        folder = self._config.package_dir
        manifest = load_manifest(folder)
        outputs = {MANIFEST, *(manifest.files if manifest else {})}
        return {
            **self._fixed,
            "inputs": {name: self._input(name) for name in sorted(names)},
            "outputs": {name: _digest(folder / name) for name in sorted(outputs)},
        }

    def _input(self, name: str) -> list[str]:
        """Return which file an import name finds, and its digest.

        The place counts too: a new file on an earlier include path hides the old one.
        """
        if self._config.input.descriptor_set is not None:
            return [name, _digest(self._config.input.descriptor_set)]
        for folder in (*self._config.input.include, resources.include_dir()):
            if (folder / name).is_file():
                return [str(folder), _digest(folder / name)]
        return ["", ""]


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""
