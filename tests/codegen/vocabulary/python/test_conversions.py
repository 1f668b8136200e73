"""Tests of how a Python SDK converts literals, in the forms in which SDKs write it."""

from __future__ import annotations

import pytest
from small_sdks import PYTHON_SDK, python_sdk
from small_python_sdk import HOST

from sessiongen.vocabulary import Conversion

BOTH = {"idle": "AS_IDLE", "busy": "AS_BUSY"}
# Definitions of a module, the value that fills a field of `ev.state`, the pairs, and the default.
FORMS: dict[str, tuple[str, str, dict[str, str], str]] = {
    "lookup": (
        "T = {'idle': pb.AS_IDLE, 'busy': pb.Stat.AS_BUSY}",
        "T[ev.state]",
        BOTH,
        "KeyError",
    ),
    "get": ("T = {'idle': pb.AS_IDLE}", "T.get(ev.state)", {"idle": "AS_IDLE"}, "None"),
    "get with a default": (
        "T = {'idle': pb.AS_IDLE}",
        "T.get(ev.state, pb.AS_BUSY)",
        {"idle": "AS_IDLE"},
        "AS_BUSY",
    ),
    "or": (
        "T = {'busy': pb.AS_BUSY}",
        "T.get(ev.state) or pb.AS_IDLE",
        {"busy": "AS_BUSY"},
        "AS_IDLE",
    ),
    "frozen table": (
        "from types import MappingProxyType\nT = MappingProxyType({'idle': pb.AS_IDLE})",
        "T[ev.state]",
        {"idle": "AS_IDLE"},
        "KeyError",
    ),
    "default of a defaultdict": (
        "import collections\nT = collections.defaultdict(lambda: pb.AS_BUSY, {'idle': pb.AS_IDLE})",
        "T[ev.state]",
        {"idle": "AS_IDLE"},
        "AS_BUSY",
    ),
    "pairs": (
        "T = dict([('idle', pb.AS_IDLE), ('busy', pb.AS_BUSY)])",
        "T[ev.state]",
        BOTH,
        "KeyError",
    ),
    "merged tables": (
        "A = {'idle': pb.AS_IDLE}\nT = {**A, 'busy': pb.AS_BUSY}",
        "T[ev.state]",
        BOTH,
        "KeyError",
    ),
    "comprehension over the values of a Literal": (
        "from typing import get_args\nfrom .events import State\n"
        "T = {s: getattr(pb, 'AS_' + s.upper()) for s in get_args(State)}",
        "T[ev.state]",
        BOTH,
        "KeyError",
    ),
    "comprehension over an enum": (
        "from .events import CloseReason\n"
        "T = {r: pb.Reason.Value(f'R_{r.name}') for r in CloseReason}",
        "T.get(ev.reason, pb.R_UNKNOWN)",
        {"error": "R_ERROR", "by-user": "R_BY_USER"},
        "R_UNKNOWN",
    ),
    "match": (
        "def f(s):\n    match s:\n        case 'idle':\n            return pb.AS_IDLE\n"
        "        case 'busy' | 'full':\n            return pb.AS_BUSY\n"
        "        case _:\n            raise ValueError(s)",
        "f(ev.state)",
        {**BOTH, "full": "AS_BUSY"},
        "ValueError",
    ),
    "match on members of an enum": (
        "from .events import CloseReason\ndef f(s):\n    match s:\n"
        "        case CloseReason.ERROR:\n            return pb.R_ERROR\n    return pb.R_OTHER",
        "f(ev.reason)",
        {"error": "R_ERROR"},
        "R_OTHER",
    ),
    "chain of if": (
        "def f(s):\n    if s == 'idle':\n        return pb.AS_IDLE\n    elif s in ('busy',):\n"
        "        return pb.AS_BUSY\n    return pb.AS_ZERO",
        "f(ev.state)",
        BOTH,
        "AS_ZERO",
    ),
    "conditional expressions": (
        "",
        "pb.AS_IDLE if ev.state == 'idle' else pb.AS_BUSY if ev.state == 'busy' else None",
        BOTH,
        "None",
    ),
    "exception": (
        "T = {'idle': pb.AS_IDLE}\ndef f(s):\n    try:\n        return T[s]\n"
        "    except KeyError:\n        return pb.AS_BUSY",
        "f(ev.state)",
        {"idle": "AS_IDLE"},
        "AS_BUSY",
    ),
    "loop over pairs": (
        "T = (('idle', pb.AS_IDLE), ('busy', pb.AS_BUSY))\ndef f(s):\n    for a, b in T:\n"
        "        if a == s:\n            return b\n    return None",
        "f(ev.state)",
        BOTH,
        "None",
    ),
    "name of the proto value": (
        "from .events import State\n"
        "def f(s: State):\n    return pb.Stat.Value('AS_' + s.upper())",
        "f(ev.state)",
        BOTH,
        "ValueError",
    ),
    "lambda": (
        "f = lambda s: pb.AS_IDLE if s == 'idle' else pb.AS_BUSY",
        "f(ev.state)",
        {"idle": "AS_IDLE"},
        "AS_BUSY",
    ),
    "method": ("", "self.convert(ev.state)", {"idle": "AS_IDLE"}, "AS_BUSY"),
    "table of the class": ("", "self.TABLE[ev.state]", {"idle": "AS_IDLE"}, "KeyError"),
    "always the same": ("", "pb.AS_IDLE", {}, "AS_IDLE"),
}
UNREADABLE = {
    "unknown function": ("", "unknown(ev.state)"),
    "method of the value": ("", "ev.state.to_proto()"),
    "two sources": ("T = {'idle': pb.AS_IDLE}", "T[ev.state] if ev.ready else pb.AS_BUSY"),
    "changed table": ("T = {'idle': pb.AS_IDLE}\nT['busy'] = pb.AS_BUSY", "T[ev.state]"),
    "table defined twice": ("T = {'idle': pb.AS_IDLE}\nT = {'idle': pb.AS_BUSY}", "T[ev.state]"),
    "updated table": ("T = {'idle': pb.AS_IDLE}\nT.update(more())", "T[ev.state]"),
    "decorated function": ("@swap\ndef f(s):\n    return pb.AS_IDLE", "f(ev.state)"),
    "recursion": ("def f(s):\n    return f(s)", "f(ev.state)"),
    "variable that is not always assigned": ("", "later"),
    "key that is computed": ("T = {key(): pb.AS_IDLE}", "T[ev.state]"),
}


