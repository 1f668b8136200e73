"""Tests of SDKs that are arranged in another way: imports, base classes, constants, defaults.

Each change leaves the SDK's behaviour as it is, so the facts must stay the same but for places.
"""

from __future__ import annotations


import pytest
from small_sdks import PYTHON_SDK, assert_same_facts, python_sdk
from small_python_sdk import HOST, SESSION, host

from sessiongen.diagnostics import Rule
from sessiongen.vocabulary import Place

IMPORT = "from livekit.protocol.agent_pb import agent_session as pb\n"
SESSION_IMPORT = "from .agent_session import AgentSession\n"


IMPORTS = {
    "one message": {
        HOST: PYTHON_SDK[HOST]
        .replace(
            IMPORT, IMPORT + "from livekit.protocol.agent_pb.agent_session import SessionRequest\n"
        )
        .replace("pb.SessionRequest(", "SessionRequest(")
    },
    "one message with another name": {
        HOST: PYTHON_SDK[HOST]
        .replace(
            IMPORT,
            IMPORT
            + "from livekit.protocol.agent_pb.agent_session import SessionRequest as Request\n",
        )
        .replace("pb.SessionRequest", "Request")
    },
    "the package above": {
        HOST: PYTHON_SDK[HOST]
        .replace(IMPORT, "from livekit.protocol import agent_pb\n")
        .replace("pb.", "agent_pb.agent_session.")
    },
    "the whole path": {
        HOST: PYTHON_SDK[HOST]
        .replace(IMPORT, "import livekit.protocol.agent_pb.agent_session\n")
        .replace("pb.", "livekit.protocol.agent_pb.agent_session.")
    },
    "a module of the package": {
        HOST: PYTHON_SDK[HOST].replace(IMPORT, "from .._wire import pb\n"),
        "_wire.py": IMPORT,
    },
    "messages of a module of the package": {
        HOST: PYTHON_SDK[HOST]
        .replace(IMPORT, "from .._wire import pb, Request\n")
        .replace("pb.SessionRequest(", "Request("),
        "_wire.py": IMPORT + "Request = pb.SessionRequest\n",
    },
    "everything of a module of the package": {
        HOST: PYTHON_SDK[HOST].replace(IMPORT, "from .._wire import *\n"),
        "_wire.py": IMPORT,
    },
    "an alias": {
        HOST: PYTHON_SDK[HOST]
        .replace(SESSION_IMPORT, SESSION_IMPORT + "Request = pb.SessionRequest\n")
        .replace("pb.SessionRequest(", "Request(")
    },
    "inside a function": {
        HOST: PYTHON_SDK[HOST].replace(
            "    async def ping(self) -> None:\n",
            "    async def ping(self) -> None:\n"
            "        from livekit.protocol.agent_pb import agent_session as pb\n",
        )
    },
}


@pytest.mark.parametrize("changes", IMPORTS.values(), ids=IMPORTS)
def test_messages_are_imported_in_another_way(changes: dict[str, str]) -> None:
    assert_same_facts(python_sdk(changes), python_sdk())


HANDLER = PYTHON_SDK[HOST][
    PYTHON_SDK[HOST].index("    def _on_state") : PYTHON_SDK[HOST].index("    async def _handle")
]
ANSWER = PYTHON_SDK[HOST][
    PYTHON_SDK[HOST].index("    async def _handle") : PYTHON_SDK[HOST].index("class RemoteSession")
]


def test_base_class_of_the_host_in_its_module() -> None:
    source = PYTHON_SDK[HOST].replace(HANDLER, "").replace(ANSWER, "")
    source = source.replace(
        "class SessionHost:", f"class Base:\n{HANDLER}{ANSWER}\nclass SessionHost(Base):"
    )
    assert_same_facts(python_sdk({HOST: source}), python_sdk())


def test_mixins_of_the_host_in_other_modules() -> None:
    source = PYTHON_SDK[HOST].replace(HANDLER, "").replace(ANSWER, "\n")
    source = source.replace("class SessionHost:", "class SessionHost(Events, Requests):")
    source = source.replace(
        SESSION_IMPORT, SESSION_IMPORT + "from .mixins import Events, Requests\n"
    )
    mixins = f"{IMPORT}from .events import StateChangedEvent\n"
    mixins += f"class Events:\n{HANDLER}\nclass Requests:\n{ANSWER}\n"
    assert_same_facts(python_sdk({HOST: source, "voice/mixins.py": mixins}), python_sdk())


def test_handler_that_calls_the_one_of_the_base() -> None:
    source = PYTHON_SDK[HOST].replace(HANDLER, "")
    source = source.replace(
        "class SessionHost:",
        f"class Base:\n{HANDLER}\nclass SessionHost(Base):\n"
        "    def _on_state(self, ev: StateChangedEvent) -> None:\n"
        "        super()._on_state(ev)\n",
    )
    small = python_sdk({HOST: source})
    assert small.reading.diagnostics == []
    assert small.vocabulary.host is not None
    [forward] = small.vocabulary.host.forwards
    assert (forward.arm, forward.reads) == ("state", ("new",))


