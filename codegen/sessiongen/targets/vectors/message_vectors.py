"""Messages of each arm of each oneof, with their bytes and their canonical JSON.

They are made from the descriptors alone, so that an implementation that is tested with them is
compared with the schema and not with other generated code.
"""

from __future__ import annotations

import json
from typing import Any, cast

from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from sessiongen.ir.model import Model
from sessiongen.ir.schema import Oneof
from sessiongen.targets.vectors.field_values import EDGE, SATURATED
from sessiongen.targets.vectors.filling import Filler, fill_required
from sessiongen.targets.vectors.layout import Entry, json_file

# The largest field number, and the largest varint: ten bytes.
_LARGEST_NUMBER = 2**29 - 1
_LARGEST_VARINT = b"\xff" * 9 + b"\x01"

KINDS = ("empty", "saturated", "edge")


def file_name(oneof: Oneof) -> str:
    """Returns the name of a oneof's file: its full name."""
    return f"{oneof.message}.{oneof.name}.json"


def message_vectors(model: Model) -> dict[str, str]:
    """Returns a file for each oneof of the protocol's own messages."""
    maker = _Maker(model)
    return {file_name(oneof): maker.file(oneof) for oneof in model.protocol.unions}


class _Maker:
    def __init__(self, model: Model) -> None:
        self._pool = descriptor_pool.DescriptorPool()
        for item in model.annotated.files:
            self._pool.Add(item)
        messages = model.protocol.schema.messages.values()
        oneofs = [oneof for message in messages for oneof in message.oneofs]
        self._saturated = Filler(SATURATED, oneofs)
        self._edge = Filler(EDGE, oneofs)

    def file(self, oneof: Oneof) -> str:
        """Returns the text of a oneof's file."""
        fields = self._pool.FindMessageTypeByName(oneof.message).fields_by_name
        entries = [
            self._entry(fields[arm.name], kind, message)
            for arm in oneof.arms
            for kind, message in zip(KINDS, self._messages(fields[arm.name]), strict=True)
        ]
        return json_file({"message": oneof.message, "oneof": oneof.name}, "vectors", entries)

    def _entry(self, arm: FieldDescriptor, kind: str, message: Message) -> Entry:
        data = json_format.MessageToDict(message, descriptor_pool=self._pool)
        return {
            "name": f"{arm.name}.{kind}",
            "arm": arm.name,
            "number": arm.number,
            "hex": message.SerializePartialToString(deterministic=True).hex(),
            # The entries of maps have no order of their own.
            "json": json.loads(json.dumps(data, sort_keys=True)),
        }

    def _messages(self, arm: FieldDescriptor) -> tuple[Message, Message, Message]:
        """Returns the messages of an arm in the order of the kinds."""
        assert arm.containing_type is not None
        new = message_factory.GetMessageClass(arm.containing_type)
        saturated, edge = new(), new()
        self._saturated.fill(saturated, arm.number, arm)
        self._edge.fill(edge, arm.number, arm)
        _add_unknown_field(edge, arm)
        return _empty(new(), arm), saturated, edge


def _empty(message: Any, arm: FieldDescriptor) -> Message:
    """Returns a message in which an arm is set and empty, and nothing else is set."""
    fill_required(message)
    if arm.message_type is None:
        setattr(message, arm.name, arm.default_value)
    else:
        getattr(message, arm.name).SetInParent()
        fill_required(getattr(message, arm.name))
        if arm.message_type.full_name == "google.protobuf.Value":
            # A value of no kind has no JSON.
            getattr(message, arm.name).null_value = 0
    return cast(Message, message)


def _add_unknown_field(message: Any, arm: FieldDescriptor) -> None:
    """Adds a field that the schema lacks: beside those of the arm, or of the message itself."""
    holder = message if arm.message_type is None else getattr(message, arm.name)
    number = _LARGEST_NUMBER
    while number in holder.DESCRIPTOR.fields_by_number:
        number -= 1
    holder.MergeFromString(_varint(number << 3) + _LARGEST_VARINT)


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])
