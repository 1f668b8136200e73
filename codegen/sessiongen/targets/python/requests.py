"""The model of requests.py: the request handlers, and `answer`."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.targets.python.naming import Namespace, access, plain
from sessiongen.ir.pairing import Call
from sessiongen.ir.roles import Roles
from sessiongen.ir.schema import Field, Kind
from sessiongen.targets.python.context import Context, request_docs
from sessiongen.targets.python.references import References


@dataclass(frozen=True)
class HandlerMethod:
    """The method that handles a request arm. `response_arm` is "" if nothing answers it."""

    name: str
    arm: str
    number: int
    payload: str
    result: str
    response_arm: str
    docs: str


@dataclass(frozen=True)
class RequestsModel:
    """requests.py.

    shared: whether the request's oneof has arms that are not requests.
    answered, oneway: whether some requests have a response, and whether some have none.
    copy_correlation: the statements that correlate a response.
    correlation: the correlation field of requests, if it is a string that does not have to be
        UTF-8; otherwise "".
    correlation_tag: the tag before its value in a response, or "" if it has to be UTF-8 there.
    read_correlation, set_correlation: the expression that reads this field of a request, and
        the statement that sets it in a response.
    set_error: the statement that sets an error text, or "" if responses have no field for it.
    typed_errors: whether response arms report errors.
    response_oneof: the name of the oneof of the response's arms.
    other_fields: the fields of responses beside the arms, the correlation and the error, which
        a handler sets by returning the whole response.
    clear_correlation: the response's field that a handler does not set, or "".
    """

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    handler: str
    request: str
    response: str
    request_name: str
    request_oneof: str
    shared: bool
    answered: bool
    oneway: bool
    copy_correlation: list[str]
    correlation: str
    correlation_tag: str
    read_correlation: str
    set_correlation: str
    set_error: str
    typed_errors: bool
    response_oneof: str
    other_fields: list[str]
    clear_correlation: str
    methods: list[HandlerMethod]


def requests_model(context: Context) -> RequestsModel:
    """Returns the model of requests.py."""
    roles = context.protocol.roles
    references = context.references()
    name = context.flat(roles.request.full_name)
    namespace = Namespace(f"{name}Handler", context.class_reserved)
    methods = [_method(context, references, namespace, call) for call in context.protocol.calls]
    context.faults += namespace.faults
    request = references.message(roles.request.full_name)
    answered = any(item.response_arm for item in methods)
    response = references.message(roles.response.full_name) if answered else ""
    unchecked = unchecked_correlation(roles)
    return RequestsModel(
        imports=references.imports,
        aliases=references.aliases,
        handler=f"{name}Handler",
        request=request,
        response=response,
        request_name=f"{roles.request.full_name}.{roles.request.oneof.name}",
        request_oneof=roles.request.oneof.name,
        shared=roles.request.arms != roles.request.oneof.arms,
        answered=answered,
        oneway=not all(item.response_arm for item in methods),
        copy_correlation=copy_correlation(roles),
        correlation=unchecked.name if unchecked else "",
        correlation_tag=_correlation_tag(roles),
        read_correlation=access("request", unchecked.name) if unchecked else "",
        set_correlation=assign("response", unchecked.name, "value") if unchecked else "",
        set_error=set_error(roles, 'well_formed(text) or "request failed"'),
        typed_errors=bool(roles.error_arms),
        response_oneof=roles.response.oneof.name,
        other_fields=[item.name for item in roles.other_response_fields] if answered else [],
        clear_correlation=roles.correlation.name if roles.correlation else "",
        methods=methods,
    )


def unchecked_correlation(roles: Roles) -> Field | None:
    """Returns the correlation field of requests if it is a string that does not have to be UTF-8."""
    field = roles.correlation
    if field is None or field.value.kind is not Kind.STRING or field.checked_utf8:
        return None
    return field


def _correlation_tag(roles: Roles) -> str:
    """Returns the literal of the tag of the responses' correlation; "" if it has to be UTF-8."""
    field = unchecked_correlation(roles)
    if field is None:
        return ""
    [copy] = [item for item in roles.response.outside() if item.name == field.name]
    return "" if copy.checked_utf8 else _tag(copy.number)


def _tag(number: int) -> str:
    """Returns the literal of the bytes that precede a string with a field number on the wire."""
    tag, rest = bytearray(), number << 3 | 2
    while rest > 0x7F:
        tag.append(rest & 0x7F | 0x80)
        rest >>= 7
    tag.append(rest)
    return 'b"' + "".join(f"\\x{byte:02x}" for byte in tag) + '"'


def copy_correlation(roles: Roles) -> list[str]:
    """Returns the statement that gives a response its request's correlation, if there is one."""
    correlation = roles.correlation
    if correlation is None:
        return []
    statement = assign("response", correlation.name, access("request", correlation.name))
    if unchecked_correlation(roles) is not None:
        statement = "copy_correlation(request, response)"
    if not correlation.presence:
        return [statement]
    return [f'if request.HasField("{correlation.name}"):', f"    {statement}"]


def set_error(roles: Roles, text: str) -> str:
    """Returns the statement that sets the error text of a response, or "" without such a text.

    The text is that of the error field, or else of the first error arm that has one.

    text: an expression that is never empty, because an empty text means no error.
    """
    if roles.error is not None:
        return assign("response", roles.error.name, text)
    item = roles.text_arm
    if item is None:
        return ""
    if item.text is None:
        return assign("response", item.arm.name, text)
    return assign(access("response", item.arm.name), item.text.name, text)


def assign(base: str, name: str, value: str) -> str:
    """Returns the statement that sets a field."""
    return f"{base}.{name} = {value}" if plain(name) else f'setattr({base}, "{name}", {value})'


def _method(
    context: Context, references: References, namespace: Namespace, call: Call
) -> HandlerMethod:
    return HandlerMethod(
        name=namespace.name(call.request.name, call.request.span),
        arm=call.request.name,
        number=call.request.number,
        payload=references.strict(call.request.value),
        result=_result(context.protocol.roles, references, call.response),
        response_arm=call.response.name if call.response else "",
        docs=request_docs(context.protocol, call),
    )


def _result(roles: Roles, references: References, response: Field | None) -> str:
    """Returns the type of what a handler returns."""
    if response is None:
        return "None"
    payload = references.strict(response.value)
    if not roles.may_be_whole(response):
        return payload
    return f"{payload} | {references.message(roles.response.full_name)}"
