"""Names of the kinds of behaviour, and of their values, for the readers of all languages."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from sessiongen.vocabulary.model import Behaviour, Construction, Place, Sending

# The kinds of behaviour: the fields of a message, if they cannot be read; order and omission of a
# list that fills a field; what an item of an unknown kind becomes, by the message of the known ones;
# parts of a text that are left out of a field; the timeout of a request; what a document has under a
# name. The kind of an item is its class, or its `type`. A condition is that under which a message is
# passed on, by the message or its arm.
FIELDS, ORDER, OMISSION, UNKNOWN_KIND = "fields", "order", "omission", "unknown"
PARTS, TIMEOUT, TEXT, CONDITION = "parts", "timeout", "text", "condition"
# The class or the `type` of the values for which code fills an arm of a oneof, or several of them.
VARIANT = "variant"
# What a function changes or leaves out that copies fields by name, by the function; the arm of the
# response that a driver's method returns, by the arm of its request.
COPY, RETURNED = "copy", "returned"
# The default of a time that is not the time of day, by the field of the SDK's class.
DEFAULT_TIME, TIME_OF_DAY = "default time", "time.time()"
BEHAVIOURS = (
    *(FIELDS, ORDER, OMISSION, UNKNOWN_KIND, PARTS, TIMEOUT, TEXT, CONDITION),
    *(VARIANT, COPY, RETURNED, DEFAULT_TIME),
)
# The values for lists that are sent as they are, and for items of an unknown kind.
SOURCE_ORDER, NOTHING = "order of the source", "nothing"
# The value for a message that is passed on under no condition.
ALWAYS = "always"
EMPTY_MESSAGE, NOTHING_SENT = "an empty message", "left out"
# The values for a text in a document; the name of the enum follows NAMES_OF.
NAMES_OF = "names of "
OWN_VALUE, NOT_WRITTEN = "the SDK's own value", "not written"


@dataclass
class ListTrace:
    """What code does to a list on its way into a field.

    orders: `sorted`, `reversed` or `unordered`; none for the order of the source.
    kinds: those that are left out. kept: those that are not, where only some are. conditions: those under which an item is kept, beside tests
        of its kind.
    is_list: whether anything shows that the value is a list.
    readable: whether every step could be followed.
    """

    orders: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)
    kept: set[str] = field(default_factory=set)
    conditions: set[str] = field(default_factory=set)
    is_list: bool = False
    readable: bool = True


def unread_fields(item: Construction) -> Behaviour:
    """Returns the fact that a place fills fields of a message which cannot be read."""
    return Behaviour(FIELDS, item.message, item.within, "", item.place)


def list_facts(trace: ListTrace, subject: str, within: str, place: Place) -> Iterator[Behaviour]:
    """Yields the order of a list and what is left out of it; "" for what cannot be read."""
    order = ", ".join(sorted(trace.orders)) or (SOURCE_ORDER if trace.readable else "")
    omissions = [f"of kind {kind}" for kind in sorted(trace.kinds)]
    omissions += [f"of other kinds than {', '.join(sorted(trace.kept))}"] if trace.kept else []
    omissions += [f"where not ({condition})" for condition in sorted(trace.conditions)]
    omitted = ", ".join(omissions) or (NOTHING if trace.readable else "")
    yield Behaviour(ORDER, subject, within, order, place)
    yield Behaviour(OMISSION, subject, within, omitted, place)


def part_fact(
    names: Iterable[str], sent: Collection[str] | None, subject: str, within: str, place: Place
) -> Behaviour:
    """Returns the parts of a text that a field leaves out; sent: None if they cannot be read."""
    left_out = [name for name in names if name not in sent] if sent is not None else []
    value = "" if sent is None else ", ".join(left_out) or NOTHING
    return Behaviour(PARTS, subject, within, value, place)


def timeout_fact(driver: str, sending: Sending, seconds: float | None, place: Place) -> Behaviour:
    """Returns the timeout of a request; seconds: None if it cannot be read."""
    value = f"{seconds:g} s" if seconds is not None else ""
    return Behaviour(TIMEOUT, sending.arm, f"{driver}.{sending.method}", value, place)


def condition_fact(subject: str, within: str, conditions: Iterable[str], place: Place) -> Behaviour:
    """Returns the conditions under which a function passes a message on."""
    return Behaviour(CONDITION, subject, within, " and ".join(conditions) or ALWAYS, place)
