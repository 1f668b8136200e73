"""Expressions for messages and enums in generated Python, and their imports."""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass

from sessiongen.targets.python.installed_messages import InstalledModule
from sessiongen.diagnostics import Diagnostic, Rule, Span
from sessiongen.ir.name_case import flat_names
from sessiongen.targets.python.layout import quoted
from sessiongen.targets.python.naming import access, constant
from sessiongen.ir.schema import Enum, Field, Kind, Message, Schema, Value
from sessiongen.frontend.well_known import module, is_well_known

_NATURAL = {
    "google.protobuf.Timestamp": ("TimestampLike", "to_timestamp"),
    "google.protobuf.Duration": ("DurationLike", "to_duration"),
    "google.protobuf.Struct": ("StructLike", "to_struct"),
}


# The Python type of a single value; protobuf represents enum values as numbers.
SCALAR_TYPES = {
    Kind.BOOL: "bool",
    Kind.INT: "int",
    Kind.FLOAT: "float",
    Kind.STRING: "str",
    Kind.BYTES: "bytes",
    Kind.ENUM: "int",
}
# The zero value of a single scalar, as an expression.
ZERO_VALUES = {
    Kind.BOOL: "False",
    Kind.INT: "0",
    Kind.FLOAT: "0.0",
    Kind.STRING: '""',
    Kind.BYTES: 'b""',
}


@dataclass(frozen=True)
class MessageModule:
    """A module of messages: its alias in generated code and the statement that imports it."""

    alias: str
    statement: str
    enum_types: bool = True
    oneof_literals: bool = True
    optional_bools: bool = True


@dataclass(frozen=True)
class MessageModules:
    """The modules of messages by proto file, and flat names by full name.

    types: the names of aliases for types whose name is not valid in an expression.
    """

    by_file: Mapping[str, MessageModule]
    flat: Mapping[str, str]
    types: frozenset[str]

    @property
    def aliases(self) -> frozenset[str]:
        """The names of modules and aliases in generated files."""
        return frozenset(item.alias for item in self.by_file.values()) | self.types


def modules(schema: Schema, main: str, installed: Mapping[str, InstalledModule]) -> MessageModules:
    """Returns the import of each proto file's messages; the alias of `main` is `pb`."""
    by_file: dict[str, MessageModule] = {}
    types: list[Message | Enum] = [*schema.messages.values(), *schema.enums.values()]
    used_aliases: set[str] = set()
    # Well-known files come last: a file of the protocol may have the same name.
    for file in sorted({item.file for item in types}, key=_google_last):
        alias = "pb" if file == main else _own_name(file)
        while alias in used_aliases:
            alias = f"google_{alias}" if is_well_known(file) else f"{alias}_"
        used_aliases.add(alias)
        by_file[file] = _imported(file, alias, installed)
    aliases = frozenset(
        _alias(by_file[item.file].alias, item.path) for item in types if _needs_alias(item.path)
    )
    return MessageModules(by_file, flat_names(_paths(schema)), aliases)


def _google_last(file: str) -> tuple[bool, str]:
    return is_well_known(file), file


def _own_name(file: str) -> str:
    """Returns the alias of a file's module, a name that Python does not mangle inside a class."""
    name = module(file)[1] if is_well_known(file) else module_name(file)
    return name.lstrip("_") if name.startswith("__") else name


def _imported(file: str, alias: str, installed: Mapping[str, InstalledModule]) -> MessageModule:
    if file in installed:
        installed_module = installed[file]
        package, _, name = installed_module.name.rpartition(".")
        statement = f"from {package} import {name}" if package else f"import {name}"
        renamed = f" as {alias}" if alias != name else ""
        return MessageModule(
            alias,
            statement + renamed,
            installed_module.enum_types,
            installed_module.oneof_literals,
            installed_module.optional_bools,
        )
    package, name = module(file) if is_well_known(file) else (".", module_name(file))
    renamed = f" as {alias}" if alias != name else ""
    return MessageModule(alias, f"from {package} import {name}{renamed}")


def _paths(schema: Schema) -> dict[str, tuple[str, ...]]:
    """Returns the nested names of each message, and of each oneof except the main ones."""
    paths = {item.full_name: item.path for item in schema.own_messages()}
    for message in schema.own_messages():
        for oneof in message.oneofs:
            if not oneof.main:
                own = "".join(part.capitalize() for part in oneof.name.split("_"))
                paths[f"{message.full_name}.{oneof.name}"] = (*message.path, own)
    return paths


def _needs_alias(path: tuple[str, ...]) -> bool:
    """Whether a type needs an alias: its name is a keyword, or mangled inside a class."""
    return any(keyword.iskeyword(part) or part.startswith("__") for part in path)


def _alias(module: str, path: tuple[str, ...]) -> str:
    """Returns the alias of a type such as `pb.None`."""
    return f"{module}_{'_'.join(path)}"


