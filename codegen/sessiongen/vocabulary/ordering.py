"""Sorts the facts of a vocabulary and removes duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from sessiongen.vocabulary.model import (
    Driver,
    EnumFact,
    Host,
    Session,
    ValueMap,
    Vocabulary,
    LiteralValue,
)

_T = TypeVar("_T")


def normalized(vocabulary: Vocabulary) -> Vocabulary:
    """Returns a vocabulary with sorted facts and without duplicates."""
    records = [item._replace(fields=_sorted(item.fields, _name)) for item in vocabulary.records]
    constructions = [
        item._replace(fields=_unique_strings(item.fields)) for item in vocabulary.constructions
    ]
    map_keys = [
        item._replace(keys=_unique_strings(item.keys), forms=_sorted(item.forms))
        for item in vocabulary.map_keys
    ]
    return vocabulary._replace(
        enums=_sorted(map(_enum, vocabulary.enums), lambda item: (item.name, item.place)),
        records=_sorted(records, lambda item: (item.name, item.place)),
        unions=_sorted(vocabulary.unions, lambda item: (item.name, item.place)),
        ignored_variants=_sorted(vocabulary.ignored_variants),
        maps=_sorted(map(_map, vocabulary.maps), lambda item: (item.name, item.place)),
        conversions=_sorted(
            item._replace(pairs=_sorted(item.pairs)) for item in vocabulary.conversions
        ),
        constructions=_sorted(
            constructions,
            lambda item: (item.message, item.place, item.within, item.fields, item.open),
        ),
        map_keys=_sorted(map_keys),
        unused_values=_sorted(vocabulary.unused_values),
        sources=_sorted(vocabulary.sources),
        constants=_sorted(vocabulary.constants, lambda item: (item.name, item.definition)),
        behaviours=_sorted(vocabulary.behaviours, lambda item: (item[:4], item.place or ("", 0))),
        definitions=_sorted(vocabulary.definitions),
        envelope_uses=_first_of_each(
            vocabulary.envelope_uses, lambda item: (item.arm, item.direction, item.within)
        ),
        session=vocabulary.session and _session(vocabulary.session),
        host=vocabulary.host and _host(vocabulary.host),
        driver=vocabulary.driver and _driver(vocabulary.driver),
    )


def _sorted(items: Iterable[_T], key: Callable[[_T], Any] = lambda item: item) -> tuple[_T, ...]:
    return tuple(sorted(dict.fromkeys(items), key=key))


def _first_of_each(items: Iterable[_T], key: Callable[[_T], Any]) -> tuple[_T, ...]:
    """Returns the first item of each key."""
    first: dict[Any, _T] = {}
    for item in _sorted(items):
        first.setdefault(key(item), item)
    return tuple(first.values())


def _unique_strings(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(items)))


def _name(item: Any) -> Any:
    return item.name


def _enum(item: EnumFact) -> EnumFact:
    first: dict[str, LiteralValue] = {}
    for literal in item.literals:
        first.setdefault(literal.value, literal)
    return item._replace(literals=tuple(first[value] for value in sorted(first)))


def _map(item: ValueMap) -> ValueMap:
    defaults = _first_of_each(item.defaults, lambda default: (default.value, default.within))
    return item._replace(pairs=_sorted(item.pairs), defaults=defaults)


def _session(item: Session) -> Session:
    return item._replace(events=_sorted(item.events, _name), emits=_sorted(item.emits, _name))


def _host(item: Host) -> Host:
    return item._replace(
        forwards=_sorted(item.forwards, lambda it: (it.arm, it.handler, it.event or "")),
        answers=_sorted(item.answers, lambda it: (it.arm, it.place)),
    )


def _driver(item: Driver) -> Driver:
    return item._replace(
        events=_sorted(item.events, _name),
        receives=_sorted(item.receives, lambda it: (it.arm, it.event)),
        sends=_sorted(item.sends, lambda it: (it.arm, it.method)),
    )


def longest(paths: Iterable[str]) -> set[str]:
    """Returns the dotted paths that are not a prefix of another path."""
    known = set(paths)
    return {path for path in known if not any(other.startswith(f"{path}.") for other in known)}
