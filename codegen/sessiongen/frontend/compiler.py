"""Compiles any input to validated descriptors with source positions."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool
from google.protobuf.message import DecodeError

from sessiongen import resources

from sessiongen.frontend import message_module

from sessiongen.frontend import protoc
from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span, failed
from sessiongen.paths import display
from sessiongen.frontend.source_map import Sources
from sessiongen.frontend.well_known import shipped

ANNOTATIONS_FILE = "sessiongen/annotations.proto"
# A part of an import name. Quotes, backslashes and control characters are in no sound one.
_PART = re.compile(r"[^\x00-\x1f\x7f\\\"]+")


@dataclass(frozen=True)
class Compiled:
    """Descriptors of a protocol and everything it imports.

    files: in dependency order, source positions included where the input has them.
    own: import names of the files the protocol consists of.
    origin: what the protocol was read from, for the header of generated files.
    modules: import name to Python module, for an input of installed messages.
    warnings: what protoc had to say of a valid input.
    """

    files: tuple[descriptor_pb2.FileDescriptorProto, ...]
    own: tuple[str, ...]
    sources: Sources
    origin: str
    modules: dict[str, message_module.MessageModule] = field(default_factory=dict)
    warnings: tuple[Diagnostic, ...] = ()


def compile_input(config: Config) -> Compiled:
    """Return the descriptors of the configured input.

    Raises:
        InputError: the input cannot be read or is not valid.
    """
    if config.input.messages is not None:
        return _from_module(config, config.input.messages)
    if config.input.descriptor_set is not None:
        return _from_descriptor_set(config, config.input.descriptor_set)
    return _from_protos(config)


def _from_protos(config: Config) -> Compiled:
    sources = Sources((*config.input.include, resources.include_dir()))
    names = [_import_name(config, path) for path in config.input.protos]
    for name, path in zip(names, config.input.protos, strict=True):
        _refuse_shadowed(config, sources, name, path)
    with tempfile.TemporaryDirectory(prefix="sessiongen-") as folder:
        target = Path(folder) / "protocol.binpb"
        arguments = [f"-I{path}" for path in sources.include if path.is_dir()]
        arguments += [f"--descriptor_set_out={target}", "--include_imports"]
        # By their place on disk: a bare name is first looked for in the working directory,
        # and may look like an option.
        arguments += ["--include_source_info", *(str(sources.locate(name)) for name in names)]
        diagnostics = protoc.finish(protoc.start(arguments), sources)
        if failed(diagnostics):
            raise InputError(diagnostics)
        data = target.read_bytes()
    return _compiled(data, sources, tuple(diagnostics), Span(names[0]))


def _import_name(config: Config, path: Path) -> str:
    if not path.is_file():
        span = config.span(("input", "protos"))
        fault = f"there is no file {display(path)}"
        if path.exists():
            fault = f"{display(path)} is not a file"
        help_ = "name .proto files relative to codegen.toml"
        raise InputError([Diagnostic(span, Rule.UNREADABLE, fault, help_)])
    # As written first: a link's target may lie anywhere.
    for whole in (Path.absolute, Path.resolve):
        for folder in config.input.include:
            try:
                return whole(path).relative_to(whole(folder)).as_posix()
            except ValueError:
                continue
    span = config.span(("input", "include"))
    fault = f"{display(path)} lies on none of the include paths"
    help_ = "add a folder above the file to input.include"
    raise InputError([Diagnostic(span, Rule.UNREADABLE, fault, help_)])


def _refuse_shadowed(config: Config, sources: Sources, name: str, path: Path) -> None:
    found = sources.locate(name)
    if found is not None and not found.samefile(path):
        span = config.span(("input", "include"))
        fault = f"{display(path)} is hidden by {display(found)} on an earlier include path"
        help_ = "put the folder of the one that is meant first in input.include"
        raise InputError([Diagnostic(span, Rule.UNREADABLE, fault, help_)])


def _from_descriptor_set(config: Config, path: Path) -> Compiled:
    try:
        data = path.read_bytes()
    except OSError as error:
        fault = f"cannot read the descriptor set: {error.strerror}"
        help_ = "write one with `protoc --descriptor_set_out` or `buf build -o`"
        raise InputError([Diagnostic(Span(display(path)), Rule.UNREADABLE, fault, help_)]) from None
    sources = Sources((), origin=path)
    return _compiled(data, sources, (), Span(display(path)))


def _from_module(config: Config, name: str) -> Compiled:
    loaded = message_module.load(name, config.span(("input", "messages")), config.root)
    sources = Sources((), origin=loaded.origin)
    files = _ordered(loaded.files, Span(display(loaded.origin)), sources)
    own = tuple(item.name for item in files if not shipped(item.name))
    return Compiled(files, own, sources, name, loaded.modules)


def _compiled(
    data: bytes, sources: Sources, warnings: tuple[Diagnostic, ...], span: Span
) -> Compiled:
    try:
        files = list(descriptor_pb2.FileDescriptorSet.FromString(data).file)
    except DecodeError:
        raise _broken(span, "this is not a serialized FileDescriptorSet") from None
    if not files:
        raise _broken(span, "the descriptor set holds no file")
    for item in files:
        _refuse_name(item.name, span)
        _tidy_comments(item)
    ordered = _ordered(files, span, sources)
    own = tuple(
        item.name for item in ordered if not shipped(item.name) and item.name != ANNOTATIONS_FILE
    )
    return Compiled(ordered, own, sources, ", ".join(own), {}, warnings)


def _ordered(
    files: list[descriptor_pb2.FileDescriptorProto], span: Span, sources: Sources
) -> tuple[descriptor_pb2.FileDescriptorProto, ...]:
    """Sort files so that each follows its imports, and prove that they link."""
    by_name = {item.name: item for item in files}
    if len(by_name) != len(files):
        raise _broken(span, "the descriptor set holds a file twice")
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
            raise _broken(span, "the files import each other in a cycle")
    _link(tuple(ordered.values()), sources)
    _refuse_other_annotations(ordered, span)
    return tuple(ordered.values())


def _tidy_comments(file: descriptor_pb2.FileDescriptorProto) -> None:
    """Give comments the line ends they have in any other checkout, and make them text.

    protoc keeps CR LF, and lets bytes pass that are not UTF-8: upb gives those as bytes.
    """
    for location in file.source_code_info.location:
        for name in ("leading_comments", "trailing_comments"):
            text = getattr(location, name)
            if text and (isinstance(text, bytes) or "\r" in text):
                setattr(location, name, _tidy(text))
        for index, text in enumerate(location.leading_detached_comments):
            location.leading_detached_comments[index] = _tidy(text)


def _tidy(text: str | bytes) -> str:
    decoded = text if isinstance(text, str) else text.decode("utf-8", errors="replace")
    return decoded.replace("\r\n", "\n")


def _refuse_name(name: str | bytes, span: Span) -> None:
    """Refuse a file name that protoc would not give: code and paths are made from it."""
    # The type checker believes the stubs; upb gives bytes for what is not UTF-8.
    parts = name.split("/") if isinstance(name, str) else [""]
    if not all(_PART.fullmatch(part) and part not in (".", "..") for part in parts):
        raise _broken(span, f"{name!r} is not a name that a .proto file can be imported by")


def _refuse_other_annotations(
    files: dict[str, descriptor_pb2.FileDescriptorProto], span: Span
) -> None:
    """Refuse a file that only has the name of the annotations' file."""
    found = files.get(ANNOTATIONS_FILE)
    if found is None:
        return
    strings = all(
        item.type == item.TYPE_STRING and item.label == item.LABEL_OPTIONAL
        for item in found.extension
    )
    if "google/protobuf/descriptor.proto" not in files or not strings:
        fault = f"{ANNOTATIONS_FILE} is not the one that comes with sessiongen"
        raise _broken(span, fault, "import the one that comes with it, or name yours otherwise")


