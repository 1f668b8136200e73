"""Reads scopes: what a reader needs to know about an SDK before it reads the package.

A scope names what cannot be found by following definitions: where the package is published,
the module of its messages, the classes with a role, and definitions that must be readable.
Every other fact is reachable from these. The scope of an SDK is a TOML file beside its
vocabulary: `NAME.scope.toml` beside `NAME.json`. The names of the messages with a role are
those of the protocol, unless the scope says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path

from sessiongen.config.tables import Table, TableReader, read_companion
from sessiongen.diagnostics import Diagnostic, InputError, Rule, Span
from sessiongen.ir.roles import RoleMessage, Roles
from sessiongen.paths import display
from sessiongen.vocabulary.behaviour_scope import (
    BEHAVIOUR_KEYS,
    BehaviourScope,
    behaviour_scope,
)

LANGUAGES = ("python", "typescript")
_KEYS = (
    "language",
    "distribution",
    "package",
    "source",
    "required",
    "classes",
    "messages",
    "constants",
    *BEHAVIOUR_KEYS,
)
# What the address of a line of source contains.
_PLACEHOLDERS = ("version", "file", "line")
_CONSTANT_KEYS = ("definition", "value")
_CLASSES = ("session", "host", "driver")


@dataclass(frozen=True)
class MessageNames:
    """The names of the messages with a role, and of some of their fields, in an SDK's code.

    event_arm, request_arm: fields of the envelope that carry an event, a request.
    response_error: the field of a response for an error text.
    envelope, envelope_arm: the envelope, and its oneof.
    """

    event: str
    event_arm: str
    request: str
    request_arm: str
    response: str
    response_error: str
    envelope: str
    envelope_arm: str


@dataclass(frozen=True)
class FixedValue:
    """A value that the protocol fixes.

    name: what it is. definition: where the SDK has it: the name of a constant, or
    `Class.method.parameter` for a default. value: the value in the SDK's unit, as text.
    """

    name: str
    definition: str
    value: str


@dataclass(frozen=True)
class PackageSource:
    """Where a package is published.

    language: the language of its sources, which has one registry.
    distribution: its name in the registry. package: its name in the sources.
    """

    language: str
    distribution: str
    package: str


@dataclass(frozen=True)
class Scope(PackageSource):
    """Where an SDK's package is published and what its parts are called.

    protobuf: module (and exported name) of the messages.
    protobuf_distribution: the name of their package in the registry, or "".
    session, host, driver: the classes with a role; empty for one that is not to be read.
    messages: the names of the messages with a role.
    not_arms: the fields of these messages outside their oneofs, as `Message.field`, and the
        names of the oneofs, which some languages fill with a variable.
    response_oneof: the oneof of the response message.
    constants: the values that the protocol fixes.
    behaviour: what is read beside the fields of messages.
    required: definitions that must be readable; `Class.field` for the values of a field.
    """

    sdk: str
    protobuf: tuple[str, str]
    protobuf_distribution: str
    required: tuple[str, ...]
    session: str
    host: str
    driver: str
    messages: MessageNames
    not_arms: frozenset[str]
    response_oneof: str
    constants: tuple[FixedValue, ...]
    behaviour: BehaviourScope


def scope_file(vocabulary: Path) -> Path:
    """Returns the path of the scope file that belongs to a vocabulary file."""
    return vocabulary.with_suffix(".scope.toml")


def load_scope(vocabulary: Path, roles: Roles) -> Scope:
    """Returns the scope of the SDK of a vocabulary file.

    Raises:
        InputError: there is no scope file, or it has a key or value that is not allowed.
    """
    path = scope_file(vocabulary)
    companion = read_companion(path, "scope file")
    if companion is None:
        raise _missing_scope(path)
    text, data = companion
    tables = TableReader(path, text)
    scope = _scope(tables, data, vocabulary.stem, roles)
    if tables.faults:
        raise InputError(tables.faults)
    return scope


def source_template(vocabulary: Path) -> str:
    """Returns the address of a line of an SDK's source, with placeholders; "" if none is given.

    Raises:
        InputError: the scope file cannot be read.
    """
    companion = read_companion(scope_file(vocabulary), "scope file")
    return str(companion[1].get("source", "")) if companion else ""


def _source_faults(tables: TableReader, data: Table) -> None:
    template = tables.string(data, ("source",)) or ""
    missing = [name for name in _PLACEHOLDERS if f"{{{name}}}" not in template]
    if template and missing:
        fault = f"the address has no {{{missing[0]}}}"
        help_ = f"use each of {', '.join(f'{{{name}}}' for name in _PLACEHOLDERS)}"
        tables.fault(("source",), fault, help_)


def _scope(tables: TableReader, data: Table, sdk: str, roles: Roles) -> Scope:
    tables.only(data, (), _KEYS)
    language = tables.required_string(data, ("language",))
    if language and language not in LANGUAGES:
        fault = f"there is no reader for the language {language!r}"
        tables.fault(("language",), fault, f"languages: {', '.join(LANGUAGES)}")
    _source_faults(tables, data)
    classes = tables.table(data, "classes")
    tables.only(classes, ("classes",), _CLASSES)
    messages = tables.table(data, "messages")
    tables.only(
        messages,
        ("messages",),
        ("module", "name", "distribution", *(item.name for item in fields(MessageNames))),
    )
    names = _message_names(tables, messages, roles)
    session, host, driver = (tables.string(classes, ("classes", name)) or "" for name in _CLASSES)
    return Scope(
        sdk=sdk,
        language=language,
        distribution=tables.required_string(data, ("distribution",)),
        package=tables.required_string(data, ("package",)),
        protobuf=(
            tables.required_string(messages, ("messages", "module")),
            tables.required_string(messages, ("messages", "name")),
        ),
        protobuf_distribution=tables.string(messages, ("messages", "distribution")) or "",
        required=tuple(tables.strings(data, ("required",))),
        session=session,
        host=host,
        driver=driver,
        messages=names,
        not_arms=_fields_without_arms(names, roles),
        response_oneof=roles.response.oneof.name,
        constants=tuple(_constants(tables, tables.table(data, "constants"))),
        behaviour=behaviour_scope(tables, data, roles),
    )


def _constants(tables: TableReader, table: Table) -> Iterator[FixedValue]:
    for name in table:
        path = ("constants", name)
        entry = tables.table(table, name, ("constants",))
        tables.only(entry, path, _CONSTANT_KEYS)
        definition = tables.required_string(entry, (*path, "definition"))
        value = entry.get("value")
        if type(value) in (str, int, float):
            yield FixedValue(name, definition, value_text(value))
        else:
            help_ = "write the value that the SDK has there"
            tables.fault((*path, "value"), f"{name} has no string or number as its value", help_)


def value_text(value: object) -> str:
    """Returns a constant as text; a whole number is written without a fraction."""
    whole = isinstance(value, float) and value.is_integer()
    return str(int(value)) if whole and isinstance(value, float) else str(value)


def _message_names(tables: TableReader, table: Table, roles: Roles) -> MessageNames:
    configured = {
        item.name: tables.string(table, ("messages", item.name)) for item in fields(MessageNames)
    }
    names = {
        "event": roles.event.path[-1],
        "event_arm": _carrying_arm(roles, roles.event),
        "request": roles.request.path[-1],
        "request_arm": _carrying_arm(roles, roles.request),
        "response": roles.response.path[-1],
        "response_error": roles.error.name if roles.error else "",
        "envelope": roles.envelope.path[-1] if roles.envelope else "",
        "envelope_arm": roles.envelope.oneof.name if roles.envelope else "",
    }
    return MessageNames(**{name: configured[name] or value for name, value in names.items()})


def _carrying_arm(roles: Roles, message: RoleMessage) -> str:
    """Returns the arm of the envelope that carries a message, or ''."""
    arms = roles.envelope.arms if roles.envelope else ()
    return next((arm.name for arm in arms if arm.value.type_name == message.full_name), "")


def _fields_without_arms(names: MessageNames, roles: Roles) -> frozenset[str]:
    messages = [
        (names.event, roles.event),
        (names.request, roles.request),
        (names.response, roles.response),
    ]
    if roles.envelope is not None:
        messages.append((names.envelope, roles.envelope))
    return frozenset(
        f"{name}.{field}"
        for name, message in messages
        for field in (message.oneof.name, *(item.name for item in message.common_fields))
    )


def _missing_scope(path: Path) -> InputError:
    fault = "this SDK has no scope file, so its package cannot be read"
    help_ = "write the file; docs/configuration.md lists its keys"
    return InputError([Diagnostic(Span(display(path)), Rule.NO_SCOPE, fault, help_)])
