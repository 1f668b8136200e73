"""Names in TypeScript: those that protobuf-es gives, and those of generated code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from sessiongen.ir.name_case import flat_names, snake
from sessiongen.ir.schema import Enum, EnumValue

# Names that protobuf-es writes with a `$`, by what it names.
_IDENTIFIERS = frozenset(
    "break case catch class const continue debugger default delete do else export extends false "
    "finally for function if import in instanceof new null return super switch this throw true "
    "try typeof var void while with yield enum implements interface let package private protected "
    "public static Object bigint number boolean string object globalThis Uint8Array Partial".split()
)
_OBJECT_PROPERTIES = frozenset({"constructor", "toString", "toJSON", "valueOf"})
_MESSAGE_PROPERTIES = frozenset(
    "getType clone equals fromBinary fromJson fromJsonString toBinary toJson toJsonString "
    "toObject".split()
)
_PLAIN_KEY = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*")


def camel(name: str) -> str:
    """Returns a field's name in lowerCamelCase, by the rules of JSON names."""
    result, upper = "", False
    for character in name:
        if character == "_":
            upper = True
            continue
        result += character.upper() if upper and not character.isdigit() else character
        upper = False
    return result


def message_property(name: str, *, with_methods: bool) -> str:
    """Returns the property of a message of a name in lowerCamelCase.

    with_methods: messages have methods, whose names a property cannot have.
    """
    reserved = _OBJECT_PROPERTIES | _MESSAGE_PROPERTIES if with_methods else _OBJECT_PROPERTIES
    return f"{name}$" if name in reserved else name


def identifier(path: tuple[str, ...], *, of_objects: bool) -> str:
    """Returns the name of a message or enum in the module of messages.

    of_objects: it cannot be that of a property of all objects either.
    """
    name = "_".join(path)
    reserved = _IDENTIFIERS | _OBJECT_PROPERTIES if of_objects else _IDENTIFIERS
    return f"{name}$" if name in reserved else name


def enum_member(enum: Enum, value: EnumValue) -> str:
    """Returns the member of an enum's class of a value."""
    prefix = _shared_prefix(enum.path[-1], [item.name for item in enum.values])
    name = value.name[len(prefix) :]
    return f"{name}$" if name in _OBJECT_PROPERTIES else name


def _shared_prefix(enum: str, values: Iterable[str]) -> str:
    prefix = (enum[:1] + re.sub("[A-Z]", r"_\g<0>", enum[1:])).lower() + "_"
    for name in values:
        rest = name[len(prefix) :]
        if not name.lower().startswith(prefix) or not rest or rest[0].isdigit():
            return ""
    return prefix


def symbols(paths: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """Returns the name of each definition inside the names of generated code, by full name.

    A name that begins with a small letter ends in an underscore, so that `event` is not `Event`.
    """
    words = {full: tuple(map(_word, path)) for full, path in paths.items()}
    return {full: capital(name) for full, name in flat_names(words).items()}


def _word(name: str) -> str:
    return f"{capital(name)}_" if name[:1].islower() else name


def capital(name: str) -> str:
    """Returns a name with its first letter in upper case."""
    return name[:1].upper() + name[1:]


def lower_first(name: str) -> str:
    """Returns a CamelCase name in lowerCamelCase: `RobotState` gives `robotState`."""
    head, *rest = snake(name).split("_")
    return head + name[len(head) :] if rest else name.lower()


def constant(name: str) -> str:
    """Returns a CamelCase name in UPPER_CASE."""
    return snake(name).upper()


def key(name: str) -> str:
    """Returns a property name, quoted if that is necessary."""
    return name if _PLAIN_KEY.fullmatch(name) else quoted(name)


def method(name: str) -> str:
    """Returns the name of a method.

    An empty name and `constructor` are none, and `new` is a constructor in an interface.
    """
    return f"{name}_" if name in ("", "constructor", "new") else name


def access(base: str, name: str) -> str:
    """Returns the expression of a property of an object."""
    return f"{base}.{name}" if _PLAIN_KEY.fullmatch(name) else f"{base}[{quoted(name)}]"


def quoted(text: str) -> str:
    """Returns a string literal, in single quotes unless that needs more escapes."""
    escaped = "".join(_ESCAPES.get(item) or _printable(item) for item in text)
    if escaped.count("'") > escaped.count('"'):
        return '"' + escaped.replace('"', '\\"') + '"'
    return "'" + escaped.replace("'", "\\'") + "'"


_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _printable(character: str) -> str:
    return character if character.isprintable() else f"\\u{{{ord(character):x}}}"
