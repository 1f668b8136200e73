"""What a message says, in a few words.

Comes in: a message of the protocol, of any kind. Goes out: one line for people, or several. What
often comes has words of its own; all else, and so what the protocol gains, is told by its fields.
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
from google.protobuf.struct_pb2 import Struct
from google.protobuf.timestamp_pb2 import Timestamp

# A FieldDescriptor; protobuf has two classes of it, with nothing in common for a type checker.
_Field: TypeAlias = Any

_PACKAGE: Final = f"{pb.DESCRIPTOR.package}."

# What values of enums that are told as words begin with. The names of other enums are known as
# they are.
_PREFIX: Final = re.compile(r"(?:AS|US|TC|TR)_")

# What needs no name beside it where it is all there is.
_SPEAKING: Final = (FieldDescriptor.TYPE_MESSAGE, FieldDescriptor.TYPE_STRING)

# What says something at zero too.
_CHOICES: Final = (FieldDescriptor.TYPE_BOOL, FieldDescriptor.TYPE_ENUM)


def gist(message: Message) -> str:
    """What a message says, in one line, which may be long."""
    special = _SPECIAL.get(message.DESCRIPTOR.full_name.removeprefix(_PACKAGE))
    return _fields(message) if special is None else special(message)


def rows(message: Message) -> Iterator[str]:
    """What a message says, a line for each thing in it."""
    fields = _shown(message)
    for field, value in fields:
        label = "" if len(fields) == 1 and _is_repeated(value) else f"{field.name}: "
        if _is_map(field):
            yield from (f"{label}{key} = {_value(item)}" for key, item in sorted(value.items()))
        elif _is_repeated(value) and field.message_type is not None:
            yield from (f"{label}{gist(item)}" for item in value)
        else:
            yield f"{label}{_text(field, value)}"


def unknown(message: Message) -> str:
    """What can be said of a message with no arm set that this build knows."""
    number = unknown_field(message)
    return "nothing" if number is None else f"something unknown, field {number}"


def clock(time: Timestamp) -> str:
    """A time of the day, as the clock on the wall has it."""
    try:
        moment = datetime.fromtimestamp(time.seconds)
    except (ValueError, OverflowError, OSError):
        return "--:--:--.---"  # a peer may send any number
    return f"{moment:%H:%M:%S}.{time.nanos // 1_000_000 % 1000:03}"


# Messages of any kind.


def _fields(message: Message) -> str:
    oneofs = [oneof for oneof in message.DESCRIPTOR.oneofs if _is_union(oneof)]
    if len(oneofs) == 1 and len(oneofs[0].fields) == len(message.DESCRIPTOR.fields):
        return _union(message, oneofs[0].name)
    fields = _shown(message)
    if len(fields) == 1 and fields[0][0].type in _SPEAKING:
        return _text(*fields[0])
    return ", ".join(f"{field.name} {_text(field, value)}" for field, value in fields)


def _union(message: Message, name: str) -> str:
    arm = message.WhichOneof(name)
    if arm is None:
        return unknown(message)
    field = message.DESCRIPTOR.fields_by_name[arm]
    return f"{arm} {_text(field, getattr(message, arm))}".rstrip()


def _shown(message: Message) -> list[tuple[_Field, Any]]:
    """The fields that say something: those that are set, and those whose zero has a meaning."""
    present = {field.number for field, _ in message.ListFields()}
    fields = ((field, getattr(message, field.name)) for field in message.DESCRIPTOR.fields)
    return [
        (field, value)
        for field, value in fields
        if field.number in present or _zero_counts(field, value)
    ]


def _zero_counts(field: _Field, value: Any) -> bool:
    return field.type in _CHOICES and not field.has_presence and not _is_repeated(value)


def _text(field: _Field, value: Any) -> str:
    if _is_map(field):
        return _joined(f"{key} = {_value(item)}" for key, item in sorted(value.items()))
    if _is_repeated(value):
        return _joined(_item(field, item) for item in value)
    return _item(field, value)


def _item(field: _Field, value: Any) -> str:
    return _value(value) if field.enum_type is None else _name(field, value)


def _value(value: Any) -> str:
    if isinstance(value, Timestamp):
        return clock(value)
    if isinstance(value, Duration):
        return f"{value.seconds + value.nanos / 1e9:g} s"
    if isinstance(value, Message):
        return gist(value)
    if isinstance(value, bytes):
        return f"{len(value)} bytes"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _name(field: _Field, number: int) -> str:
    """The name of an enum's value; a number that this build does not know stays one."""
    value = field.enum_type.values_by_number.get(number)
    return str(number) if value is None else str(value.name)


