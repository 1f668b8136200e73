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


def normalized(found: Vocabulary) -> Vocabulary:
    """Return a vocabulary with its facts in order."""
    records = [item._replace(fields=_sorted(item.fields, _name)) for item in found.records]
    builds = [item._replace(fields=_plain(item.fields)) for item in found.constructions]
    keys = [item._replace(keys=_plain(item.keys)) for item in found.map_keys]
    return found._replace(
        enums=_sorted(map(_enum, found.enums), lambda item: (item.name, item.place)),
        records=_sorted(records, lambda item: (item.name, item.place)),
        unions=_sorted(found.unions, lambda item: (item.name, item.place)),
        ignored_variants=_sorted(found.ignored_variants),
        maps=_sorted(map(_map, found.maps), lambda item: (item.name, item.place)),
        constructions=_sorted(
            builds, lambda item: (item.message, item.place, item.within, item.fields, item.open)
        ),
        map_keys=_sorted(keys),
        envelope_uses=_first(
            found.envelope_uses, lambda item: (item.arm, item.direction, item.within)
        ),
        session=found.session and _session(found.session),
        host=found.host and _host(found.host),
        driver=found.driver and _driver(found.driver),
    )


def _sorted(items: Iterable[_T], key: Callable[[_T], Any] = lambda item: item) -> tuple[_T, ...]:
    return tuple(sorted(dict.fromkeys(items), key=key))


def _first(items: Iterable[_T], key: Callable[[_T], Any]) -> tuple[_T, ...]:
    """Return the first item of each key."""
    once: dict[Any, _T] = {}
    for item in _sorted(items):
        once.setdefault(key(item), item)
    return tuple(once.values())


def _plain(items: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(items)))


def _name(item: Any) -> Any:
    return item.name


def _enum(item: EnumFact) -> EnumFact:
    once: dict[str, LiteralValue] = {}
    for literal in item.literals:
        once.setdefault(literal.value, literal)
    return item._replace(literals=tuple(once[value] for value in sorted(once)))


def _map(item: ValueMap) -> ValueMap:
    defaults = _first(item.defaults, lambda default: (default.value, default.within))
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
    """Return the dotted paths that are no prefix of another one."""
    known = set(paths)
    return {path for path in known if not any(other.startswith(f"{path}.") for other in known)}
