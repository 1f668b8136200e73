"""Generates packages from .proto files or texts, and runs type checkers on code that uses them."""

from __future__ import annotations

import atexit
import importlib
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType


from sessiongen.config import reader as configuration
from sessiongen.config.model import Config
from sessiongen.generate import generate as run_generate
from sessiongen.diagnostics import Diagnostic, InputError

ROOT = Path(__file__).resolve().parents[3]
CASES = ROOT / "tests" / "cases"
GENERATED = ROOT / "generated" / "python"


@dataclass(frozen=True)
class Package:
    """A generated package: its name, and the folder on the import path that holds it."""

    name: str
    out: Path

    @property
    def folder(self) -> Path:
        return self.out / self.name

    def module(self, name: str) -> ModuleType:
        """Imports one of the package's modules."""
        if str(self.out) not in sys.path:
            sys.path.insert(0, str(self.out))
            importlib.invalidate_caches()
        return importlib.import_module(f"{self.name}.{name}")

    def text(self, name: str) -> str:
        """Returns the text of one of the package's files."""
        return (self.folder / name).read_text(encoding="utf-8")


def configured(
    folder: Path, package: str, source: str, out: Path | None = None, rest: str = ""
) -> Config:
    """Writes a codegen.toml whose [input] table is `source`, and load it."""
    folder.mkdir(parents=True, exist_ok=True)
    target = (out or folder / "out").as_posix()
    text = f'[input]\n{source}\n[output]\npath = "{target}"\npackage = "{package}"\n{rest}\n'
    path = folder / "codegen.toml"
    path.write_text(text, encoding="utf-8")
    return configuration.load(path)


def protos(files: Iterable[Path], include: Iterable[Path]) -> str:
    """Returns the [input] table for .proto files."""
    names = ", ".join(f'"{path.as_posix()}"' for path in files)
    folders = ", ".join(f'"{path.as_posix()}"' for path in include)
    return f"protos = [{names}]\ninclude = [{folders}]"


def generate(config: Config) -> Package:
    """Generates without a cache."""
    run_generate(config, use_cache=False)
    folder = config.outputs[0].folder
    return Package(folder.name, folder.parent)


def refusal(config: Config) -> list[Diagnostic]:
    """Returns the diagnostics for an invalid protocol; fails if there are none."""
    try:
        generate(config)
    except InputError as refused:
        assert not config.outputs[0].folder.exists(), "a refused protocol must write nothing"
        return refused.diagnostics
    raise AssertionError("the protocol was not refused")


def texts_refusal(
    folder: Path, texts: Mapping[str, str | bytes], rest: str = ""
) -> list[Diagnostic]:
    """Returns the diagnostics for .proto texts; the first one names the protocol."""
    for name, text in texts.items():
        path = folder / "proto" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    first = folder / "proto" / next(iter(texts))
    return refusal(configured(folder, "refused", protos([first], [folder / "proto"]), rest=rest))


def place_of(text: str, marker: str) -> tuple[int, int]:
    """Returns line and column, counted from 1 in characters, of the first `marker`."""
    before = text[: text.index(marker)]
    return before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1


@lru_cache
def _mypy_cache() -> Path:
    """Returns a folder for all runs of mypy that this process starts: most of each is the same."""
    folder = Path(tempfile.mkdtemp(prefix="sessiongen-mypy-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def mypy(paths: Iterable[Path], imports: Iterable[Path], folder: Path) -> str:
    """Returns the errors of `mypy --strict` in files, "" if there are none."""
    config = folder / "mypy.ini"
    folder.mkdir(parents=True, exist_ok=True)
    roots = ":".join(path.as_posix() for path in imports)
    config.write_text(
        "[mypy]\nstrict = true\npython_version = 3.10\nexplicit_package_bases = true\n"
        f"mypy_path = {roots}\ncache_dir = {_mypy_cache().as_posix()}\n"
        # Installed packages are read for their types, but their errors are not reported.
        "[mypy-livekit.*]\nfollow_imports = silent\n"
        # These have stubs and no marker that they are typed.
        "[mypy-grpc_reflection.*,meshtastic.*,perfetto.*]\n"
        "follow_imports = silent\nfollow_untyped_imports = true\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def pyright(paths: Iterable[Path], imports: Iterable[Path], folder: Path) -> str:
    """Returns the errors of basedpyright, in its standard mode, in files."""
    import json

    folder.mkdir(parents=True, exist_ok=True)
    settings = {
        "include": [path.as_posix() for path in paths],
        "extraPaths": [path.as_posix() for path in imports],
        "typeCheckingMode": "standard",
        "pythonVersion": "3.10",
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "basedpyright",
        "-p",
        str(folder),
        "--pythonpath",
        sys.executable,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    return "" if done.returncode == 0 else done.stdout + done.stderr


# What livekit-agents sets in its pyproject.toml.
RUFF = """\
target-version = "py310"
[lint]
select = ["E", "W", "F", "I", "B", "C4", "UP"]
[lint.isort]
combine-as-imports = true
known-first-party = ["livekit"]
"""


def ruff(command: str, folders: Iterable[Path], *options: str, length: int = 100) -> str:
    """Returns what `ruff check` or `ruff format --check` says of packages, "" for nothing.

    Messages and their stubs are left out: protoc and mypy-protobuf write them.
    """
    checks = {"check": ["check"], "format": ["format", "--check"]}[command]
    excluded = ["--exclude", "*_pb2.py", "--exclude", "*_pb2.pyi"]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder, "ruff.toml")
        config.write_text(f"line-length = {length}\n{RUFF}", encoding="utf-8")
        arguments = [*checks, "--config", str(config), "--no-cache", "--quiet", *excluded, *options]
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *arguments, *map(str, folders)],
            capture_output=True,
            text=True,
            check=False,
        )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def normal(text: str) -> str:
    """Returns a text with each run of white space replaced by one space."""
    return re.sub(r"\s+", " ", text).strip()
