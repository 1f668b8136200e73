"""Compiles any input to validated descriptors with source positions."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.message import DecodeError

from sessiongen import resources

from sessiongen.frontend import documentation, message_module

from sessiongen.frontend import protoc
from sessiongen.frontend.linking import link
from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span, failed
from sessiongen.paths import display
from sessiongen.frontend.root_causes import root_causes
from sessiongen.frontend.source_map import SourceMap
from sessiongen.frontend.well_known import is_well_known

ANNOTATIONS_FILE = "sessiongen/annotations.proto"
# A part of an import name; valid ones have no quotes, backslashes or control characters.
_IMPORT_NAME_PART = re.compile(r"[^\x00-\x1f\x7f\\\"]+")


@dataclass(frozen=True)
class Compiled:
    """Descriptors of a protocol and everything it imports.

    files: in dependency order, with source positions if the input has them.
    own: the import names of the protocol's own files.
    origin: the input, for the header of generated files.
    modules: the Python module of each import name, if the input is an installed module.
    warnings: the warnings of protoc.
    """

    files: tuple[descriptor_pb2.FileDescriptorProto, ...]
    own: tuple[str, ...]
    source_map: SourceMap
    origin: str
    modules: dict[str, message_module.MessageModule] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()


@contextmanager
def compilation(config: Config) -> Iterator[Callable[[], Compiled]]:
    """Starts to compile the configured input.

    Returns:
        A context manager of the function that waits for the result. It raises an InputError if
        the input cannot be read or is not valid, as the context manager itself may do.
    """
    if config.input.messages is not None and config.input.protos:
        with _protoc(config) as finish:
            module = _from_module(config, config.input.messages)
            yield lambda: _documented(module, finish(), config)
    elif config.input.messages is not None:
        yield partial(_from_module, config, config.input.messages)
    elif config.input.descriptor_set is not None:
        yield partial(_from_descriptor_set, config, config.input.descriptor_set)
    else:
        with _protoc(config) as finish:
            yield finish


@contextmanager
def _protoc(config: Config) -> Iterator[Callable[[], Compiled]]:
    """Starts protoc for the configured files."""
    _check_exist(config)
    source_map = SourceMap((*config.input.include, resources.include_dir()))
    names = [_import_name(config, path) for path in config.input.protos]
    for name, path in zip(names, config.input.protos, strict=True):
        _check_not_shadowed(config, source_map, name, path)
    with tempfile.TemporaryDirectory(prefix="sessiongen-") as folder:
        target = Path(folder) / "protocol.binpb"
        arguments = [f"-I{path}" for path in source_map.include]
        arguments += [f"--descriptor_set_out={target}", "--include_imports"]
        # As paths: protoc looks for an import name in the working directory first, and could
        # take it for an option.
        arguments += ["--include_source_info", *(str(source_map.locate(name)) for name in names)]
        with protoc.start(arguments) as process:

            def finish() -> Compiled:
                diagnostics = root_causes(protoc.finish(process, source_map), source_map)
                if failed(diagnostics):
                    raise InputError(diagnostics)
                return _compiled(
                    target.read_bytes(), source_map, tuple(diagnostics), Span(names[0])
                )

            yield finish


def _check_exist(config: Config) -> None:
    """Checks that the configured files and include paths exist."""
    for key, paths, exists, kind, help_ in (
        ("protos", config.input.protos, Path.is_file, "file", ".proto files"),
        ("include", config.input.include, Path.is_dir, "folder", "include paths"),
    ):
        for path in paths:
            if not exists(path):
                fault = f"there is no {kind} {display(path)}"
                if path.is_symlink() and not path.exists():
                    fault = f"{display(path)} is a link to nothing"
                elif path.exists():
                    fault = f"{display(path)} is not a {kind}"
                span = config.span(("input", key))
                help_ = f"name {help_} relative to codegen.toml"
                raise InputError([Diagnostic(span, Rule.UNREADABLE, fault, help_)])
            if not os.access(path, os.R_OK):
                fault = f"this {kind} may not be read"
                span = Span(display(path))
                raise InputError([Diagnostic(span, Rule.UNREADABLE, fault, "make it readable")])


def _import_name(config: Config, path: Path) -> str:
    # The path as written comes first: the target of a link may be in any folder.
    for absolute in (Path.absolute, Path.resolve):
        for folder in config.input.include:
            try:
                return absolute(path).relative_to(absolute(folder)).as_posix()
            except ValueError:
                continue
    span = config.span(("input", "include"))
    fault = f"{display(path)} is not below any include path"
    help_ = "add a folder above the file to input.include"
    raise InputError([Diagnostic(span, Rule.UNREADABLE, fault, help_)])


def _check_not_shadowed(config: Config, source_map: SourceMap, name: str, path: Path) -> None:
    located = source_map.locate(name)
    if located is not None and not located.samefile(path):
        span = config.span(("input", "include"))
        fault = f"{display(path)} is hidden by {display(located)} on an earlier include path"
        help_ = "list the folder of the intended file first in input.include"
        raise InputError([Diagnostic(span, Rule.UNREADABLE, fault, help_)])


def _from_descriptor_set(config: Config, path: Path) -> Compiled:
    try:
        data = path.read_bytes()
    except OSError as error:
        fault = f"cannot read the descriptor set: {error.strerror}"
        help_ = "write one with `protoc --descriptor_set_out` or `buf build -o`"
        raise InputError([Diagnostic(Span(display(path)), Rule.UNREADABLE, fault, help_)]) from None
    source_map = SourceMap((), origin=path)
    return _compiled(data, source_map, (), Span(display(path)))


def _from_module(config: Config, name: str) -> Compiled:
    imported = message_module.load(name, config.span(("input", "messages")), config.root)
    source_map = SourceMap((), origin=imported.origin)
    files = _ordered(imported.files, Span(display(imported.origin)), source_map)
    own = tuple(item.name for item in files if not is_well_known(item.name))
    return Compiled(files, own, source_map, name, imported.modules)


def _documented(module: Compiled, sources: Compiled, config: Config) -> Compiled:
    """Returns the descriptors of a module with the comments and positions of .proto files."""
    own = [file for file in module.files if file.name in module.own]
    documented, aliases = documentation.documented(own, sources.files)
    if not documented:
        fault = f"the .proto files have no message of {module.origin}"
        help_ = "name the files that the module was generated from, or remove input.protos"
        raise InputError(
            [Diagnostic(config.span(("input", "protos")), Rule.MESSAGES_MODULE, fault, help_)]
        )
    include, origin = sources.source_map.include, module.source_map.origin
    return replace(
        module,
        files=tuple(documented.get(file.name, file) for file in module.files),
        source_map=SourceMap(include, origin, aliases),
        warnings=sources.warnings,
    )


def _compiled(
    data: bytes, source_map: SourceMap, warnings: tuple[Diagnostic, ...], span: Span
) -> Compiled:
    try:
        files = list(descriptor_pb2.FileDescriptorSet.FromString(data).file)
    except DecodeError:
        raise _descriptor_set_error(span, "this is not a serialized FileDescriptorSet") from None
    if not files:
        raise _descriptor_set_error(span, "the descriptor set contains no file")
    for item in files:
        _check_name(item.name, span)
        _normalize_comments(item)
    ordered = _ordered(files, span, source_map)
    own = tuple(
        item.name
        for item in ordered
        if not is_well_known(item.name) and item.name != ANNOTATIONS_FILE
    )
    return Compiled(ordered, own, source_map, ", ".join(own), {}, warnings)


def _ordered(
    files: list[descriptor_pb2.FileDescriptorProto], span: Span, source_map: SourceMap
) -> tuple[descriptor_pb2.FileDescriptorProto, ...]:
    """Returns the files sorted so that each follows its imports; checks that they link."""
    by_name = {item.name: item for item in files}
    if len(by_name) != len(files):
        raise _descriptor_set_error(span, "the descriptor set contains a file twice")
    ordered: dict[str, descriptor_pb2.FileDescriptorProto] = {}
    stack = [(item.name, False) for item in reversed(files)]
    while stack:
        name, visited = stack.pop()
        if name in ordered:
            continue
        item = by_name.get(name) or _well_known(name, span)
        if visited:
            ordered[name] = item
            continue
        by_name[name] = item
        stack.append((name, True))
        stack += [(needed, False) for needed in item.dependency if needed not in ordered]
        if len(stack) > 100_000:
            raise _descriptor_set_error(span, "the files import each other in a cycle")
    link(tuple(ordered.values()), source_map)
    _check_annotations_file(ordered, span)
    return tuple(ordered.values())


def _normalize_comments(file: descriptor_pb2.FileDescriptorProto) -> None:
    """Converts CR LF in comments to LF, and invalid UTF-8 to text.

    protoc keeps CR LF and bytes that are not UTF-8; upb returns the latter as bytes.
    """
    for location in file.source_code_info.location:
        for name in ("leading_comments", "trailing_comments"):
            text = getattr(location, name)
            if text and (isinstance(text, bytes) or "\r" in text):
                setattr(location, name, _normalized(text))
        for index, text in enumerate(location.leading_detached_comments):
            location.leading_detached_comments[index] = _normalized(text)


def _normalized(text: str | bytes) -> str:
    decoded = text if isinstance(text, str) else text.decode("utf-8", errors="replace")
    return decoded.replace("\r\n", "\n")


def _check_name(name: str | bytes, span: Span) -> None:
    """Raises InputError for a file name that protoc would reject: code and paths contain it."""
    # upb returns bytes for a name that is not UTF-8, which the stubs do not say.
    parts = name.split("/") if isinstance(name, str) else [""]
    if not all(_IMPORT_NAME_PART.fullmatch(part) and part not in (".", "..") for part in parts):
        raise _descriptor_set_error(span, f"{name!r} is not a valid import name of a .proto file")


def _check_annotations_file(
    files: dict[str, descriptor_pb2.FileDescriptorProto], span: Span
) -> None:
    """Raises InputError for another file with the name of the annotations' file."""
    annotations = files.get(ANNOTATIONS_FILE)
    if annotations is None:
        return
    has_string_options = all(
        item.type == item.TYPE_STRING and item.label == item.LABEL_OPTIONAL
        for item in annotations.extension
    )
    if "google/protobuf/descriptor.proto" not in files or not has_string_options:
        fault = f"{ANNOTATIONS_FILE} is not the file that is part of sessiongen"
        raise _descriptor_set_error(span, fault, "import the file of sessiongen, or rename yours")


def _well_known(name: str, span: Span) -> descriptor_pb2.FileDescriptorProto:
    try:
        descriptor = descriptor_pool.Default().FindFileByName(name)
    except KeyError:
        descriptor = None
    if descriptor is None or not is_well_known(name):
        raise _descriptor_set_error(
            span,
            f"the descriptor set lacks the imported file {name!r}",
            "build it with --include_imports",
        )
    result = descriptor_pb2.FileDescriptorProto()
    descriptor.CopyToProto(result)
    return result


def _descriptor_set_error(span: Span, fault: str, help_: str | None = None) -> InputError:
    hint = (
        help_ or "write it with `protoc --descriptor_set_out --include_imports` or `buf build -o`"
    )
    return InputError([Diagnostic(span, Rule.DESCRIPTOR_SET, fault, hint)])
