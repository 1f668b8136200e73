"""`agent-session listen --json`: an object a line, for programs."""

from __future__ import annotations

import json

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


def test_json_lines() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--once", "--json") as command:
            async with agent(await command.port()) as host:
                event = state_event(pb.AS_LISTENING)
                event.created_at.FromMilliseconds(1_700_000_000_123)
                host.emit(event)
                host.emit(pb.AgentSessionEvent.FromString(UNKNOWN_ARM))
                command.type("h\xf6\n/nothing\n/ping\n")
                host.respond(run_response(await host.request(), "1\x1b"))
                ping = await host.request()
                host.respond(pb.SessionResponse(request_id=ping.request_id, error="no"))
                await goodbye(host, closed_event(pb.CR_ERROR, "no model"))
            assert await command.status() == 0
        told = [json.loads(line) for line in command.text.splitlines()]
        assert list(told.pop(0)) == ["listening"]
        message = {
            "id": "",
            "role": "ASSISTANT",
            "content": [{"text": "1\x1b"}],
            "interrupted": False,
            "extra": {},
        }
        assert told == [
            {"connected": True},
            {
                "event": "agent_state_changed",
                "number": 10,
                "created_at": "2023-11-14T22:13:20.123Z",
                "payload": {"old_state": "AS_INITIALIZING", "new_state": "AS_LISTENING"},
            },
            {"event": None, "number": 99, "created_at": None, "payload": None},
            {"answer": "run_input", "error": None, "payload": {"items": [{"message": message}]}},
            {"failed": "/nothing", "error": NO_REQUEST},
            {"answer": "ping", "error": "no", "payload": None},
            {
                "event": "session_closed",
                "number": 24,
                "created_at": None,
                "payload": {"reason": "CR_ERROR", "error": "no model"},
            },
            {"outcome": "ended", "reason": "CR_ERROR", "error": "no model"},
        ]

    run(main())


def test_an_event_that_json_cannot_represent() -> None:
    async def main() -> None:
        async with piped("listen", ":0", "--json", "--once") as command:
            async with agent(await command.port()) as host:
                event = message_event("late")
                event.created_at.seconds = 1 << 60  # no year has it
                event.conversation_item_added.item.message.created_at.seconds = 1 << 60
                host.emit(event)
            assert await command.status() == 1
        told = [json.loads(line) for line in command.text.splitlines()]
        assert told[2] == {
            "event": "conversation_item_added",
            "number": 12,
            "created_at": None,
            "payload": None,
        }
        assert told[3] == {"outcome": "lost", "error": None}

    run(main())
