"""The names under which generated message modules register their .proto files.

protoc derives Python imports from file names, so it compiles copies of the files whose names are
inside the generated package. A process, however, has one definition of each message: another
package with the same .proto registers it under its import name, and protobuf accepts a second
registration only if name and content are equal. The generated modules therefore register each
file under its import name, with the bytes that protoc embeds for the original .proto.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping

from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from sessiongen.targets.python.references import module_name

_SERIALIZED = re.compile(r"""(?<=AddSerializedFile\()b(?:'.*'|".*")(?=\)$)""", re.MULTILINE)
_OFFSET = re.compile(r"(?<=\._serialized_)(start|end)=(\d+)$", re.MULTILINE)


def inside(own: Iterable[str], package: str) -> dict[str, str]:
    """Returns the name inside the package of each of the protocol's own files."""
    folder = package.replace(".", "/")
    return {name: f"{folder}/{module_name(name).removesuffix('_pb2')}.proto" for name in own}


def moved(
    files: Iterable[descriptor_pb2.FileDescriptorProto], names: Mapping[str, str]
) -> list[descriptor_pb2.FileDescriptorProto]:
    """Returns copies of the files with the new names in `names`."""
    copies = []
    for original in files:
        item = descriptor_pb2.FileDescriptorProto()
        item.CopyFrom(original)
        _rename(item, names)
        copies.append(item)
    return copies


def _rename(file: descriptor_pb2.FileDescriptorProto, names: Mapping[str, str]) -> None:
    file.name = names.get(file.name, file.name)
    for index, dependency in enumerate(file.dependency):
        file.dependency[index] = names.get(dependency, dependency)


def clear_default_json_names(file: descriptor_pb2.FileDescriptorProto) -> None:
    """Removes default JSON names, because protoc embeds only those given in the .proto."""
    for field in [*file.extension, *_fields(file.message_type)]:
        if field.json_name == _json_name(field.name):
            field.ClearField("json_name")


def _fields(
    messages: Iterable[descriptor_pb2.DescriptorProto],
) -> Iterator[descriptor_pb2.FieldDescriptorProto]:
    for message in messages:
        yield from message.field
        yield from message.extension
        yield from _fields(message.nested_type)


def _json_name(name: str) -> str:
    """Returns the JSON name that protobuf gives a field without one."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def restored(text: str, names: Mapping[str, str]) -> str:
    """Returns a message module that registers its file under its import name."""
    match = _SERIALIZED.search(text)
    if match is None:
        return text
    old = ast.literal_eval(match.group())
    file = descriptor_pb2.FileDescriptorProto.FromString(old)
    name = file.name
    _rename(file, {value: key for key, value in names.items()})
    new = file.SerializeToString()
    # protoc writes the name into a comment, and into a string literal without escaping it.
    before = text[: match.start()].replace(f"'{name}'", repr(file.name))
    before = before.replace(name, "".join(c if c.isprintable() else "?" for c in file.name))
    # The names stand before the messages, so all offsets move by the same distance.
    shift = len(new) - len(old)
    after = _OFFSET.sub(lambda part: f"{part[1]}={int(part[2]) + shift}", text[match.end() :])
    return f"{before}{new!r}{after}"


def descriptors(files: Mapping[str, str]) -> list[descriptor_pb2.FileDescriptorProto]:
    """Returns the descriptors in generated `_pb2.py` texts, except those that were edited."""
    descriptors = []
    for name, text in sorted(files.items()):
        match = _SERIALIZED.search(text) if name.endswith("_pb2.py") else None
        try:
            data = ast.literal_eval(match.group()) if match else b""
            if data:
                descriptors.append(descriptor_pb2.FileDescriptorProto.FromString(data))
        except (ValueError, SyntaxError, DecodeError):
            continue
    return descriptors
