"""Prints the interop matrix as Markdown: `python tests/interop/matrix.py`.

Runs the conversation between each host and each driver. The table has the number of requests that
were answered and of events that were received; the list below it, what each peer lacks. Progress is
printed to standard error.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from dataclasses import dataclass

from agent_session_protocol.dispatch import AGENT_SESSION_EVENT_ARMS, SESSION_REQUEST_ARMS
from interop_peers import KINDS, TITLES, missing
from interop_conversation import run_conversation

REQUESTS = tuple(SESSION_REQUEST_ARMS)
EVENTS = tuple(AGENT_SESSION_EVENT_ARMS)


@dataclass(frozen=True)
class Cell:
    """The result of a conversation between a host and a driver.

    Attributes:
        answered: the requests that the driver can send and the host answered.
        received: the events that were received.
        listens: the events for which the driver has a listener.
    """

    answered: Collection[str]
    received: Collection[str]
    listens: Collection[str]

    def __str__(self) -> str:
        requests = f"{len(self.answered)}/{len(REQUESTS)} requests"
        return f"{requests}, {len(self.received)}/{len(EVENTS)} events"


def converse(host: str, driver: str) -> Cell:
    """Runs the conversation and closes the session, so that the close is part of the result."""
    with run_conversation(host, driver) as conversation:
        conversation.pair.host.begin("close", how="agent")
        conversation.pair.driver.note("ended")
        return Cell(conversation.answered, conversation.received, conversation.pair.listens)


def table(cells: dict[tuple[str, str], Cell], kinds: Collection[str]) -> list[str]:
    """Returns the lines of the table, with a row for each host and a column for each driver."""
    titles = [f"driver of {TITLES[kind]}" for kind in kinds]
    lines = [f"| | {' | '.join(titles)} |", "|" + " --- |" * (len(titles) + 1)]
    for host in kinds:
        row = [str(cells[host, driver]) for driver in kinds]
        lines.append(f"| host of {TITLES[host]} | {' | '.join(row)} |")
    return lines


def gaps(cells: dict[tuple[str, str], Cell], kinds: Collection[str]) -> list[str]:
    """Returns a line for each list of features that a peer lacks."""
    lines = []
    for kind in kinds:
        lines += driver_gaps(kind, [cells[host, kind] for host in kinds])
        lines += host_gaps(kind, [cells[kind, driver] for driver in kinds])
    return lines


def driver_gaps(kind: str, cells: Collection[Cell]) -> list[str]:
    """Returns the lines of a driver from its cells."""
    sent = {name for cell in cells for name in cell.answered}
    listens = {name for cell in cells for name in cell.listens}
    return [
        *_lacking(kind, "driver has no method for", REQUESTS, sent),
        *_lacking(kind, "driver has no listener for", EVENTS, listens),
    ]


def host_gaps(kind: str, cells: Collection[Cell]) -> list[str]:
    """Returns the line of a host from its cells."""
    raised = {name for cell in cells for name in cell.received}
    return _lacking(kind, "host does not raise", EVENTS, raised)


def _lacking(kind: str, what: str, names: Collection[str], present: set[str]) -> list[str]:
    lacking = [f"`{name}`" for name in names if name not in present]
    return [f"- {TITLES[kind]}: the {what} {', '.join(lacking)}."] if lacking else []


def run_all(kinds: Collection[str]) -> dict[tuple[str, str], Cell]:
    """Runs the conversation between each host and each driver."""
    pairs = [(host, driver) for host in kinds for driver in kinds]
    cells = {}
    for number, (host, driver) in enumerate(pairs, 1):
        _print_progress(f"{number}/{len(pairs)} host of {TITLES[host]}, driver of {TITLES[driver]}")
        cells[host, driver] = converse(host, driver)
    return cells


def _print_progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    kinds = []
    for kind in KINDS:
        if reason := missing(kind):
            _print_progress(f"left out {TITLES[kind]}: {reason}")
        else:
            kinds.append(kind)
    cells = run_all(kinds)
    print("\n".join([*table(cells, kinds), "", *gaps(cells, kinds)]))


if __name__ == "__main__":
    main()
