"""The contract before its arm 24, for which the code in end_to_end/project/ was written.

Arms that were added after that are left out, so that the code remains complete for it.
"""

from __future__ import annotations

import re

# The message and the arm of `session_closed`, with the comments above them.
_CLOSED = (
    re.compile(r"\n(?:  //[^\n]*\n)+  message SessionClosed \{.*?\n  \}\n", re.S),
    re.compile(r"\n(?:    //[^\n]*\n)+    SessionClosed session_closed = 24[^;]*;", re.S),
)
_ONEOF = re.compile(r"  oneof (event|request|response) \{\n.*?\n  \}\n", re.S)
_ARM = re.compile(r"\n?(?:    //[^\n]*\n)*    \w+ \w+ = (\d+)[^;\n]*;\n")
# The last arm of each oneof.
_LAST = {"event": 24, "request": 12, "response": 13}


def with_session_closed(contract: str) -> str:
    """Returns the contract without the arms that were added after `session_closed`."""
    return _ONEOF.sub(_without_later_arms, contract)


def without_session_closed(contract: str) -> str:
    """Returns the contract before `session_closed` was added."""
    text = with_session_closed(contract)
    for pattern in _CLOSED:
        text, count = pattern.subn("", text)
        assert count == 1, pattern.pattern
    return text


def _without_later_arms(oneof: re.Match[str]) -> str:
    last = _LAST[oneof[1]]
    return _ARM.sub(lambda arm: arm[0] if int(arm[1]) <= last else "", oneof[0])
