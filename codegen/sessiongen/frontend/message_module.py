"""Reads descriptors out of an installed Python module of generated messages.

The module is imported in a subprocess, so that nothing its import does affects this process.
"""

from __future__ import annotations

import base64
import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from google.protobuf import descriptor_pb2

from sessiongen.output import subprocesses
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span

_PROBE = """
import base64, importlib, json, sys
sys.path.insert(0, sys.argv[2])
module = importlib.import_module(sys.argv[1])
descriptor = module.DESCRIPTOR
files, todo = {}, [descriptor]
while todo:
    item = todo.pop()
    if item.name not in files:
        files[item.name] = item.serialized_pb
        todo.extend(item.dependencies)
modules = {}
for name, value in sorted(sys.modules.items()):
    held = getattr(value, "DESCRIPTOR", None)
    file = getattr(held, "name", None)
    if file in files and hasattr(held, "serialized_pb") and isinstance(value, type(sys)):
        modules.setdefault(file, [name, getattr(value, "__file__", None) or ""])
modules[descriptor.name] = [sys.argv[1], module.__file__ or ""]
result = {"files": {k: base64.b64encode(v).decode() for k, v in files.items()}, "modules": modules}
print("\\n" + sys.argv[3] + json.dumps(result))
"""
_MARK = "sessiongen:"


@dataclass(frozen=True)
class MessageModule:
    """A Python module of generated messages.

    path: the file of the module.
    span: the place in the configuration that names the input.
    """

    name: str
    path: Path
    span: Span


@dataclass(frozen=True)
class ImportedDescriptors:
    """What an installed module holds; `origin` is the file of the module."""

    files: list[descriptor_pb2.FileDescriptorProto]
    modules: dict[str, MessageModule]
    origin: Path


def load(name: str, span: Span, root: Path) -> ImportedDescriptors:
    """Import a module in a child process and return its descriptors.

    Raises:
        InputError: it cannot be imported, holds no messages, or has no type stub.
    """
    done = subprocess.run(
        subprocesses.code(_PROBE, name, str(root), _MARK), capture_output=True, check=False
    )
    said = done.stdout.decode("utf-8", errors="replace").strip().splitlines()
    # A module may leave the process while it is imported, with any status.
    if done.returncode != 0 or not said or not said[-1].startswith(_MARK):
        lines = done.stderr.decode("utf-8", errors="replace").strip().splitlines()
        reason = (lines or ["its import ended the process"])[-1]
        raise _refused(span, f"cannot read messages from {name!r}: {reason}")
    result = json.loads(said[-1].removeprefix(_MARK))
    files = [
        descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(text))
        for text in result["files"].values()
    ]
    modules = {
        file: MessageModule(module, Path(path), span)
        for file, (module, path) in result["modules"].items()
        if not file.startswith("google/protobuf/")
    }
    unplaced = [item.name for item in files if item.name not in result["modules"]]
    if unplaced:
        raise _refused(span, f"no imported module holds {', '.join(sorted(unplaced))}")
    origin = next(path for module, path in result["modules"].values() if module == name)
    return ImportedDescriptors(files, modules, Path(origin))


def _refused(span: Span, fault: str, help_: str | None = None) -> InputError:
    hint = help_ or "name a module that protoc --python_out wrote, installed in this environment"
    return InputError([Diagnostic(span, Rule.MESSAGES_MODULE, fault, hint)])
