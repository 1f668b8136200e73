"""Installed modules of generated messages, and the style of their type stubs.

mypy-protobuf and `protoc --pyi_out` write different stubs; code that uses the messages has to
be typed accordingly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sessiongen.diagnostics import Diagnostic, InputError, Rule
from sessiongen.frontend.message_module import MessageModule


@dataclass(frozen=True)
class InstalledModule:
    """An installed module of messages.

    enum_types: the stub names the type of an enum's value `Enum.ValueType` (mypy-protobuf)
        rather than `Enum` (protoc --pyi_out).
    oneof_literals: the stub gives WhichOneof a Literal result.
    """

    name: str
    enum_types: bool
    oneof_literals: bool


def installed_modules(modules: Mapping[str, MessageModule]) -> dict[str, InstalledModule]:
    """Return the modules by the import name of their proto file.

    Raises:
        InputError: a module has no type stub.
    """
    return {file: _installed(module) for file, module in modules.items()}


def _installed(module: MessageModule) -> InstalledModule:
    stub = module.path.with_suffix(".pyi")
    try:
        text = stub.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        fault = f"the module {module.name!r} has no type stub {stub.name} beside it"
        help_ = "generate one with protoc --pyi_out or mypy-protobuf"
        raise InputError([Diagnostic(module.span, Rule.MESSAGES_MODULE, fault, help_)]) from None
    return InstalledModule(
        module.name,
        enum_types="ValueType" in text or "metaclass=" not in text,
        oneof_literals="def WhichOneof" in text,
    )
