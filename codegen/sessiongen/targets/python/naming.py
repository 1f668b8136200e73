"""Converts protobuf names to Python names, and reports names that clash.

A Python name depends only on the protobuf name and fixed lists, so that a new arm does not
rename others. If two names become equal, the second one is reported.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Iterator

from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.ir.name_case import snake
from sessiongen.ir.schema import Schema
from sessiongen.targets.python.layout import quoted

# The names under which stubs import modules.
_STUB_IMPORTS = frozenset(
    "_abc _builtins _containers _descriptor _enum_type_wrapper _message _typing".split()
)

# Attributes of google.protobuf.message.Message; a field of such a name hides one.
MESSAGE_ATTRIBUTES = frozenset(
    "ByteSize Clear ClearExtension ClearField CopyFrom DESCRIPTOR DiscardUnknownFields "
    "Extensions FindInitializationErrors FromString HasExtension HasField IsInitialized "
    "ListFields MergeFrom MergeFromString ParseFromString RegisterExtension "
    "SerializePartialToString SerializeToString SetInParent UnknownFields WhichOneof".split()
)

# The names in every module of messages, in its code or stub.
MODULE_ATTRIBUTES = frozenset(
    "DESCRIPTOR _builder _descriptor_pool _globals _runtime_version _sym_db _symbol_database "
    "_extension_dict _python_message _Never _TypeAlias sys".split()
)

# Names that have a meaning in Python on any class.
_SPECIAL_NAME = re.compile(r"__\w+__")

# Names in the stub of an enum, and an attribute of every metaclass.
_ENUM_API = frozenset({"DESCRIPTOR", "ValueType", "mro"})

# Attributes of every enum, and the `V` of its stub; a value cannot replace them.
ENUM_ATTRIBUTES = frozenset({"Name", "V", "Value", "items", "keys", "values"})


def identifier(name: str, reserved: frozenset[str] = frozenset()) -> str:
    """Returns a name usable as a Python attribute and argument.

    Keywords and reserved names get trailing underscores. Names that start with `__`, which
    Python would mangle, get a leading letter.
    """
    result = f"f{name}" if name.startswith("__") else name
    while keyword.iskeyword(result) or result in reserved:
        result += "_"
    return result


def plain(name: str) -> bool:
    """Whether `message.name` is valid Python and refers to the field."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")


def access(base: str, name: str) -> str:
    """Returns the expression that reads a field of a message, or a name of a class or module."""
    return f"{base}.{name}" if plain(name) else f"getattr({base}, {quoted(name)})"


def constant(name: str) -> str:
    """Returns the UPPER_CASE form of a CamelCase name."""
    return snake(name).upper()


class Namespace:
    """The names of a namespace in generated code; two owners of a name are a fault."""

    def __init__(self, description: str, reserved: Iterable[str] = ()) -> None:
        self.description = description
        self.reserved = frozenset(reserved)
        self._owners: dict[str, str] = {}
        self.faults: list[Diagnostic] = []

    def name(self, name: str, span: Span) -> str:
        """Adds the Python form of a name and returns it."""
        result = identifier(name, self.reserved)
        self.claim(result, name, span)
        return result

    def claim(self, result: str, owner: str, span: Span) -> None:
        """Adds a Python name with its owner; reports it if it has another owner."""
        if result in self.reserved:
            fault = f"{owner!r} becomes {result!r}, which {self.description} uses itself"
            self._fault(span, fault, "rename it in the .proto", owner)
            return
        first = self._owners.setdefault(result, owner)
        if first == owner:
            return
        fault = f"{owner!r} and {first!r} both become {result!r} in {self.description}"
        help_ = "rename one of the two in the .proto"
        self._fault(span, fault, help_, f"{owner} {first}")

    def _fault(self, span: Span, fault: str, help_: str, cause: str) -> None:
        self.faults.append(Diagnostic(span, Rule.NAME_CLASH, fault, help_, cause=cause))


def message_faults(schema: Schema) -> list[Diagnostic]:
    """Returns a fault for each name that hides an attribute of protobuf's Python code."""
    return [
        Diagnostic(
            span,
            Rule.NAME_CLASH,
            f"the {kind} {name!r} hides {name!r} of protobuf's own {owner}",
            f"rename the {kind}",
            cause=name,
        )
        for kind, name, span, owner, existing in _attributes(schema)
        if name in existing or _SPECIAL_NAME.fullmatch(name)
    ]


_IN_CLASS = ("message class", MESSAGE_ATTRIBUTES | _STUB_IMPORTS)
_IN_MODULE = ("module", MODULE_ATTRIBUTES | _STUB_IMPORTS)


def _owner(path: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """Returns the kind of owner of a type, and the names that the owner already has."""
    return _IN_CLASS if len(path) > 1 else _IN_MODULE


def _attributes(schema: Schema) -> Iterator[tuple[str, str, Span, str, frozenset[str]]]:
    """Yields each name that becomes a Python attribute.

    A name comes with its kind and position, the kind of its owner, and the names that the
    owner already has.
    """
    for message in schema.own_messages():
        yield "message", message.path[-1], message.span, *_owner(message.path)
        for field in message.fields:
            yield "field", field.name, field.span, *_IN_CLASS
    for enum in schema.enums.values():
        if enum.file not in schema.own:
            continue
        owner, existing = _owner(enum.path)
        yield "enum", enum.path[-1], enum.span, owner, existing
        for value in enum.values:
            if value.name in _ENUM_API - existing:
                yield "enum value", value.name, value.span, "enum class", _ENUM_API
            else:
                yield "enum value", value.name, value.span, owner, existing
