"""The model of errors.py: the payload beside an error text, and a class for each error arm."""

from __future__ import annotations

from dataclasses import dataclass

from sessiongen.ir.roles import ErrorArm
from sessiongen.ir.schema import Kind
from sessiongen.targets.python.context import Context, payload_docs
from sessiongen.targets.python.naming import Namespace, access, identifier
from sessiongen.targets.python.references import SCALAR_TYPES

_OWN_NAMES = frozenset(
    "Exception Message RequestError UnexpectedArmError UnknownArmError UnmappedValueError "
    "ValueError".split()
)


@dataclass(frozen=True)
class ErrorClass:
    """The exception for an error arm.

    text: the expression for its message.
    """

    name: str
    arm: str
    number: int
    payload: str
    text: str
    docs: str


@dataclass(frozen=True)
class ErrorsModel:
    """errors.py.

    requests: whether the protocol has requests.
    payload: the type of the payload beside an error text; "" if there is none.
    any_payload: the type of the payload of any error.
    """

    imports: list[str]
    aliases: list[tuple[str, str, str]]
    requests: bool
    payload: str
    any_payload: str
    classes: list[ErrorClass]


def errors_model(context: Context) -> ErrorsModel:
    """Returns the model of errors.py."""
    roles = context.protocol.roles
    references = context.references()
    names = error_names(context)
    classes = [
        ErrorClass(
            name=names[item.arm.name],
            arm=item.arm.name,
            number=item.arm.number,
            payload=references.strict(item.arm.value),
            text=_text(item),
            docs=item.arm.docs or payload_docs(context.protocol, item.arm),
        )
        for item in roles.error_arms
    ]
    kinds = [arm.value.kind for arm in roles.response.arms]
    plain = {SCALAR_TYPES[kind] for kind in kinds if kind is not Kind.MESSAGE}
    message = ["Message"] if Kind.MESSAGE in kinds else []
    payload = " | ".join([*message, *sorted(plain), "None"])
    beside_text = roles.error is not None or not roles.error_arms
    return ErrorsModel(
        imports=references.imports,
        aliases=references.aliases,
        requests=roles.request.present,
        payload=payload if beside_text else "",
        any_payload=payload,
        classes=classes,
    )


def error_names(context: Context) -> dict[str, str]:
    """Returns the name of the exception for each error arm."""
    namespace = Namespace("errors.py", _OWN_NAMES | context.class_reserved)
    names = {}
    for item in context.protocol.roles.error_arms:
        arm = item.arm
        # The owner is the arm: `throttled` and `throttled_error` would have the same class.
        names[arm.name] = identifier(_class_name(arm.name), namespace.reserved)
        namespace.claim(names[arm.name], arm.name, arm.span)
    context.faults += [item for item in namespace.faults if item not in context.faults]
    return names


def _class_name(arm: str) -> str:
    name = "".join(part[:1].upper() + part[1:] for part in arm.split("_"))
    return name if name.endswith("Error") else f"{name}Error"


def _text(item: ErrorArm) -> str:
    """Returns the expression for the message of an error, from its payload."""
    if item.text is not None:
        return access("payload", item.text.name)
    return "payload" if item.has_text else "str(payload)"
