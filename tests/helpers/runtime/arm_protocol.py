"""A second protocol, for tests of the generic transports.

`Envelope` has a command with an `id`, a reply to it, and `frame`, the bytes of a camera frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_session.transport import MessageFormat
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import Message

_TYPES = descriptor_pb2.FieldDescriptorProto


def _file() -> descriptor_pb2.FileDescriptorProto:
    file = descriptor_pb2.FileDescriptorProto(
        name="arm_protocol_test.proto", package="arm_protocol_test", syntax="proto3"
    )
    for name in ("Command", "Reply"):
        call = file.message_type.add(name=name)
        call.field.add(name="id", number=1, type=_TYPES.TYPE_STRING, label=1)
        call.field.add(name="text", number=2, type=_TYPES.TYPE_STRING, label=1)
    envelope = file.message_type.add(name="Envelope")
    envelope.oneof_decl.add(name="content")
    for number, name in enumerate(("command", "reply"), 1):
        envelope.field.add(
            name=name,
            number=number,
            type=_TYPES.TYPE_MESSAGE,
            label=1,
            type_name=f".arm_protocol_test.{name.title()}",
            oneof_index=0,
        )
    # The tag of this number takes two bytes.
    envelope.field.add(name="frame", number=40, type=_TYPES.TYPE_BYTES, label=1, oneof_index=0)
    envelope.field.add(name="after", number=41, type=_TYPES.TYPE_STRING, label=1)
    envelope.field.add(name="late", number=42, type=_TYPES.TYPE_BYTES, label=1)
    envelope.field.add(name="count", number=43, type=_TYPES.TYPE_INT32, label=1, oneof_index=0)
    return file


_pool = descriptor_pool.DescriptorPool()
_pool.Add(_file())

if TYPE_CHECKING:
    # The class is created at run time, so type checkers do not know its fields.
    class Envelope(Message):
        command: Any
        reply: Any
        frame: bytes
        after: str

else:
    Envelope = message_factory.GetMessageClass(
        _pool.FindMessageTypeByName("arm_protocol_test.Envelope")
    )

ARM_FORMAT = MessageFormat(Envelope, droppable=("frame",))


def command(request_id: str, text: str = "") -> Envelope:
    envelope = Envelope()
    envelope.command.id = request_id
    envelope.command.text = text
    return envelope


def reply(request_id: str, text: str = "") -> Envelope:
    envelope = Envelope()
    envelope.reply.id = request_id
    envelope.reply.text = text
    return envelope


def camera_frame(size: int) -> Envelope:
    envelope = Envelope()
    envelope.frame = bytes(size)
    return envelope
