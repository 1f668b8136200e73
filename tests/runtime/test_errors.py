"""The errors of the runtime package."""

from __future__ import annotations

import agent_session
import pytest

ERRORS = [
    error
    for name in agent_session.__all__
    if isinstance(error := getattr(agent_session, name), type) and issubclass(error, BaseException)
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_every_public_error_derives_from_the_root(error: type[BaseException]) -> None:
    assert issubclass(error, agent_session.AgentSessionError)


def test_transports_and_sessions_have_separate_roots() -> None:
    assert len(ERRORS) == 24
    assert not issubclass(agent_session.TransportError, agent_session.SessionError)
    assert not issubclass(agent_session.SessionError, agent_session.TransportError)
    assert issubclass(agent_session.TopicInUse, agent_session.TransportError)
    assert issubclass(agent_session.NotReady, agent_session.SessionError)
