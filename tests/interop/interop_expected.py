"""The expected responses and events of the scripted conversation, for each kind of host.

They were written by hand as JSON, without ids, times and measurements. Comments say where the
published hosts differ from this repository's host and from each other.
"""

from __future__ import annotations

from typing import Any

from interop_peers import EXAMPLE, GENERATED, JAVASCRIPT, JS, OURS, PYTHON, PYTHON_EXAMPLE

Json = dict[str, Any]

TOOLS = ["call_manager", "find_parcel", "watch_parcel"]
CLERK = "You answer for a parcel office."
MANAGER = "You take complaints."
# The SDK's mark on a call whose tool keeps running.
_NON_BLOCKING = {"__livekit_agents_tool_non_blocking": "True"}


def message(role: str, text: str) -> Json:
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
    "hello": [message("ASSISTANT", "Good day, parcel office.")],
    "where is parcel 7": [
        call("find_parcel", "call_7", '{"number": 7}'),
        output("find_parcel", "call_7", "at the harbour"),
        message("ASSISTANT", "Parcel 7 is at the harbour."),
    ],
    "where is parcel 13": [
        call("find_parcel", "call_13", '{"number": 13}'),
        output("find_parcel", "call_13", "no parcel 13", is_error=True),
        message("ASSISTANT", "There is no parcel 13."),
    ],
    "watch parcel 9": [
        call("watch_parcel", "call_9", '{"number": 9}', extra=_NON_BLOCKING),
        output("watch_parcel", "call_9", "so far: on its way"),
        message("ASSISTANT", "I keep an eye on it."),
        message("ASSISTANT", "Parcel 9 was delivered."),
    ],
    "say nothing": [],
    "I want to complain": [
        call("call_manager", "call_m"),
        output("call_manager", "call_m", "the manager comes"),
        message("ASSISTANT", "The manager speaks."),
        handoff(old_agent_id="clerk", new_agent_id="manager"),
    ],
    "fail": [],
}


def _as_javascript(item: Json) -> Json:
    """Returns an item as the JavaScript host sends it.

    It sends arguments without spaces, and the results of tools as JSON.
    """
    if "function_call" in item:
        fields = item["function_call"]
        return call(fields["name"], fields["call_id"], fields["arguments"].replace(" ", ""))
    if "function_call_output" in item and not item["function_call_output"].get("is_error"):
        fields = item["function_call_output"]
        return output(fields["name"], fields["call_id"], f'"{fields["output"]}"')
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
RUNS[EXAMPLE] = RUNS[JS]
RUNS[PYTHON_EXAMPLE] = RUNS[PYTHON]

# The error texts of the runs that fail. On the JavaScript host, a run without items fails, and the
# text of a failure of the model is not sent.
RUN_ERRORS: dict[str, dict[str, str]] = {
    OURS: {"fail": "the model is down"},
    PYTHON: {"fail": "the model is down"},
    JS: {
        "say nothing": "agent produced no response items",
        "fail": "agent produced no response items",
    },
}
RUN_ERRORS[EXAMPLE] = RUN_ERRORS[JS]
RUN_ERRORS[PYTHON_EXAMPLE] = RUN_ERRORS[PYTHON]

# The states of the agent in each run: listening (L), thinking (T), speaking (S).
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

# The number of replies of the model by the end of each run. Each reply has 10 input tokens, 2 of
# them cached, and 4 output tokens. The JavaScript host also reports its usage after runs without
# items and failures.
_REPLIES: dict[str, list[int]] = {
    OURS: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    PYTHON: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    JS: [1, 2, 3, 4, 5, 5, 6, 7, 7],
}
_REPLIES[EXAMPLE] = _REPLIES[JS]
_REPLIES[PYTHON_EXAMPLE] = _REPLIES[PYTHON]


def usage(replies: int) -> Json:
    model = {
        "provider": "rehearsal",
        "model": "script-1",
        "input_tokens": 10 * replies,
        "input_cached_tokens": 2 * replies,
        "output_tokens": 4 * replies,
    }
    return {"usage": {"model_usage": [{"llm": model}]}}


def usage_at_the_end(host: str) -> Json:
    return usage(_REPLIES[host][-1])


