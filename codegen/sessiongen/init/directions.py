"""Names of two messages that opposite sides send, such as ClientMessage and ServerMessage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from sessiongen.ir.name_case import words
from sessiongen.ir.schema import Message

M = TypeVar("M", bound=Message)
# Pairs of words; the first one is in the name of the message with requests.
_PAIRS = frozenset(
    tuple(pair.split("/"))
    for pair in (
        "to/from client/server worker/server agent/server app/server browser/server node/server "
        "user/server c/s user/agent user/assistant user/bot client/agent client/host "
        "client/service client/worker client/device client/backend client/robot frontend/backend "
        "host/device host/target host/plugin host/agent app/device phone/device "
        "controller/device controller/node controller/agent controller/robot controller/worker "
        "master/slave master/worker primary/replica manager/worker "
        "manager/agent scheduler/worker orchestrator/worker coordinator/worker "
        "server/device parent/child leader/follower hub/node driver/agent driver/host "
        "initiator/responder caller/callee consumer/provider requester/responder "
        "upstream/downstream uplink/downlink up/down in/out inbound/outbound input/output "
        "incoming/outgoing ingress/egress"
    ).split()
)


def opposite(message: M, others: Iterable[M]) -> M | None:
    """Returns the message that goes in the opposite direction of requests, or None."""
    for other in others:
        if other is not message and _goes_first(_parties(message), _parties(other)):
            return other
    return None


def _parties(message: Message) -> tuple[str, ...]:
    """Returns the words of a name; `C2S` is read as `CToS`."""
    result: list[str] = []
    for word in words(message.path[-1]):
        before, two, after = word.partition("2")
        # `snake` splits C2S into `c2` and `s`.
        result += [before, "to", *([after] if after else [])] if before and two else [word]
    return tuple(result)


def _goes_first(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether two names differ only in their direction, and the first is that of requests."""
    if len(first) != len(second):
        return False
    different = [index for index, pair in enumerate(zip(first, second)) if pair[0] != pair[1]]
    ahead = [(first[index], second[index]) for index in different]
    if len(ahead) == 2 and ahead[0] == ahead[1][::-1] and first[different[0] + 1] == "to":
        # ClientToServer and ServerToClient
        return ahead[0] in _PAIRS
    if len(ahead) != 1:
        return False
    [pair], [index] = ahead, different
    after = first[index + 1 : index + 2]
    if pair in (("to", "from"), ("from", "to")):
        # ToClient is what a server sends.
        is_requester = after and any(after[0] == one and two == "server" for one, two in _PAIRS)
        return pair == (("from", "to") if is_requester else ("to", "from"))
    if index and first[index - 1] == "to":
        # ToServer and ToClient
        pair = pair[::-1]
    return pair in _PAIRS
