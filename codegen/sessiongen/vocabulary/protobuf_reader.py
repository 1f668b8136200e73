"""Reads the messages and enums in a protobuf package, without running its code.

Python packages contain serialized descriptors. In npm packages, the comments of declaration files
name each element and its number.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from google.protobuf.descriptor_pb2 import FileDescriptorProto

from sessiongen.ir.schema import Schema
from sessiongen.vocabulary.fetch import fetch, newest
from sessiongen.vocabulary.package import Package
from sessiongen.vocabulary.protobuf_packages import Numbers, ProtobufPackage, PublishedMessages
from sessiongen.vocabulary.scope import PackageSource, Scope

_DECLARATIONS = (".d.ts", ".d.mts", ".d.cts")
_GENERATED = re.compile(
    r"@generated from (message|field|enum value|enum):? (?:[^\n=]*?)([\w.]+)(?: = (\d+))?"
    r"(?: \[[^\n]*)?;?\n"
)


def read_versions(scope: Scope, minimum: str, schema: Schema) -> ProtobufPackage:
    """Downloads the lowest and the newest version of an SDK's protobuf package, and reads them.

    Raises:
        InputError: a version cannot be downloaded.
    """
    root = scope.protobuf_distribution
    if scope.language == "python":
        # The modules of generated messages are in one package.
        root = ".".join(scope.protobuf[0].split(".")[:2])
    source = PackageSource(scope.language, scope.protobuf_distribution, root)
    versions = dict.fromkeys(filter(None, (minimum, newest(source))))
    published = tuple(
        published_messages(fetch(source, version), scope, version, schema) for version in versions
    )
    return ProtobufPackage(scope.protobuf_distribution, published)


def published_messages(
    package: Package, scope: Scope, version: str, schema: Schema
) -> PublishedMessages:
    """Returns the messages and enums of a protocol in a protobuf package."""
    read = _python if scope.language == "python" else _typescript
    messages, enums = read(package, scope)
    return PublishedMessages(
        version,
        _own(messages, (item.path for item in schema.own_messages())),
        _own(enums, (item.path for item in schema.enums.values() if item.file in schema.own)),
    )


def _own(members: Mapping[str, Numbers], paths: Iterable[tuple[str, ...]]) -> dict[str, Numbers]:
    names = sorted(".".join(path) for path in paths)
    return {name: members[name] for name in names if name in members}


_Read = tuple[dict[str, Numbers], dict[str, Numbers]]


def _python(package: Package, scope: Scope) -> _Read:
    """Reads the serialized descriptors in a module of generated messages."""
    messages: dict[str, Numbers] = {}
    enums: dict[str, Numbers] = {}
    module = "/".join((*scope.protobuf[0].split("."), scope.protobuf[1])).rstrip("/")
    for serialized in _serialized_files(package.files.get(f"{module}.py", b"")):
        _collect(FileDescriptorProto.FromString(serialized), "", messages, enums)
    return messages, enums


def _serialized_files(source: bytes) -> Iterator[bytes]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            constant = node.args[0] if node.func.attr == "AddSerializedFile" else None
            if isinstance(constant, ast.Constant) and isinstance(constant.value, bytes):
                yield constant.value


def _collect(
    holder: Any, prefix: str, messages: dict[str, Numbers], enums: dict[str, Numbers]
) -> None:
    """Adds the enums and messages inside a file or message descriptor."""
    for enum in holder.enum_type:
        enums[prefix + enum.name] = {value.name: value.number for value in enum.value}
    inner = holder.nested_type if prefix else holder.message_type
    for message in inner:
        path = prefix + message.name
        messages[path] = {field.name: field.number for field in message.field}
        _collect(message, f"{path}.", messages, enums)


def _typescript(package: Package, scope: Scope) -> _Read:
    """Reads the comments that protobuf-es writes into declaration files."""
    members: dict[str, dict[str, Numbers]] = {"message": {}, "enum": {}}
    for name, data in sorted(package.files.items()):
        if not name.endswith(_DECLARATIONS):
            continue
        current: dict[str, int] = {}
        for kind, text, number in _GENERATED.findall(data.decode("utf-8", errors="replace")):
            if kind in members:
                # Declarations for other module systems repeat the same messages.
                current = {}
                members[kind][text] = current
            elif number:
                current[text] = int(number)
    prefixes = {
        text.removesuffix(scope.messages.event)
        for text in members["message"]
        if text.endswith(f".{scope.messages.event}")
    }
    prefix = min(prefixes, key=len, default="")
    messages, enums = (
        {
            text.removeprefix(prefix): numbers
            for text, numbers in members[kind].items()
            if text.startswith(prefix)
        }
        for kind in ("message", "enum")
    )
    return messages, enums
