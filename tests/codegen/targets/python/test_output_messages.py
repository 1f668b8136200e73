"""`messages` of a Python output: layers over installed messages, docs from the .proto."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from sessiongen_command import CONFIG, FILES, Project, project

from sessiongen.output.writer import MANIFEST

BOUND = CONFIG.replace("small_protocol", "bound") + 'messages = "installed.small_pb2"\n'


@pytest.fixture
def made(tmp_path: Path) -> Project:
    """Return a project whose messages lie in a package beside its codegen.toml."""
    made = project(tmp_path, config=BOUND)
    folder = made.root / "installed"
    folder.mkdir()
    (folder / "__init__.py").touch()
    command = [sys.executable, "-m", "grpc_tools.protoc", "-Iproto", "small.proto"]
    outputs = ["--python_out=installed", "--pyi_out=installed"]
    subprocess.run([*command, *outputs], cwd=made.root, check=True)
    return made


def test_layers_use_the_installed_messages(made: Project) -> None:
    made.generated()
    folder = made.root / "out" / "bound"
    names = {path.name for path in folder.iterdir()}
    assert names == set(FILES) - {"small_pb2.py", "small_pb2.pyi"}
    assert "Is anybody there?" in (folder / "client.py").read_text(encoding="utf-8")
    code = "import bound.client, bound.requests; from installed import small_pb2 as pb; "
    code += "assert bound.client.pb is pb"
    path = f"import sys; sys.path[:0] = ['{made.root / 'out'}', '{made.root}']; "
    subprocess.run([sys.executable, "-c", path + code], check=True)
    assert made.invoke("check").status == 0
    assert "out/bound/client.py" in made.invoke("explain", "Request.ping").output


def test_a_module_of_another_version_is_refused(made: Project) -> None:
    made.add_arm()
    outcome = made.invoke("generate")
    assert outcome.status == 2
    assert "error[SG004]: the module 'installed.small_pb2' was generated from another version" in (
        outcome.errors
    )
    assert "added   small.Event.tock: small.Empty, number 2 in oneof event" in outcome.errors
    assert not (made.root / "out" / "bound" / MANIFEST).exists()


def test_a_module_of_other_files_is_refused(made: Project) -> None:
    made.proto.rename(made.proto.with_name("other.proto"))
    made.config.write_text(BOUND.replace("small.proto", "other.proto"), encoding="utf-8")
    outcome = made.invoke("generate")
    assert outcome.status == 2
    assert "does not hold the messages of other.proto" in outcome.errors


def test_a_name_that_is_no_module_is_refused(made: Project) -> None:
    made.config.write_text(BOUND.replace("installed.small_pb2", "a/b"), encoding="utf-8")
    outcome = made.invoke("generate")
    assert outcome.status == 2 and "'a/b' is not the name of a Python module" in outcome.errors
