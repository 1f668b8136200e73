"""The protocol: a schema with its roles, its pairs of request and response, and its events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sessiongen.frontend.annotations import Annotated
from sessiongen.config.model import Config
from sessiongen.diagnostics import Diagnostic, InputError, Rule
from sessiongen.ir.enum_mapping import EnumBinding, bind, fallback_of, value_faults
from sessiongen.ir.role_inference import search
from sessiongen.ir.roles import Roles, union
from sessiongen.ir.schema import Enum, EnumValue, Field, Message, Oneof, Schema
from sessiongen.vocabulary.model import Vocabulary
from sessiongen.vocabulary.store import load


@dataclass(frozen=True)
class Call:
    """A request arm and the response arm that answers it."""

    request: Field
    response: Field


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
    found = search(schema, config)
    diagnostics = [*annotated.diagnostics, *found.diagnostics]
    request, response = (found.messages.get(role) for role in ("request", "response"))
    calls: tuple[Call, ...] = ()
    if request is not None and response is not None:
        calls = pair(request, response, annotated, diagnostics)
    roles = found.roles()
    if roles is None:
        raise InputError(diagnostics)
    events = tuple(_event(roles, arm, annotated) for arm in union(roles.event).arms)
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


def pair(
    request: Message, response: Message, annotated: Annotated, diagnostics: list[Diagnostic]
) -> tuple[Call, ...]:
    """Return each request arm with the arm that answers it; the others go to `diagnostics`."""
    answers = {arm.name: arm for arm in union(response).arms}
    calls = []
    for arm in union(request).arms:
        note = annotated.get(_full(request.full_name, arm), "response")
        answer = answers.get(note.value if note else arm.name)
        if answer is not None:
            calls.append(Call(arm, answer))
        elif note is not None:
            fault = f"{response.full_name} has no arm {note.value!r}"
            help_ = f"response arms: {', '.join(answers)}"
            diagnostics.append(Diagnostic(note.span, Rule.ANNOTATION, fault, help_))
        else:
            diagnostics.append(_unanswered(arm, request, response))
    used = {call.response.name for call in calls}
    diagnostics += [_unasked(arm, request) for name, arm in answers.items() if name not in used]
    return tuple(calls)


def _unanswered(arm: Field, request: Message, response: Message) -> Diagnostic:
    fault = f'request arm "{arm.name}" has no response arm'
    help_ = (
        f'add an arm "{arm.name}" to {response.full_name}, or name the one that '
        f'answers: [(sessiongen.response) = "..."] on it, or in codegen.toml '
        f'[annotations."{_full(request.full_name, arm)}"] response = "..."'
    )
    return Diagnostic(arm.span, Rule.UNPAIRED_ARM, fault, help_)


def _unasked(arm: Field, request: Message) -> Diagnostic:
    fault = f'response arm "{arm.name}" has no request arm'
    help_ = (
        f'add an arm "{arm.name}" to {request.full_name}, or name it as the answer of '
        f'one: [(sessiongen.response) = "{arm.name}"] on that, or in codegen.toml '
        f'[annotations."{request.full_name}.ARM"] response = "{arm.name}"'
    )
    return Diagnostic(arm.span, Rule.UNPAIRED_ARM, fault, help_)


def _misplaced(
    annotated: Annotated, roles: Roles, schema: Schema, diagnostics: list[Diagnostic]
) -> None:
    """Refuse an annotation on an element of the wrong kind."""
    requests = {_full(roles.request.full_name, arm) for arm in union(roles.request).arms}
    events = {_full(roles.event.full_name, arm) for arm in union(roles.event).arms}
    where = {"response": ("a request arm", requests), "sdk_event": ("an event arm", events)}
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
