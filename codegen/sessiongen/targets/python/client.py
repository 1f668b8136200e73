"""The model of client.py: a typed method for each request."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

from sessiongen.targets.python.docstrings import entry
from sessiongen.targets.python.layout import quoted
from sessiongen.targets.python.naming import Namespace, access, plain
from sessiongen.ir.pairing import Call
from sessiongen.ir.schema import Field, Kind
from sessiongen.targets.python.context import Context, arm_docs, request_docs
from sessiongen.targets.python.errors import error_names
from sessiongen.targets.python.parameters import (
    Parameter,
    ParameterBuilder,
    construct,
    signature,
)

# The methods of a client that send no request of their own.
_OWN_NAMES = {"new_request", "send", "send_oneway"}


@dataclass(frozen=True)
class ClientMethod:
    """The method that sends a request and returns its response's payload.

    response_arm: "" if nothing answers the request.
    dynamic: whether the type of `read` is Any.
    empty: the expression of the payload if it has no fields, else "".
    """

    name: str
    arm: str
    response_arm: str
    result: str
    read: str
    dynamic: bool
    guards: list[str]
    empty: str
    signature: str
    request: str
    docs: str


@dataclass(frozen=True)
class ClientModel:
    """client.py.

    answered, oneway: whether some requests have a response, and whether some have none.
    error_classes: the exception for each response arm that reports an error.
    error: the expression that reads the error text of a response.
    failed: the expression that is true if a response has an error text.
    other_fields: the fields of responses that the methods do not return.
    """

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    values: list[str]
    client: str
    request: str
    response: str
    response_oneof: str
    answered: bool
    oneway: bool
    error_classes: dict[str, str]
    error: str
    failed: str
    other_fields: list[str]
    methods: list[ClientMethod]


def client_model(context: Context) -> ClientModel:
    """Returns the model of client.py."""
    roles = context.protocol.roles
    references = context.references()
    parameters = ParameterBuilder(
        context,
        references,
        context.reserved | {"timeout", "request", "response", "result", "_raise_unexpected"},
    )
    namespace = Namespace("the client", context.class_reserved | _OWN_NAMES)
    common = [item for item in roles.request.common_fields if item not in roles.request_roles]

    request = references.message(roles.request.full_name)

    def method(call: Call) -> ClientMethod:
        arm, response = call.request, call.response
        name = namespace.name(arm.name, arm.span)
        extra = parameters.common(name, common)
        payload_parameters = parameters.payload(name, arm, True, extra)
        payload = parameters.construct_payload(arm, payload_parameters)
        payload_argument = Parameter(arm.name, "", "", "", payload, False, "")
        return ClientMethod(
            name=name,
            arm=arm.name,
            response_arm=response.name if response else "",
            result=references.strict(response.value) if response else "None",
            read=access("response", response.name) if response else "",
            dynamic=response is not None and not plain(response.name),
            guards=[
                *parameters.guards(arm, payload_parameters),
                *parameters.oneof_guards(roles.request.other_oneofs, extra),
            ],
            signature=_signature(call, [*payload_parameters, *extra]),
            empty=_empty(arm, [*payload_parameters, *extra]),
            request=construct(request, [*extra, payload_argument]),
            docs=_docs(context, call, [*payload_parameters, *extra]),
        )

    methods = [method(call) for call in context.protocol.calls]
    context.faults += [*namespace.faults, *parameters.faults]
    # `imports` is complete only after all names have been resolved.
    answered = any(item.response_arm for item in methods)
    response = references.message(roles.response.full_name) if answered else ""
    return ClientModel(
        imports=references.imports,
        aliases=references.aliases,
        values=sorted(references.values),
        client=f"{context.flat(roles.request.full_name)}Client",
        request=request,
        response=response,
        response_oneof=roles.response.oneof.name,
        answered=answered,
        oneway=not all(item.response_arm for item in methods),
        error_classes=error_names(context) if answered else {},
        error=access("response", roles.error.name) if roles.error else "",
        failed=_failed(roles.error),
        other_fields=[item.name for item in roles.other_response_fields] if answered else [],
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


def _signature(call: Call, parameters: list[Parameter]) -> str:
    """Returns the parameters of a method, those without a default first."""
    ordered = sorted(parameters, key=lambda item: item.default != "")
    return signature(ordered, ["timeout: float | None = None"] if call.response else [])


def _empty(arm: Field, parameters: list[Parameter]) -> str:
    """Returns the expression of a payload without fields, or ""."""
    if parameters or arm.value.kind is not Kind.MESSAGE:
        return ""
    return access("request", arm.name)


def _docs(context: Context, call: Call, parameters: list[Parameter]) -> str:
    """Returns a method's docs: the request's, those of its fields, and the response payload's."""
    parts = [request_docs(context.protocol, call)]
    described = [entry(item.name, item.docs) for item in parameters if item.docs]
    if described:
        parts.append("\n".join(["Args:", *described]))
    result = arm_docs(context.protocol, call.response) if call.response else ""
    if result:
        parts.append("Returns:\n" + indent(result, "    "))
    return "\n\n".join(parts)
