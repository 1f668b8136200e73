"""Reports code that changed between two readings of an SDK.

The readers do not understand all code. A change of a definition that changes no fact may be a
refactoring, or a change that no fact shows; a person has to look at it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator
from typing import Any

from sessiongen.diagnostics import Diagnostic, Rule, Severity, Span
from sessiongen.vocabulary.model import DefinitionFact, Place, Vocabulary

_HELP = "compare what the code sends and reads with the contract: parity compares facts alone"
# The facts inside of each definition, without positions.
_Facts = dict[str, Counter[str]]
# The digests of the definitions of each name, such as the overloads of a function.
_Digests = dict[str, set[str]]


def changed_code(
    before: Vocabulary, after: Vocabulary, span: Callable[[Place], Span]
) -> list[Diagnostic]:
    """Returns a diagnostic for each definition whose code changed or that does not exist any more.

    It is a warning if no fact that is read from the definition changed, else a note. A definition
    that only has another name has not changed.
    span: returns the position of a place in the SDK.
    """
    known, now = _digests(before), _digests(after)
    changed = [item for item in after.definitions if _is_changed(item, known, now)]
    kept = {item.digest for item in after.definitions}
    gone = [
        item
        for item in before.definitions
        if item.name not in now and item.digest not in kept and _owner_exists(item, now)
    ]
    # Code that the generator took over is compared nowhere.
    is_adopted = (before.generated is None) != (after.generated is None)
    if not before.definitions or is_adopted or not (changed or gone):
        return []
    facts_before, facts_after = _facts(before), _facts(after)
    return [
        *(
            _changed(item, facts_before[item.name] != facts_after[item.name], span(item.place))
            for item in changed
        ),
        *(_gone(item, span(item.place)) for item in gone),
    ]


def _digests(vocabulary: Vocabulary) -> _Digests:
    digests: _Digests = defaultdict(set)
    for item in vocabulary.definitions:
        digests[item.name].add(item.digest)
    return digests


def _is_changed(item: DefinitionFact, known: _Digests, now: _Digests) -> bool:
    """Whether a definition is new under a name, or the first of those that are left under it."""
    before, after = known.get(item.name, set()), now[item.name]
    is_fewer = after < before and item.digest == min(after)
    return bool(before) and (item.digest not in before or is_fewer)


def _owner_exists(item: DefinitionFact, now: Container[str]) -> bool:
    """Whether the class of a method exists; a class that is gone is reported without them."""
    owner = item.name.rpartition(".")[0]
    return not owner or owner in now


def _changed(item: DefinitionFact, facts_changed: bool, span: Span) -> Diagnostic:
    facts = "and facts read from it" if facts_changed else "but no fact read from it"
    severity = Severity.NOTE if facts_changed else Severity.WARNING
    message = f"the code of {item.name} changed, {facts}"
    return Diagnostic(span, Rule.SDK_CODE, message, _HELP, severity)


def _gone(item: DefinitionFact, span: Span) -> Diagnostic:
    message = f"the code of {item.name} does not exist any more, under this name or another one"
    return Diagnostic(span, Rule.SDK_CODE, message, _HELP, Severity.WARNING)


def _facts(vocabulary: Vocabulary) -> _Facts:
    """Returns the facts by the definition in whose lines they are."""
    starts: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for item in vocabulary.definitions:
        starts[item.place.file].append((item.place.line, item.name))
    for lines in starts.values():
        lines.sort()
    facts: _Facts = defaultdict(Counter)
    for place, text in _statements(vocabulary._replace(definitions=())):
        lines = starts[place.file]
        index = bisect_right(lines, (place.line, "\uffff"))
        if index:
            facts[lines[index - 1][1]][text] += 1
    return facts


def _statements(value: Any) -> Iterator[tuple[Place, str]]:
    """Yields each fact inside a value: its place, and what it says beside places and inner facts."""
    place = getattr(value, "place", None)
    if isinstance(place, Place):
        own = (item for item in value if not isinstance(item, Place) and not _has_facts(item))
        yield place, f"{type(value).__name__}{tuple(own)}"
    for item in value:
        if isinstance(item, tuple) and not isinstance(item, Place):
            yield from _statements(item)


def _has_facts(value: Any) -> bool:
    return isinstance(value, tuple) and any(hasattr(item, "_fields") for item in value)
