"""Proposes the field that correlates requests and responses, by its name."""

from __future__ import annotations

from sessiongen.ir.name_case import words
from sessiongen.ir.role_fields import shared_scalars
from sessiongen.ir.schema import Message

# Words of names such as request_id and call_ref.
_CALLS = frozenset(
    "request req correlation corr call command cmd query rpc invocation transaction txn tx".split()
)
# Words that do not describe a correlation alone.
_MESSAGES = frozenset("message msg packet frame".split())
# Words of names such as id, seq, and msg_id.
_NUMBERS = _MESSAGES | frozenset(
    "id uid uuid guid seq sequence seqno seqnum serial nonce tag token cookie ref tid xid mid rid "
    "cid msgid reqid requestid callid corrid txid number num no".split()
)
# Words of names that describe something else, such as session_id and version.
_OTHERS = frozenset(
    "version timestamp time ts at date session user client server device node event trace span "
    "tenant room channel topic account namespace cluster type kind flags status code source sender "
    "from to target destination name priority ttl language checksum crc magic jsonrpc protocol api "
    "auth access password text data payload body comment description size length count agent worker "
    "player peer connection group region".split()
)


def rank(name: str) -> int:
    """Returns how well a name describes a correlation: 2 for request_id, 1 for id, -1 for version."""
    parts = set(words(name))
    if parts & _CALLS:
        return 2
    if parts & _OTHERS or parts <= _MESSAGES:
        return -1
    return 1 if parts <= _NUMBERS else 0


def propose_correlation(request: Message, response: Message) -> tuple[str, ...] | None:
    """Returns the value of `correlation` in [roles]; None if names do not decide it."""
    shared = shared_scalars(request, response)
    unequal = unequal_types(request, response)
    ranks = {
        item.name: rank(item.name)
        for item in shared
        if item.name not in unequal and not _echoed(item.name, response)
    }
    if not ranks:
        return () if shared and not unequal else None
    best = max(ranks.values())
    # All fields of one message are shared, so that only a name can tell which of them correlates.
    if best < (1 if request.full_name == response.full_name else 0):
        return ()
    names = tuple(name for name, value in ranks.items() if value == best)
    return names if len(names) == 1 else None


def _echoed(name: str, response: Message) -> bool:
    """Whether a response has the request's field under another name, such as `request_seq`."""
    names = {item.name for item in response.outside()}
    return any(f"{prefix}{name}" in names for prefix in ("request_", "req_", "reply_to_", "ack_"))


def unequal_types(request: Message, response: Message) -> dict[str, tuple[str, str]]:
    """Returns the types of integers that could correlate, but differ in request and response."""
    types = {item.name: item.value.range for item in response.outside()}
    return {
        item.name: (item.value.range, types[item.name])
        for item in shared_scalars(request, response)
        if types[item.name] != item.value.range
    }


def correlated(request: Message, response: Message) -> bool:
    """Whether two messages have a field whose name says that it correlates them."""
    return any(rank(item.name) > 0 for item in shared_scalars(request, response))
