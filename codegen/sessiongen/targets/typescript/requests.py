"""The layer `requests`: the interface of a host's handler, and the function that answers."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.pairing import Call
from sessiongen.ir.roles import Roles
from sessiongen.ir.schema import Field, Kind
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.context import Context
from sessiongen.targets.typescript.layout import bracketed


@dataclass(frozen=True)
class Method:
    """The handler of a request, and the arms of the request and its response.

    arm, response: as string literals; `response` is "" if nothing answers the request.
    declaration: of the method in the interface.
    whole: whether the handler may return a whole response.
    """

    name: str
    arm: str
    response: str
    docs: str
    declaration: str
    refusal: str
    whole: bool


@dataclass(frozen=True)
class RequestsModel:
    """The requests of a protocol.

    answered, oneway: whether some requests have a response, and whether some have none.
    shared: the table of the arms if the request's message has arms that are no requests.
    correlation, error: the properties of these roles; "" if the protocol lacks one.
    failed: whether a response has an error, as an expression.
    text_arm: the response arm, as an object, that holds the error text in `text`; or "".
    typed_errors: whether response arms report errors, and their literals.
    other_fields: the properties of responses beside the arms, the correlation and the error, which
        a handler sets by returning the whole response.
    whole: the expression that is true if `value` is a whole response.
    """

    handler: str
    request: str
    response: str
    request_oneof: str
    response_oneof: str
    answered: bool
    oneway: bool
    shared: str
    correlation: str
    error: str
    failed: str
    text_arm: str
    typed_errors: tuple[str, ...]
    other_fields: tuple[str, ...]
    whole: str
    methods: tuple[Method, ...]


def requests_model(context: Context) -> RequestsModel:
    """Returns the requests in order of declaration."""
    roles = context.protocol.roles
    request, response = roles.request.oneof, roles.response.oneof
    methods = tuple(_method(context, call) for call in context.protocol.calls)
    answered = roles.response.present and any(item.response for item in methods)
    message = context.message_type(roles.response.full_name) if answered else ""
    shared = roles.request.arms != request.arms
    return RequestsModel(
        handler=f"{context.symbol(roles.request.full_name)}Handler",
        request=context.message_type(roles.request.full_name),
        response=message,
        request_oneof=context.binding.oneof_property(request),
        response_oneof=context.binding.oneof_property(response) if answered else "",
        answered=answered,
        oneway=not all(item.response for item in methods),
        shared=f"{naming.constant(context.union_symbol(request))}_ARMS" if shared else "",
        correlation=_property(context, roles.correlation),
        error=_property(context, roles.error),
        failed=_failed(context, roles.error),
        text_arm=_text_arm(context, roles),
        typed_errors=tuple(
            naming.quoted(context.binding.arm(item.arm)) for item in roles.error_arms
        ),
        other_fields=_other_fields(context) if answered else (),
        whole=context.binding.is_message(message) if answered else "",
        methods=methods,
    )


def _other_fields(context: Context) -> tuple[str, ...]:
    roles = context.protocol.roles
    names = [
        context.binding.field_property(item)
        for item in roles.other_response_fields
        if item.oneof is None
    ]
    names += [context.binding.oneof_property(item) for item in roles.response.other_oneofs]
    return tuple(names)


def request_docs(call: Call) -> str:
    """Returns the comment of a request's arm, and its numbers."""
    numbers = f"Request arm {call.request.number}"
    if call.response is not None:
        numbers += f", answered by {call.response.name} ({call.response.number})"
    return "\n\n".join(text for text in (call.request.docs, f"{numbers}.") if text)


def payload_type(context: Context, owner: str, arm: Field) -> str:
    """Returns the type of an arm's value."""
    if _is_own_message(context, arm):
        return context.message_type(arm.value.type_name)
    oneof = next(item for item in context.message(owner).oneofs if item.name == arm.oneof)
    return f"ValueOf<{context.union_type(oneof)}, {naming.quoted(context.binding.arm(arm))}>"


def _is_own_message(context: Context, arm: Field) -> bool:
    return arm.value.kind is Kind.MESSAGE and context.is_own(arm.value.type_name)


def _property(context: Context, field: Field | None) -> str:
    return "" if field is None else context.binding.field_property(field)


def _failed(context: Context, error: Field | None) -> str:
    if error is None:
        return ""
    response = context.protocol.roles.response.full_name
    if context.has_defaults(response) and error.presence:
        schema = context.binding.schema(context.message_type(response))
        return f"isFieldSet(response, {schema}.field.{context.binding.field_property(error)})"
    empty = "undefined" if error.presence else "''"
    return f"response.{context.binding.field_property(error)} !== {empty}"


def _text_arm(context: Context, roles: Roles) -> str:
    item = roles.text_arm
    if item is None:
        return ""
    name = _property(context, item.text)
    value = f"{{ {name}: text }}" if name else "text"
    return f"{{ case: {naming.quoted(context.binding.arm(item.arm))}, value: {value} }}"


def _method(context: Context, call: Call) -> Method:
    roles = context.protocol.roles
    name = naming.camel(call.request.name)
    request = payload_type(context, roles.request.full_name, call.request)
    head, number = f"{naming.method(name)}(", call.request.number
    result = _result(context, call)
    return Method(
        name=naming.method(name),
        arm=naming.quoted(context.binding.arm(call.request)),
        response=naming.quoted(context.binding.arm(call.response)) if call.response else "",
        docs=request_docs(call),
        declaration=bracketed(head, [f"request: {request}"], f"): Awaitable<{result}>;", 2),
        refusal=naming.quoted(f"unimplemented request: {call.request.name} (field {number})"),
        whole=call.response is not None and roles.may_be_whole(call.response),
    )


def _result(context: Context, call: Call) -> str:
    """Returns the type of what a handler returns."""
    if call.response is None:
        return "void"
    message = context.protocol.roles.response.full_name
    response = payload_type(context, message, call.response)
    payload = f"Init<{response}>" if _is_own_message(context, call.response) else response
    if not context.protocol.roles.may_be_whole(call.response):
        return payload
    return f"{payload} | {context.message_type(message)}"
