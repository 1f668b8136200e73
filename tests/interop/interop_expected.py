"""What the scripted conversation must look like on the wire, written down by hand.

Comes in: a kind of host. Goes out: the answers and events that its session must give, as JSON of
the protocol without ids, times and measurements. The published hosts differ from ours, and from
each other, where a comment says so.
"""

from __future__ import annotations

from typing import Any

from interop_peers import JS, OURS, PYTHON

Json = dict[str, Any]

TOOLS = ["call_manager", "find_parcel", "watch_parcel"]
CLERK = "You answer for a parcel office."
MANAGER = "You take complaints."
# The SDK's own mark on a call whose tool went on running.
_GOES_ON = {"__livekit_agents_tool_non_blocking": "True"}


def said(role: str, text: str) -> Json:
    return {"message": {"role": role, "content": [{"text": text}]}}


def call(name: str, call_id: str, arguments: str = "{}", **more: Any) -> Json:
    return {
        "function_call": {"name": name, "call_id": call_id, "arguments": arguments, **more},
    }


def output(name: str, call_id: str, text: str, **more: Any) -> Json:
    return {
        "function_call_output": {"name": name, "call_id": call_id, "output": text, **more},
    }


def handoff(**ids: str) -> Json:
    return {"agent_handoff": ids}


def configured(instructions: str, *tools: str) -> Json:
    update = {"instructions": instructions, **({"tools_added": list(tools)} if tools else {})}
    return {"agent_config_update": update}


_RUNS: dict[str, list[Json]] = {
    "hello": [said("ASSISTANT", "Good day, parcel office.")],
    "where is parcel 7": [
        call("find_parcel", "call_7", '{"number": 7}'),
        output("find_parcel", "call_7", "at the harbour"),
        said("ASSISTANT", "Parcel 7 is at the harbour."),
    ],
    "where is parcel 13": [
        call("find_parcel", "call_13", '{"number": 13}'),
        output("find_parcel", "call_13", "no parcel 13", is_error=True),
        said("ASSISTANT", "There is no parcel 13."),
    ],
    "watch parcel 9": [
        call("watch_parcel", "call_9", '{"number": 9}', extra=_GOES_ON),
        output("watch_parcel", "call_9", "so far: on its way"),
        said("ASSISTANT", "I keep an eye on it."),
        said("ASSISTANT", "Parcel 9 was delivered."),
    ],
    "say nothing": [],
    "I want to complain": [
        call("call_manager", "call_m"),
        output("call_manager", "call_m", "the manager comes"),
        said("ASSISTANT", "The manager speaks."),
        handoff(old_agent_id="clerk", new_agent_id="manager"),
    ],
    "fail": [],
}


def _as_javascript(item: Json) -> Json:
    """It writes arguments without spaces, and what a tool returns as JSON."""
    if "function_call" in item:
        given = item["function_call"]
        return call(given["name"], given["call_id"], given["arguments"].replace(" ", ""))
    if "function_call_output" in item and not item["function_call_output"].get("is_error"):
        given = item["function_call_output"]
        return output(given["name"], given["call_id"], f'"{given["output"]}"')
    return item


# A run whose tool reports progress twice never ends on the JavaScript host, so it is left out.
RUNS: dict[str, dict[str, list[Json]]] = {
    OURS: _RUNS,
    PYTHON: _RUNS,
    JS: {
        text: [_as_javascript(item) for item in items]
        for text, items in _RUNS.items()
        if text != "watch parcel 9"
    },
}

# The text of the error, for runs that fail. The JavaScript host takes silence for a failure, and
# does not tell what the failure of a model was.
RUN_ERRORS: dict[str, dict[str, str]] = {
    OURS: {"fail": "the model is down"},
    PYTHON: {"fail": "the model is down"},
    JS: {
        "say nothing": "agent produced no response items",
        "fail": "agent produced no response items",
    },
}

# How the agent's state goes in each run: listening, thinking, speaking.
_STATES = {
    "hello": "LTSL",
    "where is parcel 7": "LTSL",
    "where is parcel 13": "LTSL",
    "watch parcel 9": "LTSLTSL",
    "say nothing": "LTL",
    "I want to complain": "LTSL",
    "fail": "LTL",
}
_STATE_NAMES = {"L": "AS_LISTENING", "T": "AS_THINKING", "S": "AS_SPEAKING"}

# How often the model answered by the end of each run. Each answer takes 10 tokens in, 2 of them
# from the cache, and 4 out. The JavaScript host tells its usage after silence and failure too.
_ANSWERS: dict[str, list[int]] = {
    OURS: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    PYTHON: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    JS: [1, 2, 3, 4, 5, 5, 6, 7, 7],
}


def usage(answers: int) -> Json:
    model = {
        "provider": "rehearsal",
        "model": "script-1",
        "input_tokens": 10 * answers,
        "input_cached_tokens": 2 * answers,
        "output_tokens": 4 * answers,
    }
    return {"usage": {"model_usage": [{"llm": model}]}}


def usage_at_the_end(host: str) -> Json:
    return usage(_ANSWERS[host][-1])


MOMENTS: dict[str, Json] = {
    "user_state_changed": {"old_state": "US_LISTENING"},  # the new one is US_SPEAKING, which is 0
    "user_input_transcribed": {"transcript": "grüß dich", "is_final": True, "language": "de"},
    "agent_false_interruption": {"resumed": True},
    "overlapping_speech": {
        "is_interruption": True,
        "overlap_started_at": "2023-11-14T22:13:23.250Z",
        "detected_at": "2023-11-14T22:13:24Z",
        "detection_delay": 0.75,
    },
    "amd_prediction": {
        "speech_duration": "1.500s",
        "category": "AMD_MACHINE_IVR",
        "reason": "llm",
        "transcript": "press one for parcels",
        "delay": "0.250s",
    },
    "eot_prediction": {
        "probability": 0.75,
        "threshold": 0.5,
        "inference_duration": "0.125s",
        "delay": "0.500s",
    },
    "debug_message": {
        "payload": {"step": 3.0, "tags": ["a", "b"], "deep": {"ok": True, "none": None}}
    },
}

