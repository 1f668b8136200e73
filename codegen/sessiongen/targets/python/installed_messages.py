"""Finds installed modules of generated messages, and the style of their type stubs.

mypy-protobuf and `protoc --pyi_out` write different stubs, to which the types in generated code
must be adapted.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.frontend import message_module
from sessiongen.frontend.message_module import ImportedDescriptors, MessageModule
from sessiongen.ir.descriptor_changes import changes
from sessiongen.ir.model import Model
from sessiongen.paths import display
from sessiongen.targets.python.options import PythonOptions


@dataclass(frozen=True)
class InstalledModule:
    """An installed module of messages.

    enum_types: the stub names the type of an enum's value `Enum.ValueType` (mypy-protobuf)
        rather than `Enum` (protoc --pyi_out).
    oneof_literals: the stub gives WhichOneof a Literal result.
    optional_bools: constructors take None for a bool that can be absent (mypy-protobuf).
    distribution: see MessageModule.
    """

    name: str
    distribution: str
    enum_types: bool
    oneof_literals: bool
    optional_bools: bool


def installed_modules(model: Model, options: PythonOptions) -> dict[str, InstalledModule]:
    """Returns the installed modules by the import name of their proto file.

    There are none if the output generates its messages.

    Raises:
        InputError: a module has no type stub, or was generated from another protocol.
    """
    modules: Mapping[str, MessageModule] = model.compiled.modules
    if options.messages is not None and not modules:
        span = Span(display(options.config))
        imported = message_module.load(options.messages, span, options.config.parent)
        _check_protocol(model, imported, options.messages, span)
        modules = imported.modules
    faults = stub_faults(modules.values())
    if faults:
        raise InputError(faults)
    return {file: _stub_style(module) for file, module in modules.items()}


def _check_protocol(model: Model, imported: ImportedDescriptors, name: str, span: Span) -> None:
    own = model.compiled.own
    missing = [file for file in own if file not in imported.modules]
    if missing:
        fault = f"the module {name!r} does not have the messages of {', '.join(missing)}"
        help_ = f"it has the files: {', '.join(imported.modules)}"
        raise InputError([Diagnostic(span, Rule.MESSAGES_MODULE, fault, help_)])
    old = [file for file in imported.files if file.name in own]
    differences = changes(old, [file for file in model.annotated.files if file.name in own])
    if differences:
        fault = f"the module {name!r} was generated from another version of the protocol"
        help_ = f"generate it again; differences in the protocol: {'; '.join(differences[:5])}"
        raise InputError([Diagnostic(span, Rule.MESSAGES_MODULE, fault, help_)])


def stub_faults(modules: Iterable[MessageModule]) -> list[Diagnostic]:
    """Returns a fault for each module without a type stub that can be read."""
    return [
        Diagnostic(
            item.span,
            Rule.MESSAGES_MODULE,
            f"the module {item.name!r} has {fault} beside it",
            _STUB_HELP,
        )
        for item in modules
        if (fault := _stub_fault(item)) is not None
    ]


def _stub_fault(module: MessageModule) -> str | None:
    """Returns what is wrong with the stub of a module, or None."""
    text = _stub_text(module)
    if text is None:
        return f"no type stub {_stub(module).name}"
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"a type stub {_stub(module).name} with a syntax error in line {error.lineno}"
    except ValueError:
        return f"a type stub {_stub(module).name} with null characters"
    return None


_STUB_HELP = (
    "generate one with protoc --pyi_out or mypy-protobuf, or read the protocol from a "
    "descriptor set, with which the messages are generated as well"
)


def _stub(module: MessageModule) -> Path:
    return module.path.with_suffix(".pyi")


def _stub_text(module: MessageModule) -> str | None:
    try:
        return _stub(module).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return None


# How mypy-protobuf defines the type; a protocol may have an enum of that name.
_ENUM_TYPE = re.compile(r"^ +ValueType = \S*NewType\(", re.MULTILINE)


def _stub_style(module: MessageModule) -> InstalledModule:
    text = _stub_text(module) or ""
    return InstalledModule(
        module.name,
        module.distribution,
        enum_types=bool(_ENUM_TYPE.search(text)) or "metaclass=" not in text,
        oneof_literals="def WhichOneof" in text,
        optional_bools=": bool = ..." not in text,
    )
