"""Tests that each layer of a Python package can be generated alone with its dependencies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, PROTO, place_of, project

from sessiongen.targets import registry

LAYERS = registry.get("python").layers
# What every package has.
ALWAYS = {"__init__.py", "py.typed", "sessiongen.json", "small_pb2.py", "small_pb2.pyi"}


@pytest.mark.parametrize("layer", LAYERS)
def test_a_layer_alone_is_complete(layer: str, tmp_path: Path) -> None:
    small_project = project(tmp_path, config=f'{CONFIG}layers = ["{layer}"]\n').generated()
    names = {path.name for path in small_project.package.iterdir()}
    assert f"{layer}.py" in names and names - ALWAYS <= {f"{name}.py" for name in LAYERS}
    modules = [f"small_protocol.{name.removesuffix('.py')}" for name in names if name[-3:] == ".py"]
    # TYPE_CHECKING imports count: a type checker follows them.
    code = "import typing; typing.TYPE_CHECKING = True; import " + ", ".join(sorted(modules))
    subprocess.run([sys.executable, "-c", code], cwd=small_project.root / "out", check=True)
    listing = (small_project.package / "__init__.py").read_text(encoding="utf-8")
    assert {name for name in LAYERS if f"- `{name}`: " in listing} == {
        name.removesuffix(".py") for name in names - ALWAYS
    }


def test_messages_alone(tmp_path: Path) -> None:
    small_project = project(tmp_path, config=f"{CONFIG}layers = []\n").generated()
    assert {path.name for path in small_project.package.iterdir()} == ALWAYS


def test_a_module_that_is_not_python_is_never_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_project = project(tmp_path)
    wrong = "def broken(:\n"
    monkeypatch.setattr(
        "sessiongen.targets.python.formatting.Formatter.format",
        lambda self, texts, line_length: [*texts[1:], wrong],
    )
    outcome = small_project.invoke("generate", "--no-cache")
    assert outcome.status == 2
    line, column = place_of(PROTO, "message Request")
    assert outcome.errors.startswith(
        f"proto/small.proto:{line}:{column}: error[SG032]: internal error: "
    )
    assert not small_project.package.exists()


def test_the_contracts_layers_import_no_asyncio(tmp_path: Path) -> None:
    """asyncio takes longer to import than all these layers together."""
    code = (
        "import sys; from agent_session_protocol import dispatch, encoders, enums, events, requests;"
        "print('asyncio' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