def module_name(file: str) -> str:
    """Returns the Python module of a proto file: folders joined, as one identifier."""
    stem = re.sub(r"\W", "_", file.removesuffix(".proto"), flags=re.ASCII)
    return ("_" if stem[:1].isdigit() else "") + f"{stem}_pb2"


def module_faults(own: tuple[str, ...], span: Span) -> list[Diagnostic]:
    """Returns a fault for each file whose Python module has the same name as another."""
    seen: dict[str, str] = {}
    faults = []
    for file in own:
        other = seen.setdefault(module_name(file).lower(), file)
        if other != file:
            fault = f"{file!r} and {other!r} both become the module {module_name(file)!r}"
            faults.append(Diagnostic(span, Rule.NAME_CLASH, fault, "rename one of the two files"))
    return faults


def newer(references: References, definition: Message | Enum) -> str:
    """Returns the expression for a class that older messages lack, which is None there."""
    expression = references.module(definition.file)
    for part in definition.path:
        expression = f"getattr({expression}, {quoted(part)}, None)"
    return expression


class References:
    """Returns expressions for types in a generated file, and collects its imports."""

    def __init__(
        self, schema: Schema, modules_: MessageModules, newer: frozenset[str] = frozenset()
    ) -> None:
        self._schema = schema
        self._newer = newer
        self._modules = modules_
        self._imports: set[str] = set()
        self._aliases: dict[tuple[str, str], str] = {}
        self._presence: dict[str, tuple[str, str]] = {}
        self.values: set[str] = set()

    @property
    def optional_bools(self) -> bool:
        """Whether all constructors take None for a bool that can be absent."""
        return all(item.optional_bools for item in self._modules.by_file.values())

    def message(self, full_name: str) -> str:
        """Returns the expression for a message class."""
        definition = self._schema.messages[full_name]
        return self._type(definition.file, definition.path)

    def enum(self, full_name: str) -> str:
        """Returns the type of an enum's values in the stub; the oldest stub lacks newer enums."""
        if full_name in self._newer:
            return "Any"
        definition = self._schema.enums[full_name]
        name = self._type(definition.file, definition.path)
        return f"{name}.ValueType" if self._modules.by_file[definition.file].enum_types else name

    def enum_class(self, full_name: str) -> str:
        """Returns the expression for an enum."""
        definition = self._schema.enums[full_name]
        return self._type(definition.file, definition.path)

    def presence(self, message: Message, field: Field) -> str:
        """Returns the constant that says whether the installed messages have a field."""
        name = f"_HAS_{constant(self._modules.flat[message.full_name])}_{field.name.upper()}"
        self._presence[name] = (self.message(message.full_name), field.name)
        return name

    def module(self, file: str) -> str:
        """Returns the alias of a file's module."""
        imported = self._modules.by_file[file]
        self._imports.add(imported.statement)
        return imported.alias

    def strict(self, value: Value) -> str:
        """Returns the type of a value in protobuf's Python API."""
        if value.kind is Kind.MESSAGE:
            return self.message(value.type_name)
        if value.kind is Kind.ENUM:
            return self.enum(value.type_name)
        return SCALAR_TYPES[value.kind]

    def natural(self, value: Value) -> tuple[str, str]:
        """Returns the type of a value as an argument, and its converter or ''."""
        if value.type_name in _NATURAL:
            names = _NATURAL[value.type_name]
            self.values.update(names)
            return names
        if value.kind is Kind.STRING:
            self.values.add("to_text")
            return "str", "to_text"
        return self.strict(value), ""

    def runtime_class(self, value: Value) -> str:
        """Returns an expression for the class of a value at run time."""
        if value.kind is Kind.ENUM:
            return "int"
        return self.strict(value)

    def oneof_literals(self, full_name: str) -> bool:
        """Whether the stub types WhichOneof of this message with Literals."""
        return self._modules.by_file[self._schema.messages[full_name].file].oneof_literals

    @property
    def imports(self) -> list[str]:
        """The import statements of all used modules, sorted as isort does."""
        return sorted(self._imports, key=lambda line: (line.startswith("from ."), line))

    @property
    def aliases(self) -> list[tuple[str, str, str]]:
        """(alias, stub's expression, runtime expression) of types that need an alias."""
        return [(alias, stub, runtime) for (stub, runtime), alias in self._aliases.items()]

    @property
    def newer(self) -> list[tuple[str, str, str]]:
        """(constant, message, field) of fields whose presence is asked for."""
        return [(name, *item) for name, item in self._presence.items()]

    def _type(self, file: str, path: tuple[str, ...]) -> str:
        module = self.module(file)
        if not _needs_alias(path):
            return ".".join((module, *path))
        # mypy-protobuf declares a class named by a keyword as _r_<keyword>.
        stub = ".".join((module, *(f"_r_{p}" if keyword.iskeyword(p) else p for p in path)))
        runtime = module
        for part in path:
            runtime = access(runtime, part)
        return self._aliases.setdefault((stub, runtime), _alias(module, path))
