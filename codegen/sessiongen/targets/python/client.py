"""The model of client.py: a typed method for each request."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

from sessiongen.targets.python.docstrings import entry
from sessiongen.targets.python.layout import LINE_LENGTH, quoted
from sessiongen.targets.python.naming import Scope, plain
from sessiongen.ir.protocol import Call
from sessiongen.ir.roles import union
from sessiongen.ir.schema import Field, Kind
from sessiongen.targets.python.context import Context, arm_docs, request_docs
from sessiongen.targets.python.parameters import (
    Parameter,
    ParameterBuilder,
    access,
    construct,
)


@dataclass(frozen=True)
class ClientMethod:
    """The method that sends a request and returns its response's payload.

    dynamic: `read` has no type of its own.
    empty: the payload's expression where there is nothing to fill in, else "".
    """

    name: str
    arm: str
    response_arm: str
    result: str
    read: str
    dynamic: bool
    guards: list[str]
    empty: str
    parameters: list[Parameter]
    request: str
    docs: str


@dataclass(frozen=True)
class ClientModel:
    """client.py.

    error: reads the text of a response's error.
    failed: whether a response has an error: by presence, or by its text without presence.
    """

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    values: list[str]
    client: str
    request: str
    response: str
    response_oneof: str
    error: str
    failed: str
    methods: list[ClientMethod]


def client_model(context: Context) -> ClientModel:
    """Return the model of client.py."""
    roles = context.protocol.roles
    references = context.references()
    parameters = ParameterBuilder(
        context.protocol.schema,
        references,
        context.reserved | {"timeout", "request", "response", "result", "_check"},
    )
    scope = Scope("the client", context.class_reserved | {"send"})
    special = {roles.correlation.name} if roles.correlation else set()
    beside = [item for item in roles.request.outside() if item.name not in special]

    def method(call: Call) -> ClientMethod:
        arm = call.request
        name = scope.name(arm.name, arm.span)
        extra = parameters.beside(name, beside)
        given = parameters.payload(name, arm, True, extra)
        payload = parameters.construct_payload(arm, given)
        filled = Parameter(arm.name, "", "", "", payload, False, "")
        return ClientMethod(
            name=name,
            arm=arm.name,
            response_arm=call.response.name,
            result=references.strict(call.response.value),
            read=access("response", call.response.name),
            dynamic=not plain(call.response.name),
            guards=parameters.guards(arm, given),
            parameters=sorted([*given, *extra], key=lambda item: item.default != ""),
            empty=_empty(arm, [*given, *extra]),
            request=construct(references.message(roles.request.full_name), [*extra, filled]),
            docs=_docs(context, call, [*given, *extra]),
        )

    methods = [method(call) for call in context.protocol.calls]
    context.faults += [*scope.faults, *parameters.faults]
    # Every name is resolved before the imports are read.
    request = references.message(roles.request.full_name)
    response = references.message(roles.response.full_name)
    return ClientModel(
        imports=references.imports,
        aliases=references.aliases,
        values=sorted(references.values),
        client=f"{context.flat(roles.request.full_name)}Client",
        request=request,
        response=response,
        response_oneof=union(roles.response).name,
        error=access("response", roles.error.name) if roles.error else "",
        failed=_failed(roles.error),
        methods=methods,
    )


def _failed(error: Field | None) -> str:
    if error is None:
        return ""
    return (
        f"response.HasField({quoted(error.name)})"
        if error.presence
        else access("response", error.name)
    )


def _empty(arm: Field, parameters: list[Parameter]) -> str:
    """Return the expression of a payload that has nothing to fill in, or ""."""
    if parameters or arm.value.kind is not Kind.MESSAGE:
        return ""
    return access("request", arm.name)


def _docs(context: Context, call: Call, parameters: list[Parameter]) -> str:
    """Return a method's docs: the request's, those of its fields, and the response payload's."""
    parts = [request_docs(context.protocol, call, f"Sends the request `{call.request.name}`.")]
    width = LINE_LENGTH - 8
    described = [entry(item.name, item.docs, width) for item in parameters if item.docs]
    if described:
        parts.append("\n".join(["Args:", *described]))
    result = arm_docs(context.protocol, call.response)
    if result:
        parts.append("Returns:\n" + indent(result, "    "))
    return "\n\n".join(parts)
