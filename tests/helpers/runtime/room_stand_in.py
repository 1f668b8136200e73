"""A stand-in for the native library of livekit and for the server, without a network.

It answers the requests of the real classes of `livekit.rtc` (`Room`, `LocalParticipant`,
`ByteStreamReader`, `ByteStreamWriter`) with the events of the library, in the order observed with
livekit-server 1.9.11. Streams arrive in chunks, and concurrent streams are interleaved.
`livekit_server.py` runs the same tests with a real server.
"""

from __future__ import annotations

import asyncio
import os
import random
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Any

from livekit import rtc
from livekit.rtc import _ffi_client
from livekit.rtc._proto import data_stream_pb2, ffi_pb2, room_pb2

CHUNK = 15_000
LEFT = rtc.DisconnectReason.CLIENT_INITIATED
DELETED = rtc.DisconnectReason.ROOM_DELETED

Step = Callable[[], None]


@dataclass
class Member:
    """A connection to the room."""

    identity: str
    room_handle: int
    participant_handle: int
    ready: bool = False
    early: list[room_pb2.RoomEvent] = field(default_factory=list)


@dataclass
class Stream:
    """A byte stream at one receiver."""

    sender: Member
    receiver: Member
    reader: int
    total: int | None
    seen: int = 0
    ended: bool = False
    reading: bool = False
    early: list[ffi_pb2.FfiEvent] = field(default_factory=list)