# When the moments happened, for those that know. Published hosts mostly give the time of sending.
MOMENT_TIMES: dict[str, dict[str, float]] = {
    OURS: {
        "user_state_changed": 1700000001.5,
        "user_input_transcribed": 1700000002.5,
        "agent_false_interruption": 1700000003.5,
        "eot_prediction": 1700000005.5,
    },
    PYTHON: {
        "user_state_changed": 1700000001.5,
        "agent_false_interruption": 1700000003.5,
    },
    JS: {
        "user_input_transcribed": 1700000002.5,
        "agent_false_interruption": 1700000003.5,
    },
}


def _states(host: str) -> list[Json]:
    changes = []
    for text in RUNS[host]:
        path = [_STATE_NAMES[state] for state in _STATES[text]]
        changes += [
            {"old_state": old, "new_state": new} for old, new in zip(path, path[1:], strict=False)
        ]
    return changes


def _items_added(host: str) -> list[Json]:
    """Tool calls and their outputs are not told as items of the conversation."""
    added = []
    for text, items in RUNS[host].items():
        added.append({"item": said("USER", text)})
        added += [{"item": item} for item in items if "message" in item or "agent_handoff" in item]
    return added


def _tools_executed(host: str) -> list[Json]:
    rounds = []
    for items in RUNS[host].values():
        calls = [item["function_call"] for item in items if "function_call" in item]
        outputs = [item["function_call_output"] for item in items if "function_call_output" in item]
        if host != OURS:  # the published hosts leave out the extra
            calls = [{key: given[key] for key in given if key != "extra"} for given in calls]
        if calls:
            rounds.append({"function_calls": calls, "function_call_outputs": outputs})
    return rounds


def _started(call_item: Json) -> Json:
    return {"started": {"function_call": call_item["function_call"]}}


def _ended(identity: str, call_id: str, message: str, status: str = "TC_DONE") -> Json:
    return {"ended": {"id": identity, "call_id": call_id, "message": message, "status": status}}


def _tool_steps() -> list[Json]:
    late = ["call_9_update_1", "call_9_final"]
    return [
        _started(call("find_parcel", "call_7", '{"number": 7}')),
        _ended("call_7", "call_7", "at the harbour"),
        _started(call("find_parcel", "call_13", '{"number": 13}')),
        _ended("call_13", "call_13", "no parcel 13", "TC_ERROR"),
        _started(call("watch_parcel", "call_9", '{"number": 9}')),
        {"call_updated": {"id": "call_9", "call_id": "call_9", "message": "on its way"}},
        {"call_updated": {"id": late[0], "call_id": "call_9", "message": "at the door"}},
        _ended(late[1], "call_9", "delivered"),
        {"reply_updated": {"update_ids": late}},  # scheduled, which is 0
        {"reply_updated": {"update_ids": late, "status": "TR_COMPLETED"}},
        _started(call("call_manager", "call_m")),
        _ended("call_m", "call_m", "(Manager, 'the manager comes')"),
    ]


def moment(host: str, arm: str) -> Json:
    """What a host tells of a moment. The published hosts leave out the language."""
    told = dict(MOMENTS[arm])
    if host != OURS:
        told.pop("language", None)
    if host == PYTHON and arm == "overlapping_speech":
        told["overlap_started_at"] = "2023-11-14T22:13:23.249999872Z"  # it counts with floats
    return told


def events_expected(host: str) -> dict[str, list[Json]]:
    """The events from the first run on, by kind, in their order."""
    expected: dict[str, list[Json]] = {
        "agent_state_changed": _states(host),
        "conversation_item_added": _items_added(host),
        "function_tools_executed": _tools_executed(host),
        "session_usage_updated": [usage(answers) for answers in _ANSWERS[host]],
        "error": [{}],
        **{arm: [moment(host, arm)] for arm in MOMENTS},
    }
    if host != JS:  # the JavaScript host has no such event
        expected["tool_execution_updated"] = _tool_steps()
    return expected


# What the session has in its history before anything is said. The JavaScript host leaves out
# changes of configuration.
_BEGINNING: dict[str, list[Json]] = {
    OURS: [handoff(new_agent_id="clerk"), configured(CLERK, *TOOLS)],
    PYTHON: [handoff(new_agent_id="clerk"), configured(CLERK, *TOOLS)],
    JS: [handoff(new_agent_id="clerk")],
}


def history_at_first(host: str) -> list[Json]:
    return _BEGINNING[host]


def context_at_first(host: str) -> list[Json]:
    """What the first agent's model is given before anything is said."""
    return [said("SYSTEM", CLERK), *_BEGINNING[host][1:]]


def messages(host: str) -> list[Json]:
    """All that was said, in order."""
    found = []
    for text, items in RUNS[host].items():
        found.append(said("USER", text))
        found += [item for item in items if "message" in item]
    return found


def read_by(driver: str, content: Any) -> Any:
    """What is left of it for a driver: @livekit/protocol 1.52.1 knows no extra of a call."""
    if driver != JS:
        return content
    if isinstance(content, list):
        return [read_by(driver, inner) for inner in content]
    if isinstance(content, dict):
        return {key: read_by(driver, content[key]) for key in content if key != "extra"}
    return content
