"""The model of requests.py: the request handlers, and `answer`."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.targets.python.naming import Scope, plain
from sessiongen.ir.protocol import Call
from sessiongen.ir.roles import union
from sessiongen.ir.schema import Field
from sessiongen.targets.python.context import Context, request_docs
from sessiongen.targets.python.parameters import access
from sessiongen.targets.python.references import References


@dataclass(frozen=True)
class HandlerMethod:
    """The method that handles a request arm."""

    name: str
    arm: str
    number: int
    payload: str
    result: str
    read: str
    response_arm: str
    docs: str


@dataclass(frozen=True)
class RequestsModel:
    """requests.py. `carry` correlates a response; `fail` sets its error text, if it has one."""

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    handler: str
    request: str
    response: str
    request_name: str
    request_oneof: str
    carry: list[str]
    fail: str
    methods: list[HandlerMethod]


def requests_model(context: Context) -> RequestsModel:
    """Return the model of requests.py."""
    roles = context.protocol.roles
    references = context.references()
    name = context.flat(roles.request.full_name)
    scope = Scope(f"{name}Handler", context.class_reserved)
    methods = [_method(context, references, scope, call) for call in context.protocol.calls]
    context.faults += scope.faults
    request = references.message(roles.request.full_name)
    response = references.message(roles.response.full_name)
    return RequestsModel(
        imports=references.imports,
        aliases=references.aliases,
        handler=f"{name}Handler",
        request=request,
        response=response,
        request_name=f"{roles.request.full_name}.{union(roles.request).name}",
        request_oneof=union(roles.request).name,
        carry=carry(roles.correlation),
        fail=fail(roles.error, 'well_formed(text) or "request failed"'),
        methods=methods,
    )


def carry(correlation: Field | None) -> list[str]:
    """Return the statement that gives a response its request's correlation, if there is one."""
    if correlation is None:
        return []
    statement = assign("response", correlation.name, access("request", correlation.name))
    if not correlation.presence:
        return [statement]
    return [f'if request.HasField("{correlation.name}"):', f"    {statement}"]


def fail(error: Field | None, text: str) -> str:
    """Return the statement that sets a response's error text, if it has one.

    text: an expression that is never empty, as a reader takes an empty text for no error.
    """
    return "" if error is None else assign("response", error.name, text)


def assign(base: str, name: str, value: str) -> str:
    """Return the statement that sets a field."""
    return f"{base}.{name} = {value}" if plain(name) else f'setattr({base}, "{name}", {value})'


def _method(context: Context, references: References, scope: Scope, call: Call) -> HandlerMethod:
    return HandlerMethod(
        name=scope.name(call.request.name, call.request.span),
        arm=call.request.name,
        number=call.request.number,
        payload=references.strict(call.request.value),
        result=references.strict(call.response.value),
        read=access("request", call.request.name),
        response_arm=call.response.name,
        docs=request_docs(context.protocol, call, f"Handles the request `{call.request.name}`."),
    )
