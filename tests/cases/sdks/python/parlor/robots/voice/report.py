from __future__ import annotations

from parlor.protocol.robot_pb import robot_dialog as wire

from .events import CloseEvent, EndCause


def _cause_name(cause: EndCause) -> str:
    return wire.EndCause.Name(wire.EndCause.Value(f"CR_{cause.name}"))


class DialogReport:
    def __init__(self, closed: CloseEvent) -> None:
        self._closed = closed

    def as_dict(self) -> dict[str, object]:
        report: dict[str, object] = {"made_at": self._closed.made_at}
        report["end_cause"] = _cause_name(self._closed.reason)
        return report
