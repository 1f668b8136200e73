"""`agent-session listen --json`: an object a line, for programs."""

from __future__ import annotations

import json
import re
from datetime import datetime, timezone

from agent_session_protocol import agent_session_pb2 as pb
from command_process import (
    NO_REQUEST,
    agent,
    goodbye,
    message_event,
    piped,
    run_response,
    state_event,
)
from scripted_host import UNKNOWN_ARM, closed_event
from transport_messages import run

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

# An answer of the agent, as JSON.
MESSAGE = {
    "id": "",
    "role": "ASSISTANT",
    "content": [{"text": "1\x1b"}],
    "interrupted": False,
    "extra": {},
    "transcript_confidence": None,
    "metrics": None,
    "created_at": None,
}


def now() -> str:
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"


def test_json_lines() -> None:
    async def main() -> None:
        before = now()
        async with piped("listen", ":0", "--once", "--json") as command:
            async with agent(await command.port()) as host:
                event = state_event(pb.AS_LISTENING)
                event.created_at.FromMilliseconds(1_700_000_000_123)
                host.emit(event)
                host.emit(pb.AgentSessionEvent.FromString(UNKNOWN_ARM))
                command.type("h\xf6\n\n/nothing\n/ping\n")
                host.respond(run_response(await host.request(), "1\x1b"))
                ping = await host.request()
                host.respond(pb.SessionResponse(request_id=ping.request_id, error="no"))
                await goodbye(host, closed_event(pb.CR_ERROR, "no model"))
            assert await command.status() == 0
        entries = [json.loads(line) for line in command.text.splitlines()]
        assert list(entries.pop(0)) == ["listening"]
        timed = [entry for entry in entries if entry.keys() & {"sent", "answer", "failed"}]
        times = [entry.pop("time") for entry in timed]
        assert all(TIME.fullmatch(time) for time in times) and times == sorted(times)
        assert before <= times[0] and times[-1] <= now()
        assert entries == [
            {"connected": True},
            {
                "event": "agent_state_changed",
                "number": 10,
                "created_at": "2023-11-14T22:13:20.123Z",
                "payload": {"old_state": "AS_INITIALIZING", "new_state": "AS_LISTENING"},
            },
            {"event": None, "number": 99, "created_at": None, "payload": None},
            {"sent": "h\xf6", "id": 1},
            {
                "answer": "run_input",
                "id": 1,
                "error": None,
                "payload": {"items": [{"message": MESSAGE}]},
            },
            {"sent": "/nothing", "id": 3},
            {"failed": "/nothing", "id": 3, "error": NO_REQUEST},
            {"sent": "/ping", "id": 4},
            {"answer": "ping", "id": 4, "error": "no", "payload": None},
            {
                "event": "session_closed",
                "number": 24,
                "created_at": None,
                "payload": {"reason": "CR_ERROR", "error": "no model"},
            },
            {"outcome": "ended", "reason": "CR_ERROR", "error": "no model"},
        ]

    run(main())


def test_absent_fields_are_null_at_any_depth() -> None:
    """Except for the other arms of a oneof, and the fields of a JSON value."""

    async def main() -> None:
        async with piped("listen", ":0", "--json", "--once") as command:
            async with agent(await command.port()) as host:
                event = message_event("hi")
                message = event.conversation_item_added.item.message
                message.metrics.end_of_turn_delay = 0.5
                message.created_at.seconds = 1_700_000_000
                host.emit(event)
                command.type("/stats\n")
                request = await host.request()
                response = pb.SessionResponse(request_id=request.request_id)
                stats = response.get_rtc_stats.publisher_stats.add()
                stats.update({"kind": "codec", "inner": {"x": 1}})
                host.respond(response)
                await goodbye(host, closed_event(pb.CR_USER_INITIATED))
            assert await command.status() == 0
        entries = [json.loads(line) for line in command.text.splitlines()]
        payloads = [entry["payload"] for entry in entries if "payload" in entry]
        added, answer, closed = payloads
        assert list(added["item"]) == ["message"]
        written = added["item"]["message"]
        metrics = written.pop("metrics")
        assert metrics.pop("end_of_turn_delay") == 0.5
        assert metrics and set(metrics.values()) == {None}
        assert written["created_at"] == "2023-11-14T22:13:20Z"
        assert written["transcript_confidence"] is None
        assert answer == {
            "publisher_stats": [{"kind": "codec", "inner": {"x": 1.0}}],
            "subscriber_stats": [],
        }
        assert closed == {"reason": "CR_USER_INITIATED", "error": None}

    run(main())


def test_an_event_that_json_cannot_represent() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--json", "--once") as command:
            async with agent(await command.port()) as host:
                event = message_event("late")
                event.created_at.seconds = 1 << 60  # the year is out of range
                event.conversation_item_added.item.message.created_at.seconds = 1 << 60
                host.emit(event)
            assert await command.status() == 1
        entries = [json.loads(line) for line in command.text.splitlines()]
        assert entries[2] == {
            "event": "conversation_item_added",
            "number": 12,
            "created_at": None,
            "payload": None,
        }
        assert entries[3] == {"outcome": "lost", "error": None}

    run(main())
