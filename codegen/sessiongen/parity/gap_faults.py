"""Reports declared gaps that do not cover what is there now.

A gap is only said to be gone if its difference was looked for and does not exist. If the SDK's
code cannot be read there any more, the difference may still exist.
"""

from __future__ import annotations

from collections.abc import Sequence

from sessiongen.diagnostics import Diagnostic, Rule
from sessiongen.parity.gaps import Gap
from sessiongen.parity.matrix import Compared, Key, Section, kind_of

_SDK_ONLY = "remove it: the SDK no longer has this, or the protocol carries it now"
_SDK_HAS_IT = "remove it: the SDK has this now, or the protocol no longer does"
_CONVERSION = "remove it: the SDK converts this value as the protocol does now"
_EQUAL = "remove it: the SDK and the protocol agree here now"
# How to end a gap that is gone, by the kind of its difference.
_GONE_HELP = {
    "sdk event": _SDK_ONLY,
    "sdk field": _SDK_ONLY,
    "sdk type": _SDK_ONLY,
    "literal": _SDK_ONLY,
    "enum": _SDK_HAS_IT,
    "event": _SDK_HAS_IT,
    "field": _SDK_HAS_IT,
    "key": _SDK_HAS_IT,
    "message": _SDK_HAS_IT,
    "request": _SDK_HAS_IT,
    "value": _SDK_HAS_IT,
    "default": _CONVERSION,
    "map": _CONVERSION,
    "unverified": "remove it: the code is read now, and its result is in the matrix",
}
_UNVERIFIED = "this gap is not found, and nothing that was read shows that it is gone"
_UNVERIFIED_HELP = (
    "look for it in the SDK's code, which may have become unreadable here: remove the gap if the "
    "difference is gone, else keep it and write the code in a form that is read"
)


def gap_faults(gaps: Sequence[Gap], sections: Sequence[Section]) -> list[Diagnostic]:
    """Returns a fault for each gap that covers nothing, is repeated or has no reason."""
    findings, states, compared = _results(sections)
    seen: set[Key] = set()
    faults = []
    for gap in gaps:
        if gap.key in seen:
            fault: tuple[str, str] | None = "this gap is declared twice", "remove one of the two"
        elif gap.key in findings:
            fault = _no_reason(gap)
        else:
            fault = _outdated(gap, states.get((gap.sdk, gap.id)), compared)
        seen.add(gap.key)
        if fault is not None:
            message = f"{gap.sdk}: {gap.id}: {fault[0]}"
            faults.append(Diagnostic(gap.span, Rule.PARITY_GAP, message, fault[1]))
    return faults


def gone_gaps(gaps: Sequence[Gap], sections: Sequence[Section]) -> list[Gap]:
    """Returns the gaps whose differences were looked for and do not exist in any state."""
    _, states, compared = _results(sections)
    return [gap for gap in gaps if (gap.sdk, gap.id) not in states and _is_equal(gap, compared)]


def _results(
    sections: Sequence[Section],
) -> tuple[set[Key], dict[tuple[str, str], str], list[Compared]]:
    """Returns the keys of all differences, their states, and what was compared and is equal."""
    findings = [item for section in sections for item in section.findings()]
    states = {(item.sdk, item.id): item.state for item in findings}
    compared = [item for section in sections for item in section.compared()]
    return {item.key for item in findings}, states, compared


def _is_equal(gap: Gap, compared: Sequence[Compared]) -> bool:
    return any(item.covers(gap.sdk, gap.id) for item in compared)


def _no_reason(gap: Gap) -> tuple[str, str] | None:
    if gap.reason.strip():
        return None
    return "this gap has no reason", "give the reason why it is accepted"


def _outdated(gap: Gap, state: str | None, compared: Sequence[Compared]) -> tuple[str, str]:
    if state is not None:
        help_ = "remove it, and declare the difference as it is now if it is accepted"
        return f"this gap covers {gap.state!r}, and now it is {state!r}", help_
    if _is_equal(gap, compared):
        return "this gap no longer exists", _GONE_HELP.get(kind_of(gap.id), _EQUAL)
    return _UNVERIFIED, _UNVERIFIED_HELP