SDK_EVENTS: dict[str, Json] = {
    "user_state_changed": {"old_state": "US_LISTENING"},  # the new state, US_SPEAKING, is 0
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

# The times of these events. Other events of the published hosts have the time of sending.
SDK_EVENT_TIMES: dict[str, dict[str, float]] = {
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
    EXAMPLE: {
        "user_input_transcribed": 1700000002.5,
        "agent_false_interruption": 1700000003.5,
        "eot_prediction": 1700000005.5,
    },
}
SDK_EVENT_TIMES[PYTHON_EXAMPLE] = SDK_EVENT_TIMES[OURS]


def _states(host: str) -> list[Json]:
    changes = []
    for text in RUNS[host]:
        path = [_STATE_NAMES[state] for state in _STATES[text]]
        changes += [
            {"old_state": old, "new_state": new} for old, new in zip(path, path[1:], strict=False)
        ]
    return changes


def _items_added(host: str) -> list[Json]:
    """Returns the added items. Tool calls and their outputs are not reported as added."""
    added = []
    for text, items in RUNS[host].items():
        added.append({"item": message("USER", text)})
        added += [{"item": item} for item in items if "message" in item or "agent_handoff" in item]
    return added


def _tools_executed(host: str) -> list[Json]:
    rounds = []
    for items in RUNS[host].values():
        calls = [item["function_call"] for item in items if "function_call" in item]
        outputs = [item["function_call_output"] for item in items if "function_call_output" in item]
        if host not in GENERATED:  # the published hosts leave out `extra`
            calls = [{key: fields[key] for key in fields if key != "extra"} for fields in calls]
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
        {"reply_updated": {"update_ids": late}},  # TR_SCHEDULED is 0
        {"reply_updated": {"update_ids": late, "status": "TR_COMPLETED"}},
        _started(call("call_manager", "call_m")),
        _ended("call_m", "call_m", "(Manager, 'the manager comes')"),
    ]


def sdk_event(host: str, arm: str) -> Json:
    """Returns an event as a host sends it. The published hosts leave out the language."""
    payload = dict(SDK_EVENTS[arm])
    if host not in GENERATED:
        payload.pop("language", None)
    if host == PYTHON and arm == "overlapping_speech":
        payload["overlap_started_at"] = "2023-11-14T22:13:23.249999872Z"  # computed with floats
    return payload


def expected_events(host: str) -> dict[str, list[Json]]:
    """Returns the events from the first run on, by arm, in their order."""
    expected: dict[str, list[Json]] = {
        "agent_state_changed": _states(host),
        "conversation_item_added": _items_added(host),
        "function_tools_executed": _tools_executed(host),
        "session_usage_updated": [usage(replies) for replies in _REPLIES[host]],
        "error": [{}],
        **{arm: [sdk_event(host, arm)] for arm in SDK_EVENTS},
    }
    if host not in JAVASCRIPT:  # the JavaScript SDK has no such event
        expected["tool_execution_updated"] = _tool_steps()
    return expected


# The history of the session before the first run. The JavaScript host leaves out changes of the
# configuration.
_INITIAL_HISTORY: dict[str, list[Json]] = {
    OURS: [handoff(new_agent_id="clerk"), configured(CLERK, *TOOLS)],
    PYTHON: [handoff(new_agent_id="clerk"), configured(CLERK, *TOOLS)],
    JS: [handoff(new_agent_id="clerk")],
    EXAMPLE: [handoff(new_agent_id="clerk")],
}
_INITIAL_HISTORY[PYTHON_EXAMPLE] = _INITIAL_HISTORY[PYTHON]


def initial_history(host: str) -> list[Json]:
    return _INITIAL_HISTORY[host]


def initial_context(host: str) -> list[Json]:
    """Returns the context of the first agent's model before the first run."""
    return [message("SYSTEM", CLERK), *_INITIAL_HISTORY[host][1:]]


def messages(host: str) -> list[Json]:
    """Returns all messages of the conversation in order."""
    result = []
    for text, items in RUNS[host].items():
        result.append(message("USER", text))
        result += [item for item in items if "message" in item]
    return result


def as_received(driver: str, content: Any) -> Any:
    """Returns content as a driver receives it. @livekit/protocol 1.52.1 lacks `extra` of calls."""
    if driver not in JAVASCRIPT:
        return content
    if isinstance(content, list):
        return [as_received(driver, inner) for inner in content]
    if isinstance(content, dict):
        return {key: as_received(driver, content[key]) for key in content if key != "extra"}
    return content
