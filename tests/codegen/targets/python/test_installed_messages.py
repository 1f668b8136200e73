"""Tests of the key `messages` of a Python output: layers over installed messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, FILES, Project, project

from sessiongen.output.writer import MANIFEST

BOUND = CONFIG.replace("small_protocol", "bound") + 'messages = "installed.small_pb2"\n'


@pytest.fixture
def small_project(tmp_path: Path) -> Project:
    """Return a project whose messages lie in a package beside its codegen.toml."""
    small_project = project(tmp_path, config=BOUND)
    folder = small_project.root / "installed"
    folder.mkdir()
    (folder / "__init__.py").touch()
    command = [sys.executable, "-m", "grpc_tools.protoc", "-Iproto", "small.proto"]
    outputs = ["--python_out=installed", "--pyi_out=installed"]
    subprocess.run([*command, *outputs], cwd=small_project.root, check=True)
    return small_project


def test_layers_use_the_installed_messages(small_project: Project) -> None:
    small_project.generated()
    folder = small_project.root / "out" / "bound"
    names = {path.name for path in folder.iterdir()}
    assert names == set(FILES) - {"small_pb2.py", "small_pb2.pyi"}
    assert "Is anybody there?" in (folder / "client.py").read_text(encoding="utf-8")
    code = "import bound.client, bound.requests; from installed import small_pb2 as pb; "
    code += "assert bound.client.pb is pb"
    path = f"import sys; sys.path[:0] = ['{small_project.root / 'out'}', '{small_project.root}']; "
    subprocess.run([sys.executable, "-c", path + code], check=True)
    assert small_project.invoke("check").status == 0
    assert "out/bound/client.py" in small_project.invoke("explain", "Request.ping").output


def test_module_of_another_version(small_project: Project) -> None:
    small_project.add_arm()
    outcome = small_project.invoke("generate")
    assert outcome.status == 2
    assert "error[SG004]: the module 'installed.small_pb2' was generated from another version" in (
        outcome.errors
    )
    assert "added   small.Event.tock: small.Empty, number 2 in oneof event" in outcome.errors
    assert not (small_project.root / "out" / "bound" / MANIFEST).exists()


def test_module_of_other_files(small_project: Project) -> None:
    small_project.proto.rename(small_project.proto.with_name("other.proto"))
    small_project.config.write_text(BOUND.replace("small.proto", "other.proto"), encoding="utf-8")
    outcome = small_project.invoke("generate")
    assert outcome.status == 2
    assert "does not have the messages of other.proto" in outcome.errors


def test_name_that_is_not_a_module(small_project: Project) -> None:
    small_project.config.write_text(BOUND.replace("installed.small_pb2", "a/b"), encoding="utf-8")
    outcome = small_project.invoke("generate")
    assert outcome.status == 2 and "'a/b' is not the name of a Python module" in outcome.errors
