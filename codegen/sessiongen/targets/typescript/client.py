"""The layer `client`: a typed method for each request."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.pairing import Call
from sessiongen.ir.schema import Field, Kind
from sessiongen.targets.typescript import naming
from sessiongen.targets.typescript.context import Context
from sessiongen.targets.typescript.layout import bracketed
from sessiongen.targets.typescript.requests import payload_type, request_docs


@dataclass(frozen=True)
class ClientMethod:
    """A method: its head up to the opening brace, and its statement."""

    name: str
    docs: str
    head: str
    call: str


@dataclass(frozen=True)
class ClientModel:
    """The client of a protocol.

    constructor: its head up to the opening brace. beside: the type of the fields of a request
    beside its arm; "" if it has none but the correlation. sent: the request of `#call`.
    """

    client: str
    beside: str
    sent: str
    constructor: str
    methods: tuple[ClientMethod, ...]


def client_model(context: Context) -> ClientModel:
    """Returns the methods in order of declaration."""
    name = f"{context.symbol(context.protocol.roles.request.full_name)}Client"
    names = method_names(context)
    methods = [_method(context, call, names[call.request.name]) for call in context.protocol.calls]
    calls = context.protocol.calls
    parameters = ["send: SendRequest"] if any(call.response for call in calls) else []
    parameters += ["sendOneway: SendOneway"] if not all(call.response for call in calls) else []
    constructor = bracketed("constructor(", parameters, ") {", 2)
    sent = _message(context, "sent")
    return ClientModel(name, _beside(context), sent, constructor, tuple(methods))


def _beside(context: Context) -> str:
    roles, binding = context.protocol.roles, context.binding
    if not _has_fields_beside(context):
        return ""
    own = [binding.oneof_property(roles.request.oneof), *binding.own_properties]
    own += map(binding.field_property, roles.request_roles)
    left_out = " | ".join(map(naming.quoted, own))
    return f"Omit<Init<{context.message_type(roles.request.full_name)}>, {left_out}>"


def _has_fields_beside(context: Context) -> bool:
    """Whether a request has fields that the caller fills beside the arm."""
    roles = context.protocol.roles
    return any(item not in roles.request_roles for item in roles.request.common_fields)


def method_names(context: Context) -> dict[str, str]:
    """Returns the name of each request's method by its arm: that of the SDK's driver, if any."""
    driver = context.vocabulary.driver if context.vocabulary else None
    sends = {item.arm: item.method for item in driver.sends} if driver else {}
    arms = [call.request.name for call in context.protocol.calls]
    names = {arm: sends.get(arm, naming.camel(arm)) for arm in arms}
    unique = len(set(names.values())) == len(names)
    return names if unique else {arm: naming.camel(arm) for arm in arms}


def _method(context: Context, call: Call, name: str) -> ClientMethod:
    roles = context.protocol.roles
    request = payload_type(context, roles.request.full_name, call.request)
    parameters, value = _parameters(context, call.request, request)
    arm = _arm(naming.quoted(context.binding.arm(call.request)), value)
    if call.response is None:
        beside = _has_fields_beside(context)
        result, options = "void", ["options: Beside = {}"] if beside else list[str]()
        statement = bracketed("return this.#sendOneway(", [_message(context, arm)], ");", 4)
    else:
        result = payload_type(context, roles.response.full_name, call.response)
        options = ["options: RequestOptions = {}"]
        expected = naming.quoted(context.binding.arm(call.response))
        statement = bracketed("return this.#call(", [arm, expected, "options"], ");", 4)
    return ClientMethod(
        name=naming.method(name),
        docs=request_docs(call),
        head=bracketed(
            f"{naming.method(name)}(", [*parameters, *options], f"): Promise<{result}> {{", 2
        ),
        call=statement,
    )


def _arm(name: str, value: str) -> str:
    """Returns an arm as an argument of a call, which has six columns of indentation."""
    return bracketed("{", [f"case: {name}", f"value: {value}"], "}", 6).strip()


def _message(context: Context, arm: str) -> str:
    """Returns a request with an arm, as an argument, which has six columns of indentation."""
    request = context.protocol.roles.request
    oneof = context.binding.oneof_property(request.oneof)
    entries = ["...options.fields"] if _has_fields_beside(context) else []
    entries += [f"{oneof}: {arm}" if arm != oneof else oneof]
    opened = context.binding.opened(context.message_type(request.full_name))
    return bracketed(f"{opened}{{", entries, "})", 6).strip()


def _parameters(context: Context, arm: Field, type_: str) -> tuple[list[str], str]:
    """Returns the parameters of a request's payload, and the payload made of them."""
    if arm.value.kind is not Kind.MESSAGE or not context.is_own(arm.value.type_name):
        return [f"value: {type_}"], "value"
    message = context.message(arm.value.type_name)
    if not message.fields:
        return [], context.binding.empty(type_)
    return [f"fields: Fields<{type_}>"], context.binding.made(type_, "fields")
