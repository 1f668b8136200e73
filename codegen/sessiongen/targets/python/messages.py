"""Generates the message classes with protoc and their stubs with mypy-protobuf.

Both tools run as subprocesses in parallel: `start` begins them and `finish` collects the files.
"""

from __future__ import annotations

import keyword
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from google.protobuf import descriptor_pb2
from google.protobuf.compiler import plugin_pb2

from sessiongen import subprocesses

from sessiongen.frontend import protoc
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span, failed
from sessiongen.frontend.source_map import SourceMap
from sessiongen.targets.python import import_names
from sessiongen.targets.python.references import module_name
from sessiongen.targets.python.stub_names import clashes

_ENUM_TYPE = re.compile(r"(?<![\w.])(?:\w+\.)+ValueType\b")
_NUMBERS = re.compile(r"(?:^ +\w+_FIELD_NUMBER: .*\n){2,}", re.MULTILINE)
_PLUGIN = "from mypy_protobuf.main import main; main()"


@dataclass
class Running:
    """The two subprocesses and their output folder."""

    folder: tempfile.TemporaryDirectory[str]
    python: subprocess.Popen[bytes]
    stubs: subprocess.Popen[bytes]
    package: str
    own: tuple[str, ...]


def start(
    files: tuple[descriptor_pb2.FileDescriptorProto, ...], own: tuple[str, ...], package: str
) -> Running:
    """Starts generating the messages of a protocol's own files into a package."""
    names = import_names.inside(own, package)
    renamed = import_names.moved(files, names)
    targets = list(names.values())
    folder = tempfile.TemporaryDirectory(prefix="sessiongen-")
    request = plugin_pb2.CodeGeneratorRequest(
        file_to_generate=targets, parameter="quiet", proto_file=renamed
    )
    stubs = _plugin(Path(folder.name), request.SerializeToString())
    # Only stubs have docs; source positions are the largest part of a descriptor set.
    for item in renamed:
        item.ClearField("source_code_info")
        import_names.clear_default_json_names(item)
    descriptors = Path(folder.name) / "protocol.binpb"
    descriptors.write_bytes(descriptor_pb2.FileDescriptorSet(file=renamed).SerializeToString())
    python = protoc.start(
        [f"--descriptor_set_in={descriptors}", f"--python_out={folder.name}", *targets]
    )
    return Running(folder, python, stubs, package, own)


def _plugin(folder: Path, request: bytes) -> subprocess.Popen[bytes]:
    """Starts mypy-protobuf with files as its input and output, as pipes could block."""
    (folder / "request").write_bytes(request)
    with (folder / "request").open("rb") as stdin, (folder / "response").open("wb") as stdout:
        return subprocess.Popen(
            subprocesses.code(_PLUGIN),
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )


def finish(running: Running, source_map: SourceMap) -> dict[str, str]:
    """Returns the generated texts by file name.

    Raises:
        InputError: one of the tools rejected the descriptors.
    """
    with running.folder as folder:
        diagnostics = protoc.finish(running.python, source_map)
        _, error_output = running.stubs.communicate()
        if failed(diagnostics):
            raise InputError(diagnostics)
        folder_path = Path(folder).joinpath(*running.package.split("."))
        names = import_names.inside(running.own, running.package)
        texts = {
            path.name: _code(import_names.restored(path.read_text(encoding="utf-8"), names))
            for path in sorted(folder_path.glob("*_pb2.py"))
        }
        response = plugin_pb2.CodeGeneratorResponse()
        if running.stubs.returncode == 0:
            response.ParseFromString((Path(folder) / "response").read_bytes())
    if running.stubs.returncode != 0 or response.error:
        raise _stub_error(
            response.error or error_output.decode("utf-8", errors="replace"), source_map
        )
    for file in response.file:
        stub = _stub(file.content)
        _check_clashes(_proto(file.name, running.own), stub, source_map)
        texts[file.name.rsplit("/", 1)[-1]] = stub
    return texts


def _code(text: str) -> str:
    """Returns a module with comments that disable false reports of pyright.

    pyright does not know which of two attributes a public import has, and the types of the
    builder of generic services do not match its use by protoc.
    """
    quiet = {
        "reportAttributeAccessIssue": "except AttributeError:",
        "reportArgumentType": "_builder.BuildServices(",
    }
    rules = [f"{rule}=false" for rule, sign in quiet.items() if sign in text]
    return f"# pyright: {', '.join(rules)}\n{text}" if rules else text


def _stub(text: str) -> str:
    """Returns a stub with LF line ends, and with corrections for two bugs of mypy-protobuf.

    It declares a message named `None` as `_r_None`, but its enums refer to `None`. For fields
    whose names differ only in case, it declares the same constant twice.
    """

    def corrected(match: re.Match[str]) -> str:
        parts = match.group().split(".")
        return ".".join(f"_r_{part}" if keyword.iskeyword(part) else part for part in parts)

    lines = text.replace("\r\n", "\n").replace("\r", "\n")
    return _NUMBERS.sub(_each_line_once, _ENUM_TYPE.sub(corrected, lines))


def _each_line_once(match: re.Match[str]) -> str:
    return "".join(dict.fromkeys(match.group().splitlines(keepends=True)))


def _check_clashes(proto: str, text: str, source_map: SourceMap) -> None:
    phrases = clashes(text)
    if phrases:
        help_ = "rename the element in the .proto: generated code uses this name"
        span = source_map.span(proto)
        faults = [
            Diagnostic(span, Rule.NAME_CLASH, f"the type stub of this file {phrase}", help_)
            for phrase in phrases
        ]
        raise InputError(faults)


def _proto(stub: str, own: tuple[str, ...]) -> str:
    """Returns the import name of the proto file behind a stub."""
    name = stub.rsplit("/", 1)[-1].removesuffix(".pyi")
    return next(item for item in own if module_name(item) == name)


def _stub_error(reason: str, source_map: SourceMap) -> InputError:
    span = Span(source_map.origin.as_posix() if source_map.origin else "mypy-protobuf")
    last = (reason.strip().splitlines() or ["no reason given"])[-1]
    help_ = "mypy-protobuf cannot describe this protocol; see its message"
    return InputError([Diagnostic(span, Rule.PROTO, f"no type stubs: {last}", help_)])
