"""Tests of the key `messages` of a Python output: layers over installed messages."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import generated_packages
import pytest
from sessiongen_command import CONFIG, FILES, Project, install_messages, project

from sessiongen.output.writer import MANIFEST

BOUND = CONFIG.replace("small_protocol", "bound") + 'messages = "installed.small_pb2"\n'


@pytest.fixture
def small_project(tmp_path: Path) -> Project:
    """Returns a project whose messages lie in a package beside its codegen.toml."""
    small_project = project(tmp_path, config=BOUND)
    install_messages(small_project)
    return small_project


def test_layers_use_the_installed_messages(small_project: Project) -> None:
    small_project.generated()
    folder = small_project.root / "out" / "bound"
    names = {path.name for path in folder.iterdir()}
    assert names == set(FILES) - {"small_pb2.py", "small_pb2.pyi"} | {"needed.py"}
    assert "Is anybody there?" in (folder / "client.py").read_text(encoding="utf-8")
    code = "import bound.client, bound.requests; from installed import small_pb2 as pb; "
    code += "assert bound.client.pb is pb"
    path = f"import sys; sys.path[:0] = ['{small_project.root / 'out'}', '{small_project.root}']; "
    subprocess.run([sys.executable, "-c", path + code], check=True)
    assert small_project.invoke("check").status == 0
    assert "out/bound/client.py" in small_project.invoke("explain", "Request.ping").output


OPTIONAL_BOOLS = """\
syntax = "proto2";
package small;
enum ValueType { NONE = 0; TEXT = 1; }
message D { optional bool g = 1; optional string s = 2; required bool r = 3; repeated bool l = 4;
  optional ValueType type = 5; }
message Event { optional bool now = 2; oneof event { D d = 1; } }
message Request { optional string id = 1; oneof request { D d = 2; bool b = 3; } }
message Response { optional string id = 1; oneof response { D d = 2; bool b = 3; } }
"""


def test_type_checkers_accept_layers_over_stubs_of_protoc(tmp_path: Path) -> None:
    """protoc's own stubs do not let a constructor take None for a bool.

    Their enums have no type `ValueType`, but a protocol may have an enum of that name.
    """
    made = project(tmp_path, proto=OPTIONAL_BOOLS, config=BOUND)
    install_messages(made)
    assert "g: bool = ..." in (made.root / "installed" / "small_pb2.pyi").read_text("utf-8")
    made.generated()
    bound, imports = made.root / "out" / "bound", [made.root / "out", made.root]
    errors = generated_packages.mypy([bound], imports, tmp_path / "mypy").splitlines()
    # The stubs themselves have generic types without arguments.
    ours = [line for line in errors if "error:" in line and "small_pb2.pyi" not in line]
    assert ours == []
    assert generated_packages.pyright([bound], imports, tmp_path / "pyright") == ""
    code = "from bound import client, requests, events; from installed import small_pb2 as pb\n"
    code += "import asyncio\n"
    code += "class Client(client.RequestClient):\n"
    code += "    async def send(self, request, timeout=None):\n"
    code += "        assert not request.d.HasField('g') and request.d.HasField('r')\n"
    code += "        return pb.Response(d=request.d)\n"
    code += "sent = asyncio.run(Client().d(g=None, s=None, r=False, l=[], type=1))\n"
    code += "assert not sent.HasField('g') and sent.HasField('r')\n"
    path = f"import sys; sys.path[:0] = ['{made.root / 'out'}', '{made.root}']\n"
    subprocess.run([sys.executable, "-c", path + code], check=True)


def test_module_without_a_stub(small_project: Project) -> None:
    (small_project.root / "installed" / "small_pb2.pyi").unlink()
    outcome = small_project.invoke("generate")
    assert outcome.status == 2
    assert "'installed.small_pb2' has no type stub small_pb2.pyi beside it" in outcome.errors
    small_project.config.unlink()
    outcome = small_project.invoke("init", "--messages", "installed.small_pb2")
    assert outcome.status == 2
    assert "'installed.small_pb2' has no type stub small_pb2.pyi beside it" in outcome.errors
    assert "read the protocol from a descriptor set" in outcome.errors
    assert not small_project.config.exists()


def test_module_with_a_stub_that_does_not_parse(small_project: Project) -> None:
    stub = small_project.root / "installed" / "small_pb2.pyi"
    stub.write_text("import os\nfrom os import\n", encoding="utf-8")
    small_project.config.unlink()
    outcome = small_project.invoke("init", "--messages", "installed.small_pb2")
    assert outcome.status == 2
    assert "has a type stub small_pb2.pyi with a syntax error in line 2 beside it" in outcome.errors
    assert not small_project.config.exists()


def test_package_that_imports_the_names_of_its_modules(small_project: Project) -> None:
    """Its __init__.py then has a DESCRIPTOR as well, which is that of a module."""
    (small_project.root / "installed" / "__init__.py").write_text(
        "from .nothing_pb2 import *\nfrom .nothing_pb2 import DESCRIPTOR\n", encoding="utf-8"
    )
    proto = small_project.proto
    text = proto.read_text(encoding="utf-8").replace(
        "message Empty {}\n", 'import "nothing.proto";'
    )
    proto.write_text(text, encoding="utf-8")
    proto.with_name("nothing.proto").write_text(
        'syntax = "proto3";\npackage small;\nmessage Empty {}\n', encoding="utf-8"
    )
    command = [sys.executable, "-m", "grpc_tools.protoc", "-Iproto", "small.proto", "nothing.proto"]
    outputs = ["--python_out=installed", "--pyi_out=installed"]
    subprocess.run([*command, *outputs], cwd=small_project.root, check=True)
    for path in small_project.root.glob("installed/small_pb2.py*"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("import nothing_pb2", "from . import nothing_pb2"), "utf-8")
    small_project.config.unlink()
    outcome = small_project.invoke("init", "--messages", "installed.small_pb2")
    assert outcome.status == 0, outcome.errors
    assert small_project.invoke("generate").status == 0


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