def _well_known(name: str, span: Span) -> descriptor_pb2.FileDescriptorProto:
    try:
        found = descriptor_pool.Default().FindFileByName(name)
    except KeyError:
        found = None
    if found is None or not shipped(name):
        raise _broken(
            span,
            f"the descriptor set lacks the imported file {name!r}",
            "build it with --include_imports",
        )
    result = descriptor_pb2.FileDescriptorProto()
    found.CopyToProto(result)
    return result


_LINK_HELP = "Python's protobuf refuses what the message names: rename or remove it"


def _link(files: tuple[descriptor_pb2.FileDescriptorProto, ...], sources: Sources) -> None:
    pool = descriptor_pool.DescriptorPool()
    for item in files:
        try:
            pool.Add(item)
            pool.FindFileByName(item.name)
        except (TypeError, KeyError) as error:
            reason = str(error).replace("\n", " ").strip()
            fault = f"the descriptors do not link: {reason}"
            raise _broken(sources.span(item.name), fault, _LINK_HELP) from None


def _broken(span: Span, fault: str, help_: str | None = None) -> InputError:
    hint = (
        help_ or "write it with `protoc --descriptor_set_out --include_imports` or `buf build -o`"
    )
    return InputError([Diagnostic(span, Rule.DESCRIPTOR_SET, fault, hint)])