class StandIn:
    """The library and one room of the server.

    Attributes:
        held: whether the delivery of streams is paused.
        stuck: whether the transmission of sends is paused.
        refusal: the error of all sends; None if they succeed.
        mute: whether rooms that disconnect get no "disconnected", as happens with the library.
        overlap: the largest number of concurrent sends.
        handles: the handles that the library has returned and that were not dropped.
        opened: the header of each stream, with its sender and its destinations.
    """

    def __init__(self, seed: int = 0) -> None:
        self.held = False
        self.stuck = False
        self.refusal: str | None = None
        self.mute = False
        self.overlap = 0
        self.handles: set[int] = set()
        self.opened: list[tuple[str, data_stream_pb2.StreamByteOptions]] = []
        self.queue = _ffi_client.FfiQueue[ffi_pb2.FfiEvent]()
        self._pid = os.getpid()
        self._ffi_lib = self
        self._random = random.Random(seed)
        self._numbers = count(1 << 40)
        self._loop = asyncio.get_running_loop()
        self._members: dict[str, Member] = {}
        self._streams: dict[int, Stream] = {}
        self._writers: dict[int, list[Stream]] = {}
        self._jobs: list[deque[Step]] = []
        self._ticking = False
        self._rooms: list[rtc.Room] = []

    # For tests.

    async def join(self, identity: str) -> rtc.Room:
        room = rtc.Room()
        self.own(room)
        await room.connect("stand-in", identity)
        return room

    def own(self, room: rtc.Room) -> None:
        """Registers a room that is about to connect, so that `leave_all` disconnects it."""
        self._rooms.append(room)

    async def leave_all(self) -> None:
        """Disconnects all rooms, and checks that no listener, stream or timer is left.

        Removes the handles of the rooms, which would call the library when they are deleted.
        """
        for room in self._rooms:
            assert not any(room._events.values()) and not room._byte_stream_readers
            await room.disconnect()
            await room._task
            room._ffi_handle = None
        timers = [each for each in getattr(self._loop, "_scheduled") if not each.cancelled()]
        owners = [type(getattr(each._callback, "__self__", None)).__module__ for each in timers]
        assert not [owner for owner in owners if owner.startswith("agent_session.")]
        await asyncio.sleep(0)  # runs the done callbacks of the rooms' tasks

    def release(self) -> None:
        self.held = self.stuck = False
        self._tick_soon()

    def take_one(self) -> None:
        """Transmits the oldest send, even if `stuck` is set."""
        job = self._jobs.pop(0)
        while job:
            job.popleft()()

    async def delete_room(self) -> None:
        for member in list(self._members.values()):
            self.drop(member.identity, DELETED)

    async def remove(self, identity: str) -> None:
        self.drop(identity, rtc.DisconnectReason.PARTICIPANT_REMOVED)

    def drop(self, identity: str, reason: rtc.DisconnectReason.ValueType) -> None:
        """Disconnects a participant, as the server does."""
        member = self._members.pop(identity)
        for stream in list(self._streams.values()):
            if stream.receiver is member:
                self._finish(stream, None)
        self._state(member, rtc.ConnectionState.CONN_DISCONNECTED)
        if not self.mute:
            self._tell(member, disconnected=room_pb2.Disconnected(reason=reason))
        self._tell(member, eos=room_pb2.RoomEOS())
        self._tell_left(member, reason)

    def begin_late(self, identity: str, size: int | None) -> list[Stream]:
        """Opens a stream of a participant that has disconnected."""
        options = data_stream_pb2.StreamByteOptions(topic="lk.agent.session", name="late")
        return self._open(Member(identity, 0, 0), options, size)

    def lose(self, identity: str) -> None:
        """Interrupts the connection of a room, which starts to reconnect."""
        self._state(self._members[identity], rtc.ConnectionState.CONN_RECONNECTING)
        self._tell(self._members[identity], reconnecting=room_pb2.Reconnecting())

    def find(self, identity: str) -> None:
        """Completes the reconnect of a room."""
        self._state(self._members[identity], rtc.ConnectionState.CONN_CONNECTED)
        self._tell(self._members[identity], reconnected=room_pb2.Reconnected())

    # Called by `livekit.rtc`.

    def livekit_ffi_drop_handle(self, handle: Any) -> bool:
        self.handles.discard(handle.value)
        return True

    def request(self, request: ffi_pb2.FfiRequest) -> ffi_pb2.FfiResponse:
        which = request.WhichOneof("message")
        assert which is not None
        response = ffi_pb2.FfiResponse()
        answer = getattr(response, which)
        answer.SetInParent()
        if hasattr(answer, "async_id"):
            answer.async_id = next(self._numbers)
        getattr(self, "_" + which)(getattr(request, which), getattr(answer, "async_id", 0))
        return response

    def _connect(self, request: room_pb2.ConnectRequest, async_id: int) -> None:
        member = Member(request.token, self._handle(), self._handle())
        event = ffi_pb2.FfiEvent()
        event.connect.async_id = async_id
        result = event.connect.result
        result.room.handle.id = member.room_handle
        result.room.info.name = "stand-in"
        result.local_participant.handle.id = member.participant_handle
        result.local_participant.info.identity = member.identity
        if member.identity in self._members:
            self.drop(member.identity, rtc.DisconnectReason.DUPLICATE_IDENTITY)
        for other in self._members.values():
            participant = result.participants.add().participant
            participant.handle.id = self._handle()
            participant.info.identity = other.identity
            joined = room_pb2.ParticipantConnected()
            joined.info.handle.id = self._handle()
            joined.info.info.identity = member.identity
            self._tell(other, participant_connected=joined)
        self._members[member.identity] = member
        self._emit(event)

    def _ready_for_room_event(self, request: Any, _: int) -> None:
        member = next(m for m in self._members.values() if m.room_handle == request.room_handle)
        member.ready = True
        self._state(member, rtc.ConnectionState.CONN_CONNECTED)
        for each in member.early:
            self._emit(ffi_pb2.FfiEvent(room_event=each))

    def _disconnect(self, request: room_pb2.DisconnectRequest, async_id: int) -> None:
        for member in list(self._members.values()):
            if member.room_handle == request.room_handle:
                self.drop(member.identity, request.reason)
        event = ffi_pb2.FfiEvent()
        event.disconnect.async_id = async_id
        self._emit(event)

    def _byte_read_incremental(
        self, request: data_stream_pb2.ByteStreamReaderReadIncrementalRequest, _: int
    ) -> None:
        self.handles.discard(request.reader_handle)
        stream = self._streams[request.reader_handle]
        stream.reading = True
        for event in stream.early:
            self._emit(event)

    def _send_bytes(self, request: data_stream_pb2.StreamSendBytesRequest, async_id: int) -> None:
        event = ffi_pb2.FfiEvent()
        event.send_bytes.async_id = async_id
        if self.refusal is not None:
            event.send_bytes.error.description = self.refusal
            self._emit(event)
            return
        sender = self._sender(request.local_participant_handle)
        streams: list[Stream] = []
        data = request.bytes
        chunks = [data[start : start + CHUNK] for start in range(0, len(data), CHUNK)]
        self._start(
            [
                lambda: streams.extend(self._open(sender, request.options, len(data))),
                *(partial(self._chunk, streams, chunk) for chunk in chunks),
                lambda: self._close(streams),
                lambda: self._emit(event),
            ]
        )

    def _byte_stream_open(
        self, request: data_stream_pb2.ByteStreamOpenRequest, async_id: int
    ) -> None:
        sender = self._sender(request.local_participant_handle)
        event = ffi_pb2.FfiEvent()
        event.byte_stream_open.async_id = async_id
        event.byte_stream_open.writer.handle.id = writer = self._handle()
        options = request.options
        total = options.total_length if options.HasField("total_length") else None

        def open_() -> None:
            self._writers[writer] = self._open(sender, options, total)

        self._start([open_, lambda: self._emit(event)])

    def _byte_stream_write(
        self, request: data_stream_pb2.ByteStreamWriterWriteRequest, async_id: int
    ) -> None:
        event = ffi_pb2.FfiEvent()
        event.byte_stream_writer_write.async_id = async_id
        streams = self._writers[request.writer_handle]
        self._start([lambda: self._chunk(streams, request.bytes), lambda: self._emit(event)])

    def _byte_stream_close(
        self, request: data_stream_pb2.ByteStreamWriterCloseRequest, async_id: int
    ) -> None:
        event = ffi_pb2.FfiEvent()
        event.byte_stream_writer_close.async_id = async_id
        self.handles.discard(request.writer_handle)
        streams = self._writers.pop(request.writer_handle)
        self._start([lambda: self._close(streams), lambda: self._emit(event)])

    # Transmission of streams.

    def _open(
        self, sender: Member, options: data_stream_pb2.StreamByteOptions, total: int | None
    ) -> list[Stream]:
        to = list(options.destination_identities)
        self.opened.append((sender.identity, options))
        streams = []
        for receiver in self._members.values():
            if receiver is sender or (to and receiver.identity not in to):
                continue
            stream = Stream(sender, receiver, self._handle(), total)
            self._streams[stream.reader] = stream
            streams.append(stream)
            opened = room_pb2.ByteStreamOpened(participant_identity=sender.identity)
            opened.reader.handle.id = stream.reader
            opened.reader.info.topic = options.topic
            opened.reader.info.name = options.name
            if total is not None:
                opened.reader.info.total_length = total
            self._tell(receiver, byte_stream_opened=opened)
        return streams

    def _chunk(self, streams: list[Stream], data: bytes) -> None:
        for stream in streams:
            stream.seen += len(data)
            if stream.total is not None and stream.seen > stream.total:
                self._finish(stream, "read length exceeded total length specified")
            event = ffi_pb2.FfiEvent()
            event.byte_stream_reader_event.chunk_received.content = data
            self._to_reader(stream, event)

    def _close(self, streams: list[Stream]) -> None:
        for stream in streams:
            whole = stream.total is None or stream.seen >= stream.total
            self._finish(stream, None if whole else "stream data is incomplete")

    def _finish(self, stream: Stream, error: str | None) -> None:
        event = ffi_pb2.FfiEvent()
        event.byte_stream_reader_event.eos.SetInParent()
        if error is not None:
            event.byte_stream_reader_event.eos.error.description = error
        self._to_reader(stream, event)
        stream.ended = True

    def _to_reader(self, stream: Stream, event: ffi_pb2.FfiEvent) -> None:
        if stream.ended:
            return
        event.byte_stream_reader_event.reader_handle = stream.reader
        if stream.reading:
            self._emit(event)
        else:
            stream.early.append(event)

    def _start(self, steps: list[Step]) -> None:
        self._jobs.append(deque(steps))
        self.overlap = max(self.overlap, len(self._jobs))
        self._tick_soon()

    def _tick_soon(self) -> None:
        if self._jobs and not self._ticking and not self.held and not self.stuck:
            self._ticking = True
            self._loop.call_soon(self._tick)

    def _tick(self) -> None:
        """Runs one step of a random send."""
        self._ticking = False
        if not (self.held or self.stuck):
            job = self._random.choice(self._jobs)
            job.popleft()()
            if not job:
                self._jobs.remove(job)
        self._tick_soon()

    # Events.

    def _tell_left(self, member: Member, reason: rtc.DisconnectReason.ValueType) -> None:
        for other in self._members.values():
            left = room_pb2.ParticipantDisconnected(participant_identity=member.identity)
            left.disconnect_reason = reason
            self._tell(other, participant_disconnected=left)
        for stream in list(self._streams.values()):
            if stream.sender is member:
                self._finish(stream, f"Participant {member.identity} unexpectedly disconnected")

    def _state(self, member: Member, state: rtc.ConnectionState.ValueType) -> None:
        changed = room_pb2.ConnectionStateChanged(state=state)
        self._tell(member, connection_state_changed=changed)

    def _tell(self, member: Member, **what: Any) -> None:
        event = room_pb2.RoomEvent(room_handle=member.room_handle, **what)
        if member.ready:
            self._emit(ffi_pb2.FfiEvent(room_event=event))
        else:
            member.early.append(event)

    def _emit(self, event: ffi_pb2.FfiEvent) -> None:
        self.queue.put(event)

    def _handle(self) -> int:
        handle = next(self._numbers)
        self.handles.add(handle)
        return handle

    def _sender(self, handle: int) -> Member:
        return next(m for m in self._members.values() if m.participant_handle == handle)


@asynccontextmanager
async def stand_in(seed: int = 0) -> AsyncIterator[StandIn]:
    """Replaces the native library of `livekit.rtc` by a stand-in."""
    server, client = StandIn(seed), _ffi_client.FfiClient
    instance = client._instance
    setattr(client, "_instance", server)
    try:
        yield server
        await server.leave_all()
        assert not server.queue._subscribers
    finally:
        for handle in list(_ffi_client._live_handles):
            if handle.handle in server.handles:
                handle.mark_consumed()
        setattr(client, "_instance", instance)
