"""The event's encoder: its docs, and the arms whose sources carry no time."""

from __future__ import annotations

from sessiongen.ir.schema import Field, Value
from sessiongen.targets.python.context import Context


def arms_without_time(context: Context) -> list[str]:
    """Returns the event arms whose sources carry no time of the event.

    These are bare values, and payloads with a field of the time's name that is no time.
    """
    roles = context.protocol.roles
    time = roles.timestamp
    if time is None:
        return []
    return [arm.name for arm in roles.event.arms if _hides(context, arm.value, time)]


def _hides(context: Context, payload: Value, time: Field) -> bool:
    """Whether a payload has no plan, or a field of the time's name that is no time."""
    plan = context.plans.get(payload.type_name)
    if plan is None:
        return True
    same = [item for item in plan.message.fields if item.name == time.name]
    return any(item.repeated or item.key or item.value != time.value for item in same)


def event_docs(context: Context) -> str:
    """Returns the docs of the event's encoder."""
    roles = context.protocol.roles
    docs = "Returns the event of an arm, made from what the SDK emits"
    if roles.timestamp is not None:
        docs += ".\n\nIts time is that of the source, or the current time"
    unset = [item.name for item in roles.event.common_fields if item is not roles.timestamp]
    return f"{docs}.\n\nFields that stay unset: {', '.join(unset)}." if unset else f"{docs}."
