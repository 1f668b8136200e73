"""Reads descriptors out of an installed Python module of generated messages.

The module is imported in a subprocess, so that its import cannot affect this process.
"""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from google.protobuf import descriptor_pb2

from sessiongen import subprocesses
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span

_PROBE = """
import base64, importlib, importlib.metadata, json, sys
sys.path.insert(0, sys.argv[2])
module = importlib.import_module(sys.argv[1])
descriptor = module.DESCRIPTOR
files, pending = {}, [descriptor]
while pending:
    item = pending.pop()
    if item.name not in files:
        files[item.name] = item.serialized_pb
        pending.extend(item.dependencies)
# A package may import the names of its modules: the module that protoc wrote comes first.
def is_written_by_protoc(name, file):
    return name.rpartition(".")[2] == file.rpartition("/")[2].replace("-", "_")[:-6] + "_pb2"
modules = {}
for name, value in sorted(sys.modules.items()):
    file_descriptor = getattr(value, "DESCRIPTOR", None)
    file = getattr(file_descriptor, "name", None)
    if file in files and hasattr(file_descriptor, "serialized_pb") and isinstance(value, type(sys)):
        if file not in modules or is_written_by_protoc(name, file):
            modules[file] = [name, getattr(value, "__file__", None) or ""]
modules[descriptor.name] = [sys.argv[1], module.__file__ or ""]
entry = "\\n" + sys.argv[1].replace(".", "/") + ".py,"
owners = (
    item for item in importlib.metadata.distributions()
    if entry in "\\n" + (item.read_text("RECORD") or "")
)
owner = next(owners, None)
owner = f"{owner.name} {owner.version}" if owner else ""
result = {"files": {k: base64.b64encode(v).decode() for k, v in files.items()}, "modules": modules, "owner": owner}
print("\\n" + sys.argv[3] + json.dumps(result))
"""
_OUTPUT_PREFIX = "sessiongen:"


@dataclass(frozen=True)
class MessageModule:
    """A Python module of generated messages.

    path: the file of the module.
    span: the position of the input in the configuration.
    distribution: the name and version of the package that the configured module is part of, "" if
        it is part of none.
    """

    name: str
    path: Path
    span: Span
    distribution: str


@dataclass(frozen=True)
class ImportedDescriptors:
    """The descriptors in an installed module. origin: the file of the module."""

    files: list[descriptor_pb2.FileDescriptorProto]
    modules: dict[str, MessageModule]
    origin: Path


def load(name: str, span: Span, root: Path) -> ImportedDescriptors:
    """Imports a module in a subprocess and returns its descriptors.

    Raises:
        InputError: the module cannot be imported or contains no messages.
    """
    process = subprocess.run(
        subprocesses.code(_PROBE, name, str(root), _OUTPUT_PREFIX), capture_output=True, check=False
    )
    output_lines = process.stdout.decode("utf-8", errors="replace").strip().splitlines()
    # The import of a module may end the process, with any status.
    if (
        process.returncode != 0
        or not output_lines
        or not output_lines[-1].startswith(_OUTPUT_PREFIX)
    ):
        lines = process.stderr.decode("utf-8", errors="replace").strip().splitlines()
        reason = (lines or ["the import ended the process"])[-1]
        raise _module_error(span, f"cannot read messages from {name!r}: {reason}")
    result = json.loads(output_lines[-1].removeprefix(_OUTPUT_PREFIX))
    files = [
        descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text))
        for text in result["files"].values()
    ]
    modules = {
        file: MessageModule(module, Path(path), span, result["owner"])
        for file, (module, path) in result["modules"].items()
        if not file.startswith("google/protobuf/")
    }
    missing = [item.name for item in files if item.name not in result["modules"]]
    if missing:
        raise _module_error(span, f"no imported module contains {', '.join(sorted(missing))}")
    origin = next(path for module, path in result["modules"].values() if module == name)
    return ImportedDescriptors(files, modules, Path(origin))


def _module_error(span: Span, fault: str, help_: str | None = None) -> InputError:
    hint = help_ or "name a module that protoc --python_out wrote, installed in this environment"
    return InputError([Diagnostic(span, Rule.MESSAGES_MODULE, fault, hint)])