def test_place_of_a_fact_in_a_base_class_is_in_its_module() -> None:
    source = PYTHON_SDK[HOST].replace(HANDLER, "")
    source = source.replace("class SessionHost:", "class SessionHost(Events):")
    source = source.replace(SESSION_IMPORT, SESSION_IMPORT + "from .mixins import Events\n")
    mixins = f"{IMPORT}from .events import StateChangedEvent\nclass Events:\n{HANDLER}"
    small = python_sdk({HOST: source, "voice/mixins.py": mixins})
    assert small.vocabulary.host is not None
    [forward] = small.vocabulary.host.forwards
    assert forward.place == Place("livekit/agents/voice/mixins.py", 5)


def test_base_class_of_the_session() -> None:
    source = PYTHON_SDK[SESSION].replace("class AgentSession(", "class Base(")
    assert_same_facts(
        python_sdk({SESSION: source + "class AgentSession(Base):\n    pass\n"}), python_sdk()
    )


def test_base_class_of_the_driver() -> None:
    source = PYTHON_SDK[HOST].replace("class RemoteSession(", "class Base(")
    assert_same_facts(
        python_sdk({HOST: source + "class RemoteSession(Base):\n    pass\n"}), python_sdk()
    )


CONSTANTS = {
    "of the module": (
        {
            HOST: PYTHON_SDK[HOST].replace(
                SESSION_IMPORT, SESSION_IMPORT + "STATE = 'state_changed'\n"
            )
        },
        "STATE",
    ),
    "of another module": (
        {
            HOST: PYTHON_SDK[HOST].replace(
                SESSION_IMPORT, SESSION_IMPORT + "from .names import STATE\n"
            ),
            "voice/names.py": "STATE = 'state_changed'\n",
        },
        "STATE",
    ),
    "of the class": (
        host("class SessionHost:\n", "class SessionHost:\n    STATE = 'state_changed'\n"),
        "self.STATE",
    ),
    "of an enum": (
        {
            HOST: PYTHON_SDK[HOST].replace(
                SESSION_IMPORT, SESSION_IMPORT + "from .names import Names\n"
            ),
            "voice/names.py": "from enum import Enum\nclass Names(str, Enum):\n    STATE = 'state_changed'\n",
        },
        "Names.STATE",
    ),
}


@pytest.mark.parametrize(("changes", "name"), CONSTANTS.values(), ids=CONSTANTS)
def test_event_name_that_is_a_constant(changes: dict[str, str], name: str) -> None:
    changed = {
        **changes,
        HOST: changes[HOST].replace('session.on("state_changed"', f"session.on({name}"),
    }
    small = python_sdk(changed)
    assert small.reading.diagnostics == []
    assert small.vocabulary.host == python_sdk(changes).vocabulary.host


def test_event_that_is_emitted_by_a_constant() -> None:
    source = PYTHON_SDK[SESSION].replace('"state_changed", None', "NAME, None")
    small = python_sdk({SESSION: source + "NAME = 'state_changed'\n"})
    assert_same_facts(small, python_sdk())


def test_arm_that_is_a_constant() -> None:
    source = PYTHON_SDK[HOST].replace('HasField("ping")', "HasField(PING)")
    assert_same_facts(python_sdk({HOST: source + "PING = 'ping'\n"}), python_sdk())


UNKNOWN = {
    "else": "        else:\n            self._send(pb.SessionResponse(error='unknown'))\n",
    "method": "        else:\n            self._refuse(req)\n"
    "    def _refuse(self, req):\n        self._send(pb.SessionResponse(error='unknown'))\n",
    "method of a method": "        else:\n            self._no(req)\n"
    "    def _no(self, req):\n        self._refuse(req)\n"
    "    def _refuse(self, req):\n        self._send(pb.SessionResponse(error='unknown'))\n",
    "function": "        else:\n            self._send(refusal(req))\n",
}


@pytest.mark.parametrize("lines", UNKNOWN.values(), ids=UNKNOWN)
def test_default_branch_that_answers(lines: str) -> None:
    source = PYTHON_SDK[HOST].replace(ANSWER, ANSWER.rstrip("\n") + "\n" + lines + "\n")
    source += "def refusal(req):\n    return pb.SessionResponse(error='unknown')\n"
    small = python_sdk({HOST: source})
    assert small.reading.diagnostics == []
    assert small.vocabulary.host is not None
    assert small.vocabulary.host.unknown_request is not None


def test_import_that_is_not_followed_is_reported() -> None:
    source = PYTHON_SDK[HOST].replace(
        "    async def ping(self) -> None:\n",
        "    async def ping(self) -> None:\n"
        "        wire = ¶importlib.import_module('livekit.protocol.agent_pb')\n",
    )
    fault = python_sdk({HOST: source}).fault(Rule.SDK_SOURCE)
    assert fault.message == "messages that are imported by a call cannot be followed"
