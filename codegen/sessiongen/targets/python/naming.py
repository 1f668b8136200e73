"""Names: converts protobuf names to Python names and reports clashes.

The form of a name depends on the name and fixed word lists only, so that a new arm never renames
another. If two names still become equal, the later one is refused.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Iterable, Iterator

from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.ir.name_case import snake
from sessiongen.ir.schema import Schema

_CAPITAL = re.compile(r"(?=[A-Z])")

# What stubs import under names of their own.
_STUB_IMPORTS = frozenset(
    "_abc _builtins _containers _descriptor _enum_type_wrapper _message _typing".split()
)

# Attributes of google.protobuf.message.Message; a field of such a name hides one.
MESSAGE_API = frozenset(
    "ByteSize Clear ClearExtension ClearField CopyFrom DESCRIPTOR DiscardUnknownFields "
    "Extensions FindInitializationErrors FromString HasExtension HasField IsInitialized "
    "ListFields MergeFrom MergeFromString ParseFromString RegisterExtension "
    "SerializePartialToString SerializeToString SetInParent UnknownFields WhichOneof".split()
)

# Names that a module of messages has of its own, in the code or in the stub.
MESSAGES_MODULE = frozenset(
    "DESCRIPTOR _builder _descriptor_pool _globals _runtime_version _sym_db _symbol_database "
    "_extension_dict _python_message _Never _TypeAlias sys".split()
)

# Names to which Python itself gives a meaning, on any class.
_PYTHONS_OWN = re.compile(r"__\w+__")

# Names that a stub gives to parts of an enum, and one that every metaclass has.
_ENUM_API = frozenset({"DESCRIPTOR", "ValueType", "mro"})

# What every enum has, and its stub's `V`: a value of such a name does not hide it.
ENUM_OWN = frozenset({"Name", "V", "Value", "items", "keys", "values"})


def identifier(name: str, reserved: frozenset[str] = frozenset()) -> str:
    """Return a name usable as a Python attribute and argument.

    Keywords and reserved names get a trailing underscore, or more where that is taken
    too; names that Python mangles or gives a meaning (`__x`) get a leading letter.
    """
    result = f"f{name}" if name.startswith("__") else name
    while keyword.iskeyword(result) or result in reserved:
        result += "_"
    return result


def plain(name: str) -> bool:
    """Whether `message.name` is valid Python and means the field."""
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")


def constant(name: str) -> str:
    """Return the UPPER_CASE form of a CamelCase name."""
    return snake(name).upper()


class Scope:
    """The names of one namespace in generated code; a second owner is a fault."""

    def __init__(self, what: str, reserved: Iterable[str] = ()) -> None:
        self.what = what
        self.reserved = frozenset(reserved)
        self._owners: dict[str, str] = {}
        self.faults: list[Diagnostic] = []

    def name(self, name: str, span: Span) -> str:
        """Claim the Python form of a name and return it."""
        result = identifier(name, self.reserved)
        self.claim(result, name, span)
        return result

    def claim(self, result: str, owner: str, span: Span) -> None:
        """Claim an exact Python name for an owner."""
        if result in self.reserved:
            fault = f"{owner!r} becomes {result!r}, which {self.what} needs for itself"
            self.faults.append(Diagnostic(span, Rule.NAME_CLASH, fault, "rename it in the .proto"))
            return
        first = self._owners.setdefault(result, owner)
        if first == owner:
            return
        fault = f"{owner!r} and {first!r} both become {result!r} in {self.what}"
        help_ = "rename one of the two in the .proto"
        self.faults.append(Diagnostic(span, Rule.NAME_CLASH, fault, help_))


def flat_names(paths: dict[str, tuple[str, ...]]) -> dict[str, str]:
    """Return a flat CamelCase name for each path of nested names, by full name.

    `Content.Status` becomes `ContentStatus`; where a top-level `ContentStatus` stands
    too, the nested one becomes `Content__Status`; those of one path in several proto
    packages carry the package in front, and underscores before capitals where nothing
    else tells them apart. Names differ in their snake_case form too.
    """
    names = {full: "".join(path) for full, path in paths.items()}
    forms: tuple[Callable[[str], str], ...] = (
        lambda full: "__".join(paths[full]),
        lambda full: full.replace(".", "_"),
        lambda full: _CAPITAL.sub("__", full.replace(".", "_")),
    )
    for form in forms:
        taken: dict[str, list[str]] = {}
        for full, name in names.items():
            taken.setdefault(snake(name), []).append(full)
        for group in taken.values():
            if len(group) > 1:
                names.update({full: form(full) for full in group})
    return names


def message_faults(schema: Schema) -> list[Diagnostic]:
    """Return a fault for each name that hides a part of protobuf's own Python code."""
    return [
        Diagnostic(
            span,
            Rule.NAME_CLASH,
            f"the {kind} {name!r} hides {name!r} of protobuf's own {owner}",
            f"rename the {kind}",
        )
        for kind, name, span, owner, hidden in _attributes(schema)
        if name in hidden or _PYTHONS_OWN.fullmatch(name)
    ]


_IN_CLASS = ("message class", MESSAGE_API | _STUB_IMPORTS)
_IN_MODULE = ("module", MESSAGES_MODULE | _STUB_IMPORTS)


def _owner(path: tuple[str, ...]) -> tuple[str, frozenset[str]]:
    """Return what a type becomes an attribute of, and the names that stand there already."""
    return _IN_CLASS if len(path) > 1 else _IN_MODULE


def _attributes(schema: Schema) -> Iterator[tuple[str, str, Span, str, frozenset[str]]]:
    """Yield each name that becomes a Python attribute: its kind, the name, its place, and
    what it becomes an attribute of, with the names that stand there already."""
    for message in schema.own_messages():
        yield "message", message.path[-1], message.span, *_owner(message.path)
        for field in message.fields:
            yield "field", field.name, field.span, *_IN_CLASS
    for enum in schema.enums.values():
        if enum.file not in schema.own:
            continue
        owner, hidden = _owner(enum.path)
        yield "enum", enum.path[-1], enum.span, owner, hidden
        for value in enum.values:
            yield "enum value", value.name, value.span, owner, hidden | _ENUM_API