def _joined(items: Iterable[str]) -> str:
    return ", ".join(items)


def _is_repeated(value: Any) -> bool:
    return not isinstance(value, (Message, str, bytes, int, float))


def _is_map(field: _Field) -> bool:
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def _is_union(oneof: Any) -> bool:
    """Whether a oneof is one, rather than what protobuf makes of an optional field."""
    return len(oneof.fields) > 1 or not oneof.name.startswith("_")


# Messages with words of their own, by name: those of a protocol that is older than this file may
# be missing.


def _change(message: Any) -> str:
    old, new = _word(message, "old_state"), _word(message, "new_state")
    return new if old == new else f"{old} → {new}"


def _word(message: Message, name: str) -> str:
    field = message.DESCRIPTOR.fields_by_name[name]
    return _PREFIX.sub("", _name(field, getattr(message, name)), count=1).lower()


def _transcribed(message: Any) -> str:
    notes = ([] if message.is_final else ["interim"]) + ([message.language] or [])
    kept = ", ".join(filter(None, notes))
    return f"{message.transcript} ({kept})" if kept else str(message.transcript)


def _chat_item(item: Any) -> str:
    arm = item.WhichOneof("item")
    return unknown(item) if arm is None else gist(getattr(item, arm))


def _chat_message(message: Any) -> str:
    text = "\n".join(part.text for part in message.content)
    return f"{_word(message, 'role')}: {text}" + (" (interrupted)" if message.interrupted else "")


def _call(call: Any) -> str:
    arguments = call.arguments
    return f"{call.name}({'' if arguments == '{}' else arguments})"


def _output(output: Any) -> str:
    return f"{output.name or output.call_id} {_result(output)}"


def _result(output: Any) -> str:
    return f"{'failed:' if output.is_error else '→'} {output.output or '(nothing)'}"


def _executed(message: Any) -> str:
    outputs = {output.call_id: output for output in message.function_call_outputs}
    return _joined(
        f"{_call(call)} {_result(outputs[call.call_id]) if call.call_id in outputs else ''}".strip()
        for call in message.function_calls
    )


def _handoff(handoff: Any) -> str:
    old = f" from {handoff.old_agent_id}" if handoff.old_agent_id else ""
    return f"{handoff.new_agent_id} takes over{old}"


def _config(update: Any) -> str:
    parts = [f"+{name}" for name in update.tools_added]
    parts += [f"-{name}" for name in update.tools_removed]
    if update.HasField("instructions"):
        parts.append(f"instructions: {update.instructions}")
    return f"config {_joined(parts)}"


def _ended(ended: Any) -> str:
    status = _word(ended, "status")
    return f"{status}: {ended.message}" if ended.HasField("message") else status


def _model_usage(usage: Any) -> str:
    counts = [
        f"{field.name.removesuffix('_tokens')} {_text(field, value)}"
        for field, value in usage.ListFields()
        if field.name not in ("provider", "model")
    ]
    return f"{usage.provider}/{usage.model}: {', '.join(counts)}"


def _closed(closed: Any) -> str:
    field = closed.DESCRIPTOR.fields_by_name["reason"]
    return _name(field, closed.reason) + (f": {closed.error}" if closed.error else "")


def _json(struct: Any) -> str:
    try:
        return json.dumps(MessageToDict(struct), ensure_ascii=False)
    except (JsonError, ValueError):
        return "(no JSON)"  # an infinite number, say


_EVENT: Final = "AgentSessionEvent"
_SPECIAL: Final[Mapping[str, Callable[[Any], str]]] = {
    f"{_EVENT}.AgentStateChanged": _change,
    f"{_EVENT}.UserStateChanged": _change,
    f"{_EVENT}.UserInputTranscribed": _transcribed,
    f"{_EVENT}.FunctionToolsExecuted": _executed,
    f"{_EVENT}.ToolExecutionUpdated.Ended": _ended,
    f"{_EVENT}.SessionClosed": _closed,
    "ChatContext.ChatItem": _chat_item,
    "ChatMessage": _chat_message,
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
