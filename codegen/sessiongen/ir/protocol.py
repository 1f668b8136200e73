"""The protocol: a schema with its roles, its pairs of request and response, and its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sessiongen.frontend.annotations import Annotated
from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Rule
from sessiongen.ir.enum_mapping import EnumBinding, bind, fallback_of, value_faults
from sessiongen.ir.role_inference import search
from sessiongen.ir.pairing import Call, Pairing
from sessiongen.ir.roles import Roles
from sessiongen.ir.schema import Enum, EnumValue, Field, Message, Oneof, Schema
from sessiongen.vocabulary.model import Vocabulary
from sessiongen.vocabulary.store import load


@dataclass(frozen=True)
class Event:
    """An event arm and the name under which the SDK emits the event."""

    arm: Field
    sdk_event: str


@dataclass(frozen=True)
class BoundEnum:
    """An enum, its fallback if it declares one, and its bindings.

    bindings: the enum of each SDK that has one with this meaning, by the name of the SDK.
    """

    enum: Enum
    fallback: EnumValue | None
    bindings: Mapping[str, EnumBinding]

    def binding(self, vocabulary: Vocabulary | None) -> EnumBinding | None:
        """Return the binding to the enum of an SDK; None if it has no such enum."""
        return None if vocabulary is None else self.bindings.get(vocabulary.sdk)


@dataclass(frozen=True)
class Protocol:
    """All that a target needs to know.

    unions: every real oneof of the protocol's own messages, in order of declaration.
    enums: every enum of the protocol's own files, in order of declaration.
    vocabularies: the facts of each configured SDK.
    """

    schema: Schema
    roles: Roles
    unions: tuple[Oneof, ...]
    calls: tuple[Call, ...]
    events: tuple[Event, ...]
    enums: tuple[BoundEnum, ...]
    vocabularies: tuple[Vocabulary, ...]

    def vocabulary(self, language: str) -> Vocabulary | None:
        """Return the vocabulary of the first configured SDK in a language, or None."""
        return next((item for item in self.vocabularies if item.language == language), None)


def assemble(schema: Schema, annotated: Annotated, config: Config) -> Protocol:
    """Return the protocol of a schema.

    Raises:
        InputError: a role is missing or unclear, an arm has no partner, or an
            annotation names nothing.
    """
    found = search(schema, config, annotated)
    diagnostics = [*annotated.diagnostics, *found.diagnostics]
    request, response = (found.messages.get(role) for role in ("request", "response"))
    calls: tuple[Call, ...] = ()
    if request is not None and response is not None:
        errors = [item.arm for item in found.error_arms]
        calls = Pairing(request, response, errors, config, annotated).calls(diagnostics)
    roles = found.roles()
    if roles is None:
        raise InputError(diagnostics)
    events = tuple(_event(roles, arm, annotated) for arm in roles.event.arms)
    vocabularies = tuple(load(path) for path in config.sdks.vocabularies)
    enums = _enums(schema, annotated, vocabularies)
    bound = [item.enum for item in enums if item.bindings]
    diagnostics += value_faults(bound, annotated)
    _misplaced(annotated, roles, schema, diagnostics)
    if diagnostics:
        raise InputError(diagnostics)
    unions = tuple(item for message in schema.own_messages() for item in message.oneofs)
    return Protocol(schema, roles, unions, calls, events, enums, vocabularies)


def _event(roles: Roles, arm: Field, annotated: Annotated) -> Event:
    note = annotated.get(_full(roles.event.full_name, arm), "sdk_event")
    return Event(arm, note.value if note else arm.name)


def _enums(
    schema: Schema, annotated: Annotated, vocabularies: tuple[Vocabulary, ...]
) -> tuple[BoundEnum, ...]:
    return tuple(
        BoundEnum(enum, fallback_of(enum, annotated), _bindings(enum, annotated, vocabularies))
        for enum in schema.enums.values()
        if enum.file in schema.own
    )


def _bindings(
    enum: Enum, annotated: Annotated, vocabularies: tuple[Vocabulary, ...]
) -> dict[str, EnumBinding]:
    pairs = [(item.sdk, bind(enum, annotated, item)) for item in vocabularies]
    return {sdk: binding for sdk, binding in pairs if binding is not None}


def _full(message: str, field: Field) -> str:
    return f"{message}.{field.name}"


def _misplaced(
    annotated: Annotated, roles: Roles, schema: Schema, diagnostics: list[Diagnostic]
) -> None:
    """Refuse an annotation on an element of the wrong kind."""
    requests = {_full(roles.request.full_name, arm) for arm in roles.request.arms}
    events = {_full(roles.event.full_name, arm) for arm in roles.event.arms}
    arms = {_full(item.full_name, arm) for item in roles.messages() for arm in item.oneof.arms}
    where = {
        "response": ("a request arm", requests),
        "sdk_event": ("an event arm", events),
        "role": ("an arm of a message with a role", arms),
    }
    for note in annotated.by_element.values():
        if note.name in where and note.element not in where[note.name][1]:
            fault = f"{note.element} is not {where[note.name][0]}"
            help_ = f"{note.name} belongs on {where[note.name][0]}; remove it here"
            diagnostics.append(Diagnostic(note.span, Rule.ANNOTATION, fault, help_))
        if note.name == "unknown":
            values = [value.name for value in schema.enums[note.element].values]
            if note.value not in values:
                fault = f"{note.element} has no value {note.value!r}"
                help_ = f"values: {', '.join(values)}"
                diagnostics.append(Diagnostic(note.span, Rule.ANNOTATION, fault, help_))
