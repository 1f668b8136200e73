"""Summarises a message in one or a few lines.

Common messages have special summaries. All other messages, including those that are new in the
protocol, are summarised by their fields.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, TypeAlias

from agent_session_protocol import agent_session_pb2 as pb
from agent_session_protocol.values import unknown_field
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import Error as JsonError
from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

# A FieldDescriptor. `Any`, since protobuf has two unrelated classes for it.
_Field: TypeAlias = Any

_PACKAGE: Final = f"{pb.DESCRIPTOR.package}."

# The prefixes of enum values that are shown in lower case and without the prefix. Other values are
# shown by their full name.
_PREFIX: Final = re.compile(r"(?:AS|US|TC|TR)_")

NOTHING: Final = "(nothing)"
_UNNAMED: Final = "unnamed"

# The types of fields that are shown without their name if no other field is set.
_SELF_EXPLANATORY: Final = (FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_STRING)

# The types of fields that are left out when they are empty. Zero numbers are shown.
_OMITTED_IF_EMPTY: Final = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)


def summarize(message: Message) -> str:
    """Returns a summary of a message. It is one line of any length, and never empty."""
    special = _SPECIAL.get(message.DESCRIPTOR.full_name.removeprefix(_PACKAGE))
    return (_fields(message) if special is None else special(message)) or NOTHING


def summary_lines(message: Message) -> Iterator[str]:
    """Yields a line for each field of a message, and for each item of a repeated message field."""
    fields = _shown(message)
    for field, value in fields:
        label = "" if len(fields) == 1 and _is_repeated(value) else f"{field.name}: "
        for text in _items(field, value):
            yield f"{label}{text}"


def _items(field: _Field, value: Any) -> Iterable[str]:
    """Returns a summary of each item of a field."""
    if (list_field := _list_field(value)) is not None:
        return _items(list_field, getattr(value, list_field.name))
    if _is_map(field):
        return [_pair(key, item) for key, item in sorted(value.items())]
    if _is_repeated(value) and field.message_type is not None:
        return [summarize(item) for item in value] or [NOTHING]
    return [_text(field, value)]


def _list_field(value: Any) -> _Field | None:
    """Returns the field of a message whose only field is a list of messages, or None."""
    fields = value.DESCRIPTOR.fields if isinstance(value, Message) else []
    if len(fields) != 1 or fields[0].message_type is None or _is_map(fields[0]):
        return None
    return fields[0] if _is_repeated(getattr(value, fields[0].name)) else None


def describe_unknown(message: Message) -> str:
    """Returns a summary of a message whose arm this build does not know, or that has none."""
    number = unknown_field(message)
    return NOTHING if number is None else f"unknown field {number}"


def format_time(time: Timestamp) -> str:
    """Returns the local time of day."""
    try:
        local = datetime.fromtimestamp(time.seconds)
    except (ValueError, OverflowError, OSError):
        return "--:--:--.---"  # out of range: a peer may send any number
    return f"{local:%H:%M:%S}.{time.nanos // 1_000_000 % 1000:03}"


# Summaries of any message.


def _fields(message: Message) -> str:
    oneofs = [oneof for oneof in message.DESCRIPTOR.oneofs if _is_union(oneof)]
    if len(oneofs) == 1 and len(oneofs[0].fields) == len(message.DESCRIPTOR.fields):
        return _union(message, oneofs[0].name)
    fields = _shown(message)
    if len(fields) == 1 and fields[0][0].type in _SELF_EXPLANATORY:
        return _text(*fields[0])
    return ", ".join(f"{field.name} {_text(field, value)}" for field, value in fields)


def _union(message: Message, name: str) -> str:
    arm = message.WhichOneof(name)
    if arm is None:
        return describe_unknown(message)
    field = message.DESCRIPTOR.fields_by_name[arm]
    return f"{arm} {_text(field, getattr(message, arm))}"


def _shown(message: Message) -> list[tuple[_Field, Any]]:
    """Returns the fields to show: those that are set, and numbers without presence."""
    present = {field.number for field, _ in message.ListFields()}
    fields = ((field, getattr(message, field.name)) for field in message.DESCRIPTOR.fields)
    return [
        (field, value)
        for field, value in fields
        if field.number in present or _is_shown_at_zero(field, value)
    ]


def _is_shown_at_zero(field: _Field, value: Any) -> bool:
    return (
        field.type not in _OMITTED_IF_EMPTY and not field.has_presence and not _is_repeated(value)
    )


def _text(field: _Field, value: Any) -> str:
    if _is_map(field):
        return _joined(_pair(key, item) for key, item in sorted(value.items()))
    if _is_repeated(value):
        # The summary of a message may contain commas.
        separator = ", " if field.message_type is None else "; "
        return separator.join(_item(field, item) for item in value)
    return _item(field, value)


def _pair(key: object, value: Any) -> str:
    return f"{_value(key)} = {_value(value)}"


def _item(field: _Field, value: Any) -> str:
    return _value(value) if field.enum_type is None else _name(field, value)


def _value(value: Any) -> str:
    if isinstance(value, Timestamp):
        return format_time(value)
    if isinstance(value, Duration):
        return f"{value.seconds + value.nanos / 1e9:g} s"
    if isinstance(value, Message):
        return summarize(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value) or NOTHING


def _name(field: _Field, number: int) -> str:
    """Returns the name of an enum value."""
    value = field.enum_type.values_by_number.get(number)
    return f"unknown {number}" if value is None else str(value.name)


def _joined(items: Iterable[str]) -> str:
    return ", ".join(items)


def _is_repeated(value: Any) -> bool:
    return not isinstance(value, (Message, str, bytes, int, float))


def _is_map(field: _Field) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _is_union(oneof: Any) -> bool:
    """Reports whether a oneof was declared, unlike the synthetic oneof of an optional field."""
    return len(oneof.fields) > 1 or not oneof.name.startswith("_")


# Special summaries. They are registered by name, since an older protocol may lack some messages.


def _state_changed(message: Any) -> str:
    old, new = _short_name(message, "old_state"), _short_name(message, "new_state")
    return new if old == new else f"{old} → {new}"


def _short_name(message: Message, name: str) -> str:
    """Returns the value of an enum field in lower case, without its prefix."""
    field = message.DESCRIPTOR.fields_by_name[name]
    return _PREFIX.sub("", _name(field, getattr(message, name)), count=1).lower()


def _transcribed(message: Any) -> str:
    notes = _joined(filter(None, ("" if message.is_final else "interim", message.language)))
    return _spaced(message.transcript, notes and f"({notes})")


def _chat_item(item: Any) -> str:
    arm = item.WhichOneof("item")
    return describe_unknown(item) if arm is None else summarize(getattr(item, arm))


def _chat_message(message: Any) -> str:
    text = "\n".join(map(summarize, message.content))
    text = _spaced(text, "(interrupted)" if message.interrupted else "")
    return f"{_short_name(message, 'role')}: {text or NOTHING}"


def _content(part: Any) -> str:
    return part.text or describe_unknown(part)


def _call(call: Any) -> str:
    arguments = call.arguments
    return f"{_called(call)}({'' if arguments == '{}' else arguments})"


def _output(output: Any) -> str:
    return f"{_called(output)} {_result(output)}"


def _called(part: Any) -> str:
    """Returns the name of a call or of its output."""
    return part.name or part.call_id or _UNNAMED


def _result(output: Any) -> str:
    return f"{'failed:' if output.is_error else '→'} {output.output or NOTHING}"


def _executed(message: Any) -> str:
    outputs = {output.call_id: output for output in message.function_call_outputs}
    parts = [
        _spaced(_call(call), _result(outputs[call.call_id]) if call.call_id in outputs else "")
        for call in message.function_calls
    ]
    calls = {call.call_id for call in message.function_calls}
    parts += [_output(output) for call_id, output in outputs.items() if call_id not in calls]
    return "; ".join(parts)


def _handoff(handoff: Any) -> str:
    old = f" from {handoff.old_agent_id}" if handoff.old_agent_id else ""
    return f"{handoff.new_agent_id or _UNNAMED} takes over{old}"


def _config(update: Any) -> str:
    parts = [f"+{name or _UNNAMED}" for name in update.tools_added]
    parts += [f"-{name or _UNNAMED}" for name in update.tools_removed]
    if update.HasField("instructions"):
        parts.append(f"instructions: {_value(update.instructions)}")
    return f"config {_joined(parts) or NOTHING}"


def _ended(ended: Any) -> str:
    # TC_RUNNING is the zero value, so the status was not set.
    status = "" if ended.status == pb.TC_RUNNING else _short_name(ended, "status")
    return ": ".join(filter(None, (status, ended.message)))


def _model_usage(usage: Any) -> str:
    counts = [
        f"{field.name.removesuffix('_tokens')} {_text(field, value)}"
        for field, value in usage.ListFields()
        if field.name not in ("provider", "model")
    ]
    model = "/".join(filter(None, (usage.provider, usage.model))) or _UNNAMED
    return f"{model}: {_joined(counts) or NOTHING}"


def _closed(closed: Any) -> str:
    field = closed.DESCRIPTOR.fields_by_name["reason"]
    return _name(field, closed.reason) + (f": {closed.error}" if closed.error else "")


def _spaced(*texts: str) -> str:
    return " ".join(filter(None, texts))


def _json(struct: Any) -> str:
    try:
        return json.dumps(MessageToDict(struct), ensure_ascii=False)
    except (JsonError, ValueError):
        return "(not valid JSON)"  # such as an infinite number


_EVENT: Final = "AgentSessionEvent"
_SPECIAL: Final[Mapping[str, Callable[[Any], str]]] = {
    f"{_EVENT}.AgentStateChanged": _state_changed,
    f"{_EVENT}.UserStateChanged": _state_changed,
    f"{_EVENT}.UserInputTranscribed": _transcribed,
    f"{_EVENT}.FunctionToolsExecuted": _executed,
    f"{_EVENT}.ToolExecutionUpdated.Ended": _ended,
    f"{_EVENT}.SessionClosed": _closed,
    "ChatContext.ChatItem": _chat_item,
    "ChatMessage": _chat_message,
    "ChatMessage.ChatContent": _content,
    "FunctionCall": _call,
    "FunctionCallOutput": _output,
    "AgentHandoff": _handoff,
    "AgentConfigUpdate": _config,
    "LLMModelUsage": _model_usage,
    "TTSModelUsage": _model_usage,
    "STTModelUsage": _model_usage,
    "InterruptionModelUsage": _model_usage,
    "EotModelUsage": _model_usage,
    "google.protobuf.Struct": _json,
}
