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
from sessiongen.ir.schema import Enum, EnumValue, Field, Oneof, Schema
from sessiongen.vocabulary.model import Vocabulary
from sessiongen.vocabulary.store import load


@dataclass(frozen=True)
class Event:
    """An event arm and the name of the event in the SDK."""

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
        """Returns the binding to the enum of an SDK; None if it has no such enum."""
        return None if vocabulary is None else self.bindings.get(vocabulary.sdk)


@dataclass(frozen=True)
class Protocol:
    """The input of a target.

    unions: the real oneofs of the protocol's own messages, in order of declaration.
    enums: the enums of the protocol's own files, in order of declaration.
    vocabularies: the vocabulary of each configured SDK.
    """

    schema: Schema
    roles: Roles
    unions: tuple[Oneof, ...]
    calls: tuple[Call, ...]
    events: tuple[Event, ...]
    enums: tuple[BoundEnum, ...]
    vocabularies: tuple[Vocabulary, ...]

    def vocabulary(self, language: str) -> Vocabulary | None:
        """Returns the vocabulary of the first configured SDK in a language, or None."""
        return next((item for item in self.vocabularies if item.language == language), None)


@dataclass(frozen=True)
class Assembled:
    """A protocol and its faults.

    protocol: None without roles or vocabularies; incomplete if there are faults.
    """

    protocol: Protocol | None
    diagnostics: list[Diagnostic]


def assemble(
    schema: Schema,
    annotated: Annotated,
    config: Config,
    vocabularies: tuple[Vocabulary, ...] | None = None,
) -> Assembled:
    """Returns the protocol of a schema, with its faults.

    They are roles that are missing or unclear, arms without a partner, and annotations of
    elements that do not exist.

    vocabularies: used in place of the files that the configuration names.
    """
    result = search(schema, config, annotated)
    diagnostics = [*annotated.diagnostics, *result.diagnostics]
    request, response = (result.messages.get(role) for role in ("request", "response"))
    calls: tuple[Call, ...] = ()
    if request is not None and response is not None:
        errors = [item.arm for item in result.error_arms]
        pairs = Pairing(request, response, errors, config, annotated).calls(diagnostics)
        answered = {call.request.name: call for call in pairs}
        # The names of arms without a partner can clash as well.
        calls = tuple(answered.get(arm.name, Call(arm, None)) for arm in request.arms)
    roles = result.roles()
    if roles is None:
        return Assembled(None, diagnostics)
    events = tuple(_event(roles, arm, annotated) for arm in roles.event.arms)
    if vocabularies is None:
        try:
            vocabularies = tuple(load(path) for path in config.sdks.vocabularies)
        except InputError as error:
            return Assembled(None, [*diagnostics, *error.diagnostics])
    enums = _enums(schema, annotated, vocabularies)
    bound = [item.enum for item in enums if item.bindings]
    diagnostics += value_faults(bound, annotated)
    _check_annotations(annotated, roles, schema, diagnostics)
    unions = tuple(item for message in schema.own_messages() for item in message.oneofs)
    protocol = Protocol(schema, roles, unions, calls, events, enums, vocabularies)
    return Assembled(protocol, diagnostics)


def _event(roles: Roles, arm: Field, annotated: Annotated) -> Event:
    annotation = annotated.get(_full(roles.event.full_name, arm), "sdk_event")
    return Event(arm, annotation.value if annotation else arm.name)


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


def _check_annotations(
    annotated: Annotated, roles: Roles, schema: Schema, diagnostics: list[Diagnostic]
) -> None:
    """Appends a fault for each annotation on an element of the wrong kind."""
    requests = {_full(roles.request.full_name, arm) for arm in roles.request.arms}
    events = {_full(roles.event.full_name, arm) for arm in roles.event.arms}
    arms = {_full(item.full_name, arm) for item in roles.messages() for arm in item.oneof.arms}
    places = {
        "response": ("a request arm", requests),
        "sdk_event": ("an event arm", events),
        "role": ("an arm of a message with a role", arms),
    }
    for annotation in annotated.by_element.values():
        if annotation.name in places and annotation.element not in places[annotation.name][1]:
            fault = f"{annotation.element} is not {places[annotation.name][0]}"
            help_ = f"{annotation.name} is only valid on {places[annotation.name][0]}; remove it"
            diagnostics.append(Diagnostic(annotation.span, Rule.ANNOTATION, fault, help_))
        if annotation.name == "unknown":
            values = [value.name for value in schema.enums[annotation.element].values]
            if annotation.value not in values:
                fault = f"{annotation.element} has no value {annotation.value!r}"
                help_ = f"values: {', '.join(values)}"
                diagnostics.append(Diagnostic(annotation.span, Rule.ANNOTATION, fault, help_))
