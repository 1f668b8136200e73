"""The interop matrix, from a real run: `python tests/interop/matrix.py` prints it as Markdown.

Comes in: a visit of each driver with each host. Goes out: a table of how many of the protocol's
requests were answered and how many of its events were received, and what is missing on which side;
to stderr, what it is doing.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass

from agent_session_protocol.dispatch import AGENT_SESSION_EVENT_ARMS, SESSION_REQUEST_ARMS
from interop_peers import KINDS, TITLES, missing
from interop_visit import visiting

REQUESTS = tuple(SESSION_REQUEST_ARMS)
EVENTS = tuple(AGENT_SESSION_EVENT_ARMS)


@dataclass(frozen=True)
class Cell:
    """What a host and a driver did with each other.

    Attributes:
        answered: the requests that the driver has a method for and the host answered.
        received: the events that arrived.
        listens: the events that the driver has a listener for.
    """

    answered: Collection[str]
    received: Collection[str]
    listens: Collection[str]

    def __str__(self) -> str:
        requests = f"{len(self.answered)}/{len(REQUESTS)} requests"
        return f"{requests}, {len(self.received)}/{len(EVENTS)} events"


def held(host: str, driver: str) -> Cell:
    """Hold the conversation, to its very end."""
    with visiting(host, driver) as visit:
        visit.pair.host.begin("close", how="agent")
        visit.pair.driver.note("over")
        return Cell(visit.answered, visit.received, visit.pair.listens)


def table(cells: dict[tuple[str, str], Cell], kinds: Collection[str]) -> list[str]:
    """The lines of the matrix: a row for each host, a column for each driver."""
    titles = [f"driver of {TITLES[kind]}" for kind in kinds]
    lines = [f"| | {' | '.join(titles)} |", "|" + " --- |" * (len(titles) + 1)]
    for host in kinds:
        row = [str(cells[host, driver]) for driver in kinds]
        lines.append(f"| host of {TITLES[host]} | {' | '.join(row)} |")
    return lines


def gaps(cells: dict[tuple[str, str], Cell], kinds: Collection[str]) -> list[str]:
    """What each peer lacks, a line each."""
    lines = []
    for kind in kinds:
        asked = {name for host in kinds for name in cells[host, kind].answered}
        listens = {name for host in kinds for name in cells[host, kind].listens}
        raised = {name for driver in kinds for name in cells[kind, driver].received}
        for what, whole, there in (
            ("driver has no method for", REQUESTS, asked),
            ("driver has no listener for", EVENTS, listens),
            ("host does not raise", EVENTS, raised),
        ):
            lacking = [f"`{name}`" for name in whole if name not in there]
            if lacking:
                lines.append(f"- {TITLES[kind]}: the {what} {', '.join(lacking)}.")
    return lines


def meet(kinds: Collection[str]) -> dict[tuple[str, str], Cell]:
    """Let each host meet each driver."""
    pairs = [(host, driver) for host in kinds for driver in kinds]
    cells = {}
    for number, (host, driver) in enumerate(pairs, 1):
        _say(f"{number}/{len(pairs)} host of {TITLES[host]}, driver of {TITLES[driver]}")
        cells[host, driver] = held(host, driver)
    return cells


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def main() -> None:
    kinds = []
    for kind in KINDS:
        if reason := missing(kind):
            _say(f"left out {TITLES[kind]}: {reason}")
        else:
            kinds.append(kind)
    cells = meet(kinds)
    print("\n".join([*table(cells, kinds), "", *gaps(cells, kinds)]))


if __name__ == "__main__":
    main()