def conversions(definitions: str, value: str) -> list[Conversion]:
    """Returns the conversions of a host that fills a field with a value."""
    host = PYTHON_SDK[HOST].replace("State(new=ev.new)", f"State(new={value})")
    host = host.replace(
        "class SessionHost:\n",
        f"{definitions}\n\nclass SessionHost:\n    TABLE = {{'idle': pb.AS_IDLE}}\n"
        "    def convert(self, s):\n        return self.TABLE.get(s, pb.AS_BUSY)\n\n",
    )
    small = python_sdk({HOST: host})
    return [item for item in small.vocabulary.conversions if item.field == "new"]


@pytest.mark.parametrize(("definitions", "value", "pairs", "default"), FORMS.values(), ids=FORMS)
def test_form_is_read(definitions: str, value: str, pairs: dict[str, str], default: str) -> None:
    [fact] = conversions(definitions, value)
    assert (dict(fact.pairs), fact.default) == (pairs, default)
    assert (fact.message, fact.within) == ("AgentSessionEvent.State", "SessionHost._on_state")


@pytest.mark.parametrize(("definitions", "value"), UNREADABLE.values(), ids=UNREADABLE)
def test_form_that_is_not_read(definitions: str, value: str) -> None:
    definitions = definitions.replace("T = {key()", "U = 1\nT = {'x': 1}; T = {key()")
    assert conversions(definitions, value) == []


def test_variables_assignments_and_parameters_are_followed() -> None:
    source = PYTHON_SDK[HOST] + (
        "T = {'idle': pb.AS_IDLE}\n"
        "class Encoder:\n"
        "    def variable(self, ev):\n"
        "        if ev.state == 'idle':\n"
        "            state = pb.AS_IDLE\n"
        "        else:\n"
        "            state = pb.AS_BUSY\n"
        "        message = pb.Stated(one=state)\n"
        "        message.two = T[ev.other]\n"
        "    def parameter(self, state):\n"
        "        return pb.Stated(three=state)\n"
        "    def call(self, ev):\n"
        "        return self.parameter(T[ev.state])\n"
    )
    facts = {item.field: item for item in python_sdk({HOST: source}).vocabulary.conversions}
    assert {name: (item.table, item.default) for name, item in facts.items()} == {
        "one": ("variable", "AS_BUSY"),
        "two": ("T", "KeyError"),
        "three": ("T", "KeyError"),
    }
